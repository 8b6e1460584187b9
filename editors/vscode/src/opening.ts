/** Opening a file that an event speaks of, as it is now. */

import * as vscode from "vscode";
import { fileRoots } from "./locating";
import type { ProjectState } from "./states";

export async function openFile(
  projects: readonly ProjectState[],
  projectId: string,
  path: string,
): Promise<void> {
  const uri = await find(projectRoots(projects, projectId), path);
  if (uri) await vscode.commands.executeCommand("vscode.open", uri);
  else void vscode.window.showInformationMessage(`${path} is not there any more.`);
}

/** Where the files of a project may lie. */
export function projectRoots(projects: readonly ProjectState[], projectId: string): string[] {
  const folders = (isOwn: boolean) =>
    projects.flatMap(({ project }) =>
      (project.projectId === projectId) === isOwn ? project.folders : [],
    );
  const open = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  return fileRoots(folders(true), folders(false), open);
}

async function find(folders: readonly string[], path: string): Promise<vscode.Uri | undefined> {
  for (const folder of folders) {
    const uri = vscode.Uri.joinPath(vscode.Uri.file(folder), path);
    if (await exists(uri)) return uri;
  }
  return undefined;
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch {
    return false;
  }
}
