/** Rows that belong together, under a heading that counts them. */

import { ThemeIcon, TreeItem, TreeItemCollapsibleState } from "vscode";
import type { TreeNode } from "./node";

interface Heading {
  readonly id: string;
  readonly name: string;
  readonly icon: string;
  /** How many there are, in words where that is not plain. */
  readonly note: string;
  readonly isOpen: boolean;
}

export class GroupNode implements TreeNode {
  constructor(
    private readonly heading: Heading,
    readonly children: () => TreeNode[],
  ) {}

  item(): TreeItem {
    const { id, name, icon, note, isOpen } = this.heading;
    const item = new TreeItem(
      name,
      isOpen ? TreeItemCollapsibleState.Expanded : TreeItemCollapsibleState.Collapsed,
    );
    item.id = id;
    item.iconPath = new ThemeIcon(icon);
    item.description = note;
    item.contextValue = "group";
    item.accessibilityInformation = { label: `${name}, ${note}` };
    return item;
  }
}
