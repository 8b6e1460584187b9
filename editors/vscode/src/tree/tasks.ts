/** The Tasks tree: grouped by state, what is done folded away. */

import * as vscode from "vscode";
import { count } from "../../shared/formats";
import type { ShownTask } from "../../shared/protocol.generated";
import { type Column, columns, obstacles } from "../../shared/tasks";
import type { Board } from "../team/board";
import { GroupNode } from "./group";
import { MoreNode } from "./more";
import type { TreeNode } from "./node";
import { statusIcon, TaskNode } from "./task";

export class TasksTree implements vscode.TreeDataProvider<TreeNode>, vscode.Disposable {
  readonly onDidChangeTreeData: vscode.Event<TreeNode | undefined>;

  private readonly changed = new vscode.EventEmitter<TreeNode | undefined>();
  private readonly view: vscode.TreeView<TreeNode>;

  constructor(private readonly board: Board) {
    this.onDidChangeTreeData = this.changed.event;
    this.view = vscode.window.createTreeView("threadline.tasks", {
      treeDataProvider: this,
      canSelectMany: true,
      showCollapseAll: true,
    });
    this.view.onDidChangeVisibility(() => this.changed.fire(undefined));
  }

  update(): void {
    const { problem } = this.board;
    this.view.message = problem ? `Could not be read: ${problem}` : "";
    this.changed.fire(undefined);
  }

  getTreeItem(node: TreeNode): vscode.TreeItem {
    return node.item();
  }

  getChildren(node?: TreeNode): TreeNode[] | Promise<TreeNode[]> {
    return node ? node.children() : columns(this.plans).map((column) => this.group(column));
  }

  dispose(): void {
    this.view.dispose();
    this.changed.dispose();
  }

  private group(column: Column): TreeNode {
    const { status, name, total } = column;
    const isOpen = status !== "done" && status !== "backlog";
    const heading = { id: status, name, icon: statusIcon(status), note: `${total}`, isOpen };
    return new GroupNode(heading, () => this.rows(column));
  }

  private rows({ tasks, total }: Column): TreeNode[] {
    const nodes: TreeNode[] = tasks.map((task) => this.node(task));
    const hidden = total - tasks.length;
    if (hidden > 0 && this.board.canShowMore) {
      nodes.push(new MoreNode(count(hidden, "older task"), () => this.board.showMore()));
    }
    return nodes;
  }

  private node(task: ShownTask): TreeNode {
    const plan = this.plans.find(({ project }) => project.projectId === task.projectId);
    const project = this.plans.length > 1 ? (plan?.project.name ?? "") : "";
    const labels = plan?.labels ?? new Map();
    return new TaskNode(task, { labels, project, obstacles: obstacles(task, this.plans) });
  }

  private get plans() {
    return this.board.all ?? [];
  }
}
