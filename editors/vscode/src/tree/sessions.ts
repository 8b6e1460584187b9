/** The Sessions tree: what is active, then day by day, and events once they are asked for. */

import * as vscode from "vscode";
import { count } from "../../shared/formats";
import type { Session } from "../../shared/protocol.generated";
import { byDay, type Day } from "../../shared/stories";
import type { Overview } from "../overview";
import type { Requests } from "../requests";
import { ordered, type ProjectState } from "../states";
import { eventNode } from "./event";
import { GroupNode } from "./group";
import { MoreNode } from "./more";
import type { TreeNode } from "./node";
import { ProjectNode } from "./project";
import { SessionNode } from "./session";

const EVENTS = 200;
const MOST_EVENTS = 1000;
/** Days that are open from the start; earlier ones are folded. */
const OPEN_DAYS = 7;

export class SessionsTree implements vscode.TreeDataProvider<TreeNode>, vscode.Disposable {
  readonly onDidChangeTreeData: vscode.Event<TreeNode | undefined>;

  private readonly changed = new vscode.EventEmitter<TreeNode | undefined>();
  private readonly limits = new Map<string, number>();
  private readonly view: vscode.TreeView<TreeNode>;

  constructor(
    private readonly requests: Requests,
    private readonly overview: Overview,
  ) {
    this.onDidChangeTreeData = this.changed.event;
    this.view = vscode.window.createTreeView("threadline.sessions", {
      treeDataProvider: this,
      showCollapseAll: true,
    });
    // Rows say `Yesterday`, so they age while nobody looks.
    this.view.onDidChangeVisibility(() => this.changed.fire(undefined));
  }

  update(): void {
    const { problem } = this.overview;
    this.view.message = problem ? `Could not be read: ${problem}` : "";
    this.changed.fire(undefined);
  }

  getTreeItem(node: TreeNode): vscode.TreeItem {
    return node.item();
  }

  getChildren(node?: TreeNode): TreeNode[] | Promise<TreeNode[]> {
    return node ? node.children() : this.roots();
  }

  dispose(): void {
    this.view.dispose();
    this.changed.dispose();
  }

  private roots(): TreeNode[] {
    const projects = this.overview.projects ?? [];
    const [only, ...others] = projects;
    if (only && others.length === 0) return this.sessions(only);
    return projects.map((state) => new ProjectNode(state, () => this.sessions(state)));
  }

  private sessions({ project, page }: ProjectState): TreeNode[] {
    const sessions = ordered(page.sessions);
    const active = sessions.filter(({ status }) => status === "active");
    const days = byDay(sessions.slice(active.length), new Date());
    const nodes: TreeNode[] = active.map((session) => this.session(session));
    nodes.push(...days.map((day, index) => this.day(project.projectId, day, index < OPEN_DAYS)));
    const hidden = page.total - page.sessions.length;
    if (page.next) nodes.push(this.older(project.projectId, hidden));
    return nodes;
  }

  private day(projectId: string, { name, items }: Day<Session>, isOpen: boolean): TreeNode {
    const [first] = items;
    const id = `${projectId}/${first ? new Date(first.startedAt).toDateString() : name}`;
    const heading = { id, name, icon: "calendar", note: count(items.length, "session"), isOpen };
    return new GroupNode(heading, () => items.map((session) => this.session(session)));
  }

  private older(projectId: string, hidden: number): TreeNode {
    return new MoreNode(count(hidden, "older session"), () => this.overview.showMore(projectId));
  }

  private session(session: Session): SessionNode {
    return new SessionNode(session, () => this.events(session));
  }

  /** The latest events first, as with sessions. */
  private async events({ sessionId, projectId, messageCount }: Session): Promise<TreeNode[]> {
    const limit = this.limits.get(sessionId) ?? EVENTS;
    const offset = Math.max(0, messageCount - limit);
    const page = await this.requests.request("threadline/sessions/events", {
      project: projectId,
      sessionId,
      limit,
      offset,
    });
    const nodes = page.events.map((event) => eventNode(event, projectId)).reverse();
    return offset > 0 ? [...nodes, this.earlier(sessionId, limit, offset)] : nodes;
  }

  private earlier(sessionId: string, limit: number, hidden: number): TreeNode {
    return new MoreNode(count(hidden, "earlier event"), () => {
      this.limits.set(sessionId, Math.min(limit + EVENTS, MOST_EVENTS));
      this.changed.fire(undefined);
    });
  }
}
