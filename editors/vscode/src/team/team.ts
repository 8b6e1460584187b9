/** Working together, put together: messages and tasks with their views, pages and commands. */

import type * as vscode from "vscode";
import { showEmptiness } from "../contexts";
import type { Show } from "../panels/visiting";
import type { Sidecar } from "../sidecar";
import { InboxTree } from "../tree/inbox";
import { TasksTree } from "../tree/tasks";
import { Board } from "./board";
import { Inbox } from "./inbox";
import { MessageCommands } from "./messaging";
import { tellMessages } from "./notifying";
import { TaskCommands } from "./planning";

export class Team implements vscode.Disposable {
  readonly inbox: Inbox;
  readonly messages: InboxTree;
  readonly tasks: TasksTree;

  private readonly parts: vscode.Disposable[];

  constructor(sidecar: Sidecar, show: Show) {
    const inbox = new Inbox(sidecar, tellMessages);
    const board = new Board(sidecar);
    const messages = new InboxTree(inbox);
    const tasks = new TasksTree(board);
    this.parts = [
      ...[inbox, board, messages, tasks],
      new MessageCommands(sidecar, inbox, show),
      new TaskCommands(sidecar, board, show),
      inbox.onDidChange(() => messages.update()),
      board.onDidChange(() => tasks.update()),
      ...[inbox, board].map((one) => one.onDidChange(() => showEmptiness(inbox.all, board.all))),
    ];
    this.inbox = inbox;
    this.messages = messages;
    this.tasks = tasks;
  }

  dispose(): void {
    for (const part of this.parts) part.dispose();
  }
}
