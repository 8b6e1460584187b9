/** What the editor says of its settings and of the folders that are open in it. */

import * as vscode from "vscode";
import type { Inspected } from "../settings";

export function inspect(section: string, key: string): Inspected | undefined {
  return vscode.workspace.getConfiguration(section).inspect<unknown>(key);
}

export function openFolders(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
}
