/** Pages that only can be read: a thread of messages, a task, a commit. */

import * as vscode from "vscode";
import { firstLine } from "../shared/formats";
import type { Labels } from "../shared/names";
import type { ShownMessage, ShownTask } from "../shared/protocol.generated";
import { findTask, obstacles, type Plan } from "../shared/tasks";
import { commitPage, taskPage, threadPage } from "./pages";
import type { Requests } from "./requests";
import type { Board } from "./team/board";
import type { Inbox } from "./team/inbox";
import { headline, type Post } from "./team/messages";

const SCHEME = "threadline-page";
const LENGTH = 60;
const SHORT_SHA = 8;
/** A page that was open before a reload is asked for before the sidecar runs; it is renewed then. */
const LATER = "";

type Kind = "thread" | "task" | "commit";

export class Pages implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly onDidChange: vscode.Event<vscode.Uri>;

  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly requests: Requests,
    private readonly inbox: Inbox,
    private readonly board: Board,
  ) {
    this.onDidChange = this.changed.event;
    this.subscriptions = [
      this.changed,
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      inbox.onDidChange(() => this.renew("thread")),
      board.onDidChange(() => this.renew("task")),
    ];
  }

  async openThread(message: ShownMessage): Promise<void> {
    await show(address("thread", headline(message), [message.projectId, message.messageId]));
  }

  async openTask(task: ShownTask): Promise<void> {
    await show(address("task", task.title, [task.projectId, task.taskId]));
  }

  async openCommit(project: string, sha: string): Promise<void> {
    await show(address("commit", sha.slice(0, SHORT_SHA), [project, sha]));
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const [project = "", id = ""] = uri.query.split("/");
    if (uri.authority === "thread") return this.thread(project, id);
    return uri.authority === "commit" ? this.commit(project, id) : this.task(id);
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private async thread(project: string, messageId: string): Promise<string> {
    if (!this.inbox.all) return LATER;
    try {
      const params = { project, messageId };
      const thread = await this.requests.request("threadline/messages/thread", params);
      return threadPage(thread, this.labels(project, this.inbox.all), new Date());
    } catch (error) {
      return `*It could not be read: ${error instanceof Error ? error.message : error}*`;
    }
  }

  private async commit(project: string, sha: string): Promise<string> {
    try {
      const event = await this.requests.request("threadline/commits/get", { project, sha });
      return commitPage(event, new Date());
    } catch (error) {
      return `*It could not be read: ${error instanceof Error ? error.message : error}*`;
    }
  }

  private task(taskId: string): string {
    const plans = this.board.all;
    if (!plans) return LATER;
    const task = findTask(plans, taskId);
    if (!task) return "*This task is not there any more.*";
    const labels = this.labels(task.projectId, plans);
    return taskPage(task, { labels, obstacles: obstacles(task, plans), now: new Date() });
  }

  private labels(projectId: string, all: readonly (Post | Plan)[] | undefined): Labels {
    return all?.find(({ project }) => project.projectId === projectId)?.labels ?? new Map();
  }

  private renew(kind: "thread" | "task"): void {
    for (const { uri } of vscode.workspace.textDocuments) {
      if (uri.scheme === SCHEME && uri.authority === kind) this.changed.fire(uri);
    }
  }
}

/** The title is only there for the tab's name. */
function address(kind: Kind, title: string, ids: readonly string[]): vscode.Uri {
  const name =
    firstLine(title)
      .slice(0, LENGTH)
      .replace(/[/\\?#%]/g, " ")
      .trim() || kind;
  return vscode.Uri.from({
    scheme: SCHEME,
    authority: kind,
    path: `/${name}`,
    query: ids.join("/"),
  });
}

/** Where an editor has no preview of Markdown, its text reads well enough. */
async function show(uri: vscode.Uri): Promise<void> {
  const document = await vscode.workspace.openTextDocument(uri);
  try {
    await vscode.commands.executeCommand("markdown.showPreview", uri);
  } catch {
    await vscode.window.showTextDocument(document, { preview: true });
  }
}
