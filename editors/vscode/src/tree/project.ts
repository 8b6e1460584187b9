/** A repository, shown where the window holds more than one. */

import { ThemeIcon, TreeItem, TreeItemCollapsibleState } from "vscode";
import { count } from "../../shared/formats";
import { pauseEnd } from "../indicating";
import type { ProjectState } from "../states";
import type { TreeNode } from "./node";

export class ProjectNode implements TreeNode {
  constructor(
    private readonly state: ProjectState,
    readonly children: () => TreeNode[],
  ) {}

  item(): TreeItem {
    const { project, capture, page } = this.state;
    const item = new TreeItem(project.name, TreeItemCollapsibleState.Expanded);
    item.id = project.projectId;
    item.iconPath = new ThemeIcon("repo");
    item.contextValue = "project";
    item.description = capture.paused ? `paused ${pauseEnd(capture)}` : sessions(page.total);
    return item;
  }
}

function sessions(total: number): string {
  return total > 0 ? count(total, "session") : "no sessions yet";
}
