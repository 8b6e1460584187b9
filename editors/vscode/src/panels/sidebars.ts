/** The memory page as a view in the side bar: narrow, without ways elsewhere. */

import * as vscode from "vscode";
import type { Place } from "../../shared/places";
import type { Sidecar } from "../sidecar";
import { Bridge, type Errands } from "./bridges";
import { fillWebview } from "./panels";

export const MEMORY = "threadline.memory";

export class MemoryView implements vscode.Disposable, vscode.WebviewViewProvider {
  private readonly registration: vscode.Disposable;
  private view: vscode.WebviewView | undefined;
  private bridge: Bridge | undefined;
  private isSearchWanted = false;

  constructor(
    private readonly extension: vscode.Uri,
    private readonly sidecar: Sidecar,
    private readonly errands: Errands,
  ) {
    this.registration = vscode.window.registerWebviewViewProvider(MEMORY, this);
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const bridge = new Bridge(view.webview, this.sidecar, {
      visit: (place) => this.visit(place),
      open: (target) => this.errands.open(target),
      ready: () => this.settle(),
    });
    view.onDidDispose(() => {
      bridge.dispose();
      if (this.view === view) this.view = undefined;
    });
    this.view = view;
    this.bridge = bridge;
    fillWebview(view.webview, this.extension, { page: "memory" }, "none");
  }

  /** Show the view with the cursor in its search field. */
  async search(): Promise<void> {
    const isThere = this.view?.visible ?? false;
    this.isSearchWanted = !isThere;
    await vscode.commands.executeCommand(`${MEMORY}.focus`);
    if (isThere) this.bridge?.search();
  }

  dispose(): void {
    this.registration.dispose();
    this.bridge?.dispose();
  }

  /** Another project's memories are shown here, everything else where there is room for it. */
  private visit(place: Place): void {
    if (place.page === "memory" && place.id === undefined) this.bridge?.show(place);
    else this.errands.visit(place);
  }

  private settle(): void {
    if (this.isSearchWanted) this.bridge?.search();
    this.isSearchWanted = false;
  }
}
