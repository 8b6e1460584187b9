/** What every node of the Sessions tree can do. */

import type { TreeItem } from "vscode";

export interface TreeNode {
  item(): TreeItem;
  children(): TreeNode[] | Promise<TreeNode[]>;
}
