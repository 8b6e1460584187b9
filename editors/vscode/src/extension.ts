/** Puts the parts together. */

import * as vscode from "vscode";
import { Commands } from "./commands";
import { showContexts } from "./contexts";
import { tellState } from "./notices";
import { Overview } from "./overview";
import { MissedSaves } from "./saves";
import { Sidecar } from "./sidecar";
import { StatusBar } from "./statusbar";
import { SessionsTree } from "./tree/sessions";

let running: Sidecar | undefined;

/** What other extensions, and the tests inside the editor, may use. */
export interface Threadline {
  readonly sidecar: Sidecar;
  readonly tree: SessionsTree;
  readonly statusBar: vscode.StatusBarItem;
}

export function activate(context: vscode.ExtensionContext): Threadline {
  const log = vscode.window.createOutputChannel("Threadline", { log: true });
  const sidecar = new Sidecar(log);
  const overview = new Overview(sidecar);
  const tree = new SessionsTree(sidecar, overview);
  const statusBar = new StatusBar(sidecar, overview);
  const commands = new Commands(sidecar, overview, log);
  const saves = new MissedSaves(sidecar);
  const show = () => {
    showContexts(sidecar.state, overview.projects);
    tree.update();
    statusBar.update();
  };
  context.subscriptions.push(log, sidecar, overview, tree, statusBar, commands, saves);
  context.subscriptions.push(
    overview.onDidChange(show),
    sidecar.onDidChangeState(show),
    sidecar.onDidChangeState(tellState),
    ...restarting(sidecar),
  );
  running = sidecar;
  void sidecar.restart();
  return { sidecar, tree, statusBar: statusBar.item };
}

export async function deactivate(): Promise<void> {
  await running?.stop();
}

function restarting(sidecar: Sidecar): vscode.Disposable[] {
  return [
    vscode.workspace.onDidGrantWorkspaceTrust(() => sidecar.restart()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => {
      if (sidecar.state.kind === "idle") void sidecar.restart();
    }),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("threadline.command")) void sidecar.restart();
    }),
  ];
}
