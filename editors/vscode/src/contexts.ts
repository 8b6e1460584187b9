/** The context keys that package.json's `when` clauses read. */

import * as vscode from "vscode";
import {
  activeSessions,
  hasSessions,
  isCapturing,
  isPaused,
  type ProjectState,
  type SidecarState,
} from "./states";

export function showContexts(
  state: SidecarState,
  projects: readonly ProjectState[] | undefined,
): void {
  const known = projects ?? [];
  set("threadline.state", state.kind);
  set("threadline.active", activeSessions(known).length > 0);
  set("threadline.capturing", isCapturing(known));
  set("threadline.paused", isPaused(known));
  set("threadline.empty", projects !== undefined && !hasSessions(known));
}

function set(key: string, value: unknown): void {
  void vscode.commands.executeCommand("setContext", key, value);
}
