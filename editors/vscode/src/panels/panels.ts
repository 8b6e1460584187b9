/** Pages as editor tabs, which come back with the window. */

import * as vscode from "vscode";
import { type Place, read, write } from "../../shared/places";
import type { Target } from "../../shared/wire";
import type { Sidecar } from "../sidecar";
import { Bridge } from "./bridges";
import { isRenamed, ownTitle, pageTitle } from "./titles";
import { type Frame, html } from "./webviews";

export const PANEL = "threadline.page";

export class Panels implements vscode.Disposable, vscode.WebviewPanelSerializer {
  private readonly open = new Map<vscode.WebviewPanel, Place>();
  private readonly visits = new Map<vscode.WebviewPanel, (place: Place) => void>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly extension: vscode.Uri,
    private readonly sidecar: Sidecar,
    private readonly openTarget: (target: Target) => void,
  ) {
    this.subscriptions = [
      vscode.window.registerWebviewPanelSerializer(PANEL, this),
      sidecar.onDidChange((change) => this.rename((place) => isRenamed(place, change))),
      sidecar.onDidChangeState(({ kind }) => kind === "running" && this.rename(() => true)),
    ];
  }

  /** Show a place: in the tab that shows it already, else in one of its own; tasks and messages share a tab. */
  show(place: Place): void {
    const isShared = place.page === "tasks" || place.page === "inbox";
    const found = [...this.open].find(([, shown]) =>
      isShared ? shown.page === place.page : isSame(shown, place),
    );
    if (!found) {
      this.fill(createPanel(), place);
      return;
    }
    const [panel] = found;
    panel.reveal();
    if (isShared && place.id !== undefined) this.visits.get(panel)?.(place);
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    this.fill(panel, read(kept(state)), panel.title);
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
    for (const panel of [...this.open.keys()]) panel.dispose();
  }

  private fill(panel: vscode.WebviewPanel, place: Place, title?: string): void {
    const visit = (next: Place) => {
      this.settle(panel, next);
      bridge.show(next);
    };
    const bridge = new Bridge(panel.webview, this.sidecar, { visit, open: this.openTarget });
    this.visits.set(panel, visit);
    panel.onDidDispose(() => {
      this.open.delete(panel);
      this.visits.delete(panel);
      bridge.dispose();
    });
    panel.iconPath = this.icon();
    this.settle(panel, place, title);
    fillWebview(panel.webview, this.extension, place);
  }

  /** Each can be seen on its ground; high contrast takes that of its kind. */
  private icon() {
    const file = (name: string) => vscode.Uri.joinPath(this.extension, "media", name);
    return { light: file("threadline.svg"), dark: file("threadline-dark.svg") };
  }

  private settle(panel: vscode.WebviewPanel, place: Place, title = pageTitle(place)): void {
    this.open.set(panel, place);
    panel.title = title;
    void this.entitle(panel, place);
  }

  private rename(isMeant: (place: Place) => boolean): void {
    for (const [panel, place] of this.open) {
      if (isMeant(place)) void this.entitle(panel, place);
    }
  }

  /** Where one has gone elsewhere meanwhile, the name does not matter any more. */
  private async entitle(panel: vscode.WebviewPanel, place: Place): Promise<void> {
    const title = await ownTitle(this.sidecar, place);
    if (title !== undefined && this.open.get(panel) === place) panel.title = title;
  }
}

export function fillWebview(
  webview: vscode.Webview,
  extension: vscode.Uri,
  place: Place,
  frame: Frame = "full",
): void {
  const folder = vscode.Uri.joinPath(extension, "dist", "pages");
  const address = (name: string) =>
    webview.asWebviewUri(vscode.Uri.joinPath(folder, name)).toString();
  webview.options = { enableScripts: true, localResourceRoots: [folder] };
  webview.html = html(
    { script: address("page.js"), style: address("page.css"), origin: webview.cspSource },
    place,
    frame,
  );
}

function createPanel(): vscode.WebviewPanel {
  return vscode.window.createWebviewPanel(PANEL, "Threadline", vscode.ViewColumn.Active);
}

function isSame(one: Place, other: Place): boolean {
  return write(one) === write(other);
}

function kept(state: unknown): string {
  const place = state instanceof Object && "place" in state ? state.place : "";
  return typeof place === "string" ? place : "";
}
