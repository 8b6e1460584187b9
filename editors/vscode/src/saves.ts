/** Saves that happen while the sidecar starts: kept for the moment it can hear of them. */

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
    if (this.sidecar.state.kind === "starting") this.missed.add(uri.toString());
  }

  private follow({ kind }: SidecarState): void {
    if (kind === "starting") return;
    if (kind === "running") for (const uri of this.missed) this.sidecar.tellSaved(uri);
    this.missed.clear();
  }
}
