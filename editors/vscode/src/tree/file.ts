/** A file that an event touched; a click opens it as it is now. */

import * as path from "node:path";
import { ThemeIcon, TreeItem, Uri } from "vscode";
import type { FileChange } from "../../shared/protocol.generated";
import type { TreeNode } from "./node";

interface Place {
  readonly id: string;
  readonly projectId: string;
  readonly note: string;
}

export class FileNode implements TreeNode {
  constructor(
    private readonly file: FileChange,
    private readonly place: Place,
  ) {}

  item(): TreeItem {
    const { dir, base } = path.posix.parse(this.file.path);
    const item = new TreeItem(base);
    item.id = this.place.id;
    item.description = [dir, this.place.note].filter(Boolean).join(" · ");
    item.iconPath = ThemeIcon.File;
    // Only its name is used, for the icon; where the file lies is found out when it is opened.
    item.resourceUri = Uri.from({ scheme: "threadline", path: `/${this.file.path}` });
    item.contextValue = "file";
    item.tooltip = this.file.path;
    item.command = {
      command: "threadline.openFile",
      title: "Open File",
      arguments: [this.place.projectId, this.file.path],
    };
    return item;
  }

  children(): TreeNode[] {
    return [];
  }
}
