/** Saves that happen while the sidecar is installed or starts: kept for the moment it can hear of them. */

import * as vscode from "vscode";
import type { Sidecar } from "./sidecar";
import type { SidecarState } from "./states";

export class MissedSaves implements vscode.Disposable {
  private readonly missed = new Set<string>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly sidecar: Sidecar) {
    this.subscriptions = [
      vscode.workspace.onDidSaveTextDocument(({ uri }) => this.note(uri)),
      sidecar.onDidChangeState((state) => this.follow(state)),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private note(uri: vscode.Uri): void {
    if (isComing(this.sidecar.state)) this.missed.add(uri.toString());
  }

  private follow(state: SidecarState): void {
    if (isComing(state)) return;
    if (state.kind === "running") for (const uri of this.missed) this.sidecar.tellSaved(uri);
    this.missed.clear();
  }
}

function isComing({ kind }: SidecarState): boolean {
  return kind === "starting" || kind === "installing";
}
