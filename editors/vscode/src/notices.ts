/** What went wrong, in one sentence and with a way out. */

import * as vscode from "vscode";
import type { SidecarState } from "./states";

const ACTIONS = {
  "Install Sidecar": "threadline.installSidecar",
  "Open Settings": "threadline.openSettings",
  "Show Log": "threadline.showLog",
  Restart: "threadline.restartServer",
} as const;

type Action = keyof typeof ACTIONS;

export async function tellState(state: SidecarState): Promise<void> {
  if (state.kind === "missing") {
    const sentence = `Threadline cannot find its sidecar “${state.program}”, so nothing is recorded.`;
    await offer(sentence, "Open Settings", "Show Log");
  }
  // Our own is renewed without a question.
  if (state.kind === "outdated" && !state.isOwn) {
    const sentence = `Threadline records nothing: ${state.reason}`;
    await offer(sentence, state.isChosen ? "Open Settings" : "Install Sidecar", "Show Log");
  }
  if (state.kind === "failed") {
    const sentence = `Threadline's sidecar does not run, so nothing is recorded: ${state.reason}`;
    await offer(
      sentence,
      state.isChosen ? "Open Settings" : "Install Sidecar",
      "Show Log",
      "Restart",
    );
  }
}

export async function tellError(wish: string, error: unknown): Promise<void> {
  const reason = error instanceof Error ? error.message : String(error);
  await offer(`Threadline could not ${wish}: ${reason}`, "Show Log");
}

async function offer(sentence: string, ...actions: Action[]): Promise<void> {
  const chosen = await vscode.window.showErrorMessage(sentence, ...actions);
  if (chosen) await vscode.commands.executeCommand(ACTIONS[chosen]);
}
