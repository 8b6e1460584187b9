/** The Inbox: what waits for the person first, then what was dealt with, and what they sent. */

import * as vscode from "vscode";
import { count } from "../../shared/formats";
import type { ShownMessage } from "../../shared/protocol.generated";
import type { Inbox } from "../team/inbox";
import { type Box, merged, type Post, unreadTotal } from "../team/messages";
import { GroupNode } from "./group";
import { MessageNode } from "./message";
import type { TreeNode } from "./node";

export class InboxTree implements vscode.TreeDataProvider<TreeNode>, vscode.Disposable {
  readonly onDidChangeTreeData: vscode.Event<TreeNode | undefined>;
  readonly view: vscode.TreeView<TreeNode>;

  private readonly changed = new vscode.EventEmitter<TreeNode | undefined>();

  constructor(private readonly inbox: Inbox) {
    this.onDidChangeTreeData = this.changed.event;
    this.view = vscode.window.createTreeView("threadline.inbox", {
      treeDataProvider: this,
      canSelectMany: true,
    });
    // Rows say `Yesterday`, and messages expire, while nobody looks and nobody tells.
    this.view.onDidChangeVisibility(({ visible }) => visible && this.inbox.refresh());
  }

  update(): void {
    const { problem } = this.inbox;
    const unread = unreadTotal(this.posts);
    const hasOthers = this.total("acknowledged") + this.total("sent") > 0;
    this.view.badge =
      unread > 0 ? { value: unread, tooltip: count(unread, "unread message") } : undefined;
    this.view.message = problem
      ? `Could not be read: ${problem}`
      : unread === 0 && hasOthers
        ? "No message waits for you."
        : "";
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
    const groups = [
      this.group("acknowledged", "Acknowledged", "mail-read"),
      this.group("sent", "Sent", "reply"),
    ];
    return [...this.nodes("unread"), ...groups.filter((group) => group !== undefined)];
  }

  private group(box: Box, name: string, icon: string): TreeNode | undefined {
    const total = this.total(box);
    if (total === 0) return undefined;
    const shown = this.posts.reduce((sum, post) => sum + post[box].length, 0);
    const note =
      shown < total ? `the latest ${shown} of ${total.toLocaleString("en")}` : `${total}`;
    return new GroupNode({ id: box, name, icon, note, isOpen: false }, () => this.nodes(box));
  }

  private nodes(box: Box): TreeNode[] {
    return merged(this.posts, box).map((message) => this.node(message, box));
  }

  private node(message: ShownMessage, box: Box): TreeNode {
    const post = this.posts.find(({ project }) => project.projectId === message.projectId);
    const project = this.posts.length > 1 ? (post?.project.name ?? "") : "";
    return new MessageNode(message, { box, labels: post?.labels ?? new Map(), project });
  }

  private total(box: Box): number {
    return this.posts.reduce((sum, { totals }) => sum + totals[box], 0);
  }

  private get posts(): readonly Post[] {
    return this.inbox.all ?? [];
  }
}
