/** Puts the parts together. */

import * as vscode from "vscode";
import { Assistance } from "./assistants/assistance";
import { ConnectCommands } from "./assistants/connecting";
import { Lender } from "./assistants/lending";
import { Commands } from "./commands";
import { Commits } from "./commits";
import { showContexts, showJobs, showSteps } from "./contexts";
import { DashboardCommands } from "./dashboards";
import { ImportCommands } from "./importing";
import { Insights } from "./memory/insights";
import { linkCommands } from "./memory/links";
import { MakingCommands } from "./memory/making";
import { MemoryCommands } from "./memory/remembering";
import { Workshop } from "./memory/workshop";
import { tellState } from "./notices";
import { Overview } from "./overview";
import { Visiting } from "./panels/visiting";
import { CommitPages } from "./reading";
import { MissedSaves } from "./saves";
import { settingNames } from "./settings";
import { findCarried } from "./setup/carrying";
import { Installer } from "./setup/installer";
import { Sidecar } from "./sidecar";
import { StatusBar } from "./statusbar";
import { Team } from "./team/team";
import { offerInTerminals } from "./terminals";
import { Decorations } from "./tree/decorating";
import type { InboxTree } from "./tree/inbox";
import { JobsTree } from "./tree/jobs";
import { SessionsTree } from "./tree/sessions";
import type { TasksTree } from "./tree/tasks";

let running: Sidecar | undefined;

/** What other extensions, and the tests inside the editor, may use. */
export interface Threadline {
  readonly sidecar: Sidecar;
  readonly tree: SessionsTree;
  readonly jobs: JobsTree;
  readonly inbox: InboxTree;
  readonly tasks: TasksTree;
  readonly statusBar: vscode.StatusBarItem;
  readonly assistance: Assistance;
}

export function activate(context: vscode.ExtensionContext): Threadline {
  const log = vscode.window.createOutputChannel("Threadline", { log: true });
  const root = vscode.Uri.joinPath(context.globalStorageUri, "sidecar").fsPath;
  const { version, links, settings } = described(context);
  const lender = Lender.here();
  const sidecar = new Sidecar({ log, root, version, commands: links, settings, lender });
  const carried = findCarried(context.asAbsolutePath("dist/sidecar"));
  const installer = new Installer(sidecar, { log, root, carried });
  const overview = new Overview(sidecar);
  const tree = new SessionsTree(sidecar, overview);
  const visiting = new Visiting(context.extensionUri, sidecar, overview);
  const team = new Team(sidecar, visiting.show);
  const workshop = new Workshop(sidecar);
  const jobs = new JobsTree(workshop, overview);
  const statusBar = new StatusBar(sidecar, overview, team.inbox, workshop);
  const commands = new Commands(sidecar, overview, team.inbox, log);
  const saves = new MissedSaves(sidecar);
  const assistance = new Assistance(sidecar, overview, context.globalState, log);
  const commitPages = new CommitPages(sidecar);
  const making = new MakingCommands(sidecar, overview, workshop);
  const show = () => {
    showContexts(sidecar.state, overview.projects);
    tree.update();
    statusBar.update();
  };
  context.subscriptions.push(log, sidecar, overview, tree, team, statusBar, commands, saves);
  context.subscriptions.push(installer, visiting, assistance);
  context.subscriptions.push(
    commitPages,
    new Commits(overview, commitPages),
    new Insights(sidecar, links),
  );
  context.subscriptions.push(workshop, jobs, making, new Decorations());
  context.subscriptions.push(new MemoryCommands(sidecar, overview));
  context.subscriptions.push(new ImportCommands(sidecar, overview));
  context.subscriptions.push(new ConnectCommands(sidecar), new DashboardCommands(sidecar));
  const variables = context.environmentVariableCollection;
  const shims = vscode.Uri.joinPath(context.globalStorageUri, "bin").fsPath;
  context.subscriptions.push(offerInTerminals(sidecar, variables, shims, log));
  context.subscriptions.push(
    overview.onDidChange(show),
    overview.onDidChange(() => jobs.update()),
    workshop.onDidChange(() => {
      showJobs(workshop.all && workshop.jobs);
      jobs.update();
      statusBar.update();
    }),
    team.inbox.onDidChange(() => statusBar.update()),
    sidecar.onDidChangeState(show),
    onWalkthrough(() => showSteps(sidecar.state, overview.projects)),
    sidecar.onDidChangeState(tellState),
    ...restarting(sidecar),
  );
  running = sidecar;
  void sidecar.restart();
  const { messages: inbox, tasks } = team;
  return { sidecar, tree, jobs, inbox, tasks, statusBar: statusBar.item, assistance };
}

export async function deactivate(): Promise<void> {
  await running?.stop();
}

/** What the manifest says of this build. */
function described({ extension }: vscode.ExtensionContext) {
  const { version, contributes } = extension.packageJSON as Manifest;
  const links = linkCommands(contributes.commands.map(({ command }) => command));
  return { version, links, settings: settingNames(contributes.configuration.properties) };
}

interface Manifest {
  readonly version: string;
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly configuration: { readonly properties: Readonly<Record<string, unknown>> };
  };
}

/** Walkthroughs are among the tabs of which nothing but their coming is told. */
function onWalkthrough(act: () => void): vscode.Disposable {
  return vscode.window.tabGroups.onDidChangeTabs(({ opened, changed }) => {
    if ([...opened, ...changed].some(({ input }) => input === undefined)) act();
  });
}

function restarting(sidecar: Sidecar): vscode.Disposable[] {
  return [
    vscode.workspace.onDidGrantWorkspaceTrust(() => sidecar.restart()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => {
      if (sidecar.state.kind === "idle") void sidecar.restart();
    }),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("threadline.command")) void sidecar.restart();
      const isWanting = ["absent", "outdated", "failed"].includes(sidecar.state.kind);
      if (isWanting && change.affectsConfiguration("python")) void sidecar.restart();
    }),
  ];
}
