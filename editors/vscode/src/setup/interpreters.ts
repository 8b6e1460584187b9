/** The Pythons that the user has configured, here or for the Python extension. */

import * as path from "node:path";
import * as vscode from "vscode";

interface PythonApi {
  readonly environments?: {
    getActiveEnvironmentPath?(resource?: vscode.Uri): { readonly path?: unknown } | undefined;
  };
}

/** The Python that the user chose for us. */
export function chosenPython(): string | undefined {
  const chosen = vscode.workspace.getConfiguration("threadline").get<unknown>("python");
  return typeof chosen === "string" && chosen.trim() ? chosen.trim() : undefined;
}

/** Full paths only: what is looked up in a folder that is open could be anything. */
export function configuredInterpreters(): string[] {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const named = [chosenPython(), ...folders.flatMap((folder) => [active(folder), usual(folder)])];
  return [...new Set(named.filter((one) => one !== undefined).filter(path.isAbsolute))];
}

/** Of the Python extension where it runs already; it is not woken, nor trusted to keep its shape. */
function active({ uri }: vscode.WorkspaceFolder): string | undefined {
  try {
    const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
    if (!extension?.isActive) return undefined;
    const found = extension.exports?.environments?.getActiveEnvironmentPath?.(uri)?.path;
    return typeof found === "string" ? found : undefined;
  } catch {
    return undefined;
  }
}

function usual(folder: vscode.WorkspaceFolder): string | undefined {
  const python = vscode.workspace.getConfiguration("python", folder.uri);
  const found = python.get<unknown>("defaultInterpreterPath");
  if (typeof found !== "string") return undefined;
  return found.replace(/\$\{workspaceFolder\}/g, folder.uri.fsPath);
}
