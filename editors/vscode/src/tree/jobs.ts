/** The Jobs tree: what runs first, then what failed, then the latest. */

import * as vscode from "vscode";
import { sorted } from "../../shared/jobs";
import type { Job } from "../../shared/protocol.generated";
import { title } from "../../shared/stories";
import type { Workshop } from "../memory/workshop";
import type { Overview } from "../overview";
import { JobNode } from "./job";
import type { TreeNode } from "./node";

export class JobsTree implements vscode.TreeDataProvider<TreeNode>, vscode.Disposable {
  readonly onDidChangeTreeData: vscode.Event<TreeNode | undefined>;

  private readonly changed = new vscode.EventEmitter<TreeNode | undefined>();
  private readonly view: vscode.TreeView<TreeNode>;

  constructor(
    private readonly workshop: Workshop,
    private readonly overview: Overview,
  ) {
    this.onDidChangeTreeData = this.changed.event;
    this.view = vscode.window.createTreeView("threadline.jobs", { treeDataProvider: this });
    // Rows say `Yesterday`, so they age while nobody looks.
    this.view.onDidChangeVisibility(() => this.changed.fire(undefined));
  }

  update(): void {
    const { problem } = this.workshop;
    this.view.message = problem ? `Could not be read: ${problem}` : "";
    this.changed.fire(undefined);
  }

  getTreeItem(node: TreeNode): vscode.TreeItem {
    return node.item();
  }

  getChildren(node?: TreeNode): TreeNode[] | Promise<TreeNode[]> {
    return node ? node.children() : sorted(this.workshop.jobs).map((job) => this.node(job));
  }

  dispose(): void {
    this.view.dispose();
    this.changed.dispose();
  }

  private node(job: Job): TreeNode {
    const benches = this.workshop.all ?? [];
    const bench = benches.find(({ project }) => project.projectId === job.projectId);
    const project = benches.length > 1 ? (bench?.project.name ?? "") : "";
    const session = (this.overview.projects ?? [])
      .flatMap(({ page }) => page.sessions)
      .find(({ sessionId }) => sessionId === job.sessionId);
    return new JobNode(job, { title: session && title(session), project });
  }
}
