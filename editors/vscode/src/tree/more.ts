/** The last row of a list that goes on: a click shows more of it. */

import { TreeItem } from "vscode";
import type { TreeNode } from "./node";

export class MoreNode implements TreeNode {
  constructor(
    private readonly label: string,
    readonly grow: () => void,
  ) {}

  item(): TreeItem {
    const item = new TreeItem(this.label);
    item.command = { command: "threadline.showMore", title: "Show More", arguments: [this] };
    return item;
  }

  children(): TreeNode[] {
    return [];
  }
}
