/** The item in the status bar; a click on it opens the menu. */

import * as vscode from "vscode";
import { type Indicator, indicate } from "./indicating";
import type { Workshop } from "./memory/workshop";
import type { Overview } from "./overview";
import type { Sidecar } from "./sidecar";
import type { Inbox } from "./team/inbox";
import { unreadTotal } from "./team/messages";

const PRIORITY = 50;

export class StatusBar implements vscode.Disposable {
  readonly item = vscode.window.createStatusBarItem(
    "threadline.status",
    vscode.StatusBarAlignment.Left,
    PRIORITY,
  );

  constructor(
    private readonly sidecar: Sidecar,
    private readonly overview: Overview,
    private readonly inbox: Inbox,
    private readonly workshop: Workshop,
  ) {
    this.item.name = "Threadline";
    this.item.command = "threadline.showMenu";
  }

  update(): void {
    const unread = unreadTotal(this.inbox.all ?? []);
    const isMaking = this.workshop.running !== undefined;
    const projects = this.overview.projects ?? [];
    const indicator = indicate(this.sidecar.state, projects, { unread, isMaking });
    if (indicator) this.show(indicator);
    else this.item.hide();
  }

  dispose(): void {
    this.item.dispose();
  }

  private show({ text, tooltip, background }: Indicator): void {
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.backgroundColor =
      background && new vscode.ThemeColor(`statusBarItem.${background}Background`);
    this.item.show();
  }
}
