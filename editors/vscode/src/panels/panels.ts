/** Pages as editor tabs, which come back with the window. */

import * as vscode from "vscode";
import { type PageName, type Place, read, write } from "../../pages/places";
import type { Target } from "../../pages/wire";
import type { Sidecar } from "../sidecar";
import { Bridge } from "./bridges";
import { type Frame, html } from "./webviews";

export const PANEL = "threadline.page";

const TITLES: Readonly<Record<PageName, string>> = {
  timeline: "Timeline",
  sessions: "Sessions",
  session: "Session",
  memory: "Memory",
  injection: "Context",
  tasks: "Tasks",
  inbox: "Inbox",
};

export class Panels implements vscode.Disposable, vscode.WebviewPanelSerializer {
  private readonly open = new Map<vscode.WebviewPanel, Place>();
  private readonly serializer: vscode.Disposable;

  constructor(
    private readonly extension: vscode.Uri,
    private readonly sidecar: Sidecar,
    private readonly openTarget: (target: Target) => void,
  ) {
    this.serializer = vscode.window.registerWebviewPanelSerializer(PANEL, this);
  }

  /** Show a place: in the tab that shows it already, else in one of its own. */
  show(place: Place): void {
    const found = [...this.open].find(([, shown]) => isSame(shown, place));
    if (found) found[0].reveal();
    else this.fill(createPanel(), place);
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    this.fill(panel, read(kept(state)));
  }

  dispose(): void {
    this.serializer.dispose();
    for (const panel of [...this.open.keys()]) panel.dispose();
  }

  private fill(panel: vscode.WebviewPanel, place: Place): void {
    const bridge = new Bridge(panel.webview, this.sidecar, {
      visit: (next) => {
        this.settle(panel, next);
        bridge.show(next);
      },
      open: this.openTarget,
    });
    panel.onDidDispose(() => {
      this.open.delete(panel);
      bridge.dispose();
    });
    panel.iconPath = this.icon();
    this.settle(panel, place);
    fillWebview(panel.webview, this.extension, place);
  }

  /** Each can be seen on its ground; high contrast takes that of its kind. */
  private icon() {
    const file = (name: string) => vscode.Uri.joinPath(this.extension, "media", name);
    return { light: file("threadline.svg"), dark: file("threadline-dark.svg") };
  }

  private settle(panel: vscode.WebviewPanel, place: Place): void {
    this.open.set(panel, place);
    panel.title = `Threadline: ${TITLES[place.page]}`;
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
