/** “Connect Assistants…”: which are installed and connected; what ticking them changes is shown before it is done. */

import * as vscode from "vscode";
import { Registrations } from "../registrations";
import { runCommand } from "../running";
import type { Sidecar } from "../sidecar";
import { type Assistant, installed, names, type Wishes, wishes } from "./connections";
import { plannedChanges, planText } from "./servers";

const TITLE = "Connect Assistants";

export class ConnectCommands extends Registrations {
  constructor(private readonly sidecar: Sidecar) {
    super();
    this.register("threadline.connectAssistants", "connect assistants", () => this.choose());
  }

  private async choose(): Promise<void> {
    const assistants = installed(await this.run("connect", "--all", "--dry-run", "--json"));
    const items = assistants.map((one) => ({
      label: one.label,
      description: one.isConnected ? "connected" : "not connected",
      picked: one.isConnected,
      agent: one.agent,
    }));
    const placeHolder = "Ticked assistants use this memory, in all your repositories";
    const options = { title: TITLE, placeHolder, canPickMany: true as const };
    const ticked = await vscode.window.showQuickPick(items, options);
    if (!ticked) return;
    const wanted = wishes(
      assistants,
      ticked.map(({ agent }) => agent),
    );
    if (await this.isAgreed(wanted)) await this.change(wanted);
  }

  /** Show what would be written into which files, and ask. */
  private async isAgreed(wanted: Wishes): Promise<boolean> {
    const changes = [
      ...(await this.plan("connect", wanted.connect)),
      ...(await this.plan("disconnect", wanted.disconnect)),
    ];
    if (changes.length === 0) {
      void vscode.window.showInformationMessage("There is nothing to change.");
      return false;
    }
    const document = { language: "diff", content: planText(changes) };
    const shown = await vscode.workspace.openTextDocument(document);
    await vscode.window.showTextDocument(shown, { preview: true });
    const sentence = "This is what changes in your assistants' files.";
    return (await vscode.window.showInformationMessage(sentence, "Change Them")) !== undefined;
  }

  private async change(wanted: Wishes): Promise<void> {
    const done: string[] = [];
    for (const [verb, assistants] of Object.entries(wanted) as [string, Assistant[]][]) {
      if (assistants.length === 0) continue;
      await this.run(verb, ...assistants.map(({ agent }) => agent), "--json");
      done.push(`${verb}ed ${names(assistants)}`);
    }
    void vscode.window.showInformationMessage(`Threadline ${done.join(" and ")}.`);
  }

  private async plan(verb: string, assistants: readonly Assistant[]) {
    if (assistants.length === 0) return [];
    const agents = assistants.map(({ agent }) => agent);
    return plannedChanges(await this.run(verb, ...agents, "--dry-run", "--json"));
  }

  private run(...words: string[]): Promise<string> {
    return runCommand(this.sidecar.command, words);
  }
}
