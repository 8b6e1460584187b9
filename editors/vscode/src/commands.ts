/** What a user can do, from the palette, the tree and the status bar. */

import * as vscode from "vscode";
import { summary } from "../shared/formats";
import type { PauseParams, Session } from "../shared/protocol.generated";
import { openFile } from "./opening";
import type { Overview } from "./overview";
import { Registrations } from "./registrations";
import type { Sidecar } from "./sidecar";
import { activeSessions, hasSessions, isCapturing, isPaused, type SidecarState } from "./states";
import type { Inbox } from "./team/inbox";
import { unreadTotal } from "./team/messages";
import { MoreNode } from "./tree/more";
import { SessionNode } from "./tree/session";

type Duration = NonNullable<PauseParams["duration"]>;

const DURATIONS: readonly (vscode.QuickPickItem & { readonly duration: Duration })[] = [
  { label: "15 Minutes", duration: "15m" },
  { label: "1 Hour", duration: "1h" },
  { label: "Until Restart", description: "of the sidecar or this window", duration: "restart" },
  { label: "Until I Resume", duration: "forever" },
];

export class Commands extends Registrations {
  constructor(
    private readonly sidecar: Sidecar,
    private readonly overview: Overview,
    private readonly inbox: Inbox,
    private readonly log: vscode.LogOutputChannel,
  ) {
    super();
    this.register("threadline.closeSession", "close the session", (node) => this.close(node));
    this.register("threadline.pauseCapture", "pause capture", () => this.pause());
    this.register("threadline.resumeCapture", "resume capture", () => this.resume());
    this.register("threadline.refreshSessions", "refresh", () => this.overview.refresh());
    this.register("threadline.restartServer", "restart", () => this.sidecar.restart());
    this.register("threadline.openSettings", "open its settings", openSettings);
    this.register("threadline.showLog", "show its log", () => this.log.show());
    this.register("threadline.showMenu", "show its menu", () => this.showMenu());
    this.register("threadline.showMore", "show more", showMore);
    this.register("threadline.openFile", "open the file", (project, path) =>
      openFile(this.projects, String(project), String(path)),
    );
  }

  private async close(node: unknown): Promise<void> {
    const session = node instanceof SessionNode ? node.session : await this.pickActive();
    if (!session) return;
    const { sessionId, projectId } = session;
    await this.sidecar.request("threadline/sessions/close", { sessionId, project: projectId });
    this.overview.refresh();
  }

  private async pickActive(): Promise<Session | undefined> {
    const sessions = activeSessions(this.projects);
    if (sessions.length < 2) return sessions[0];
    const items = sessions.map((session) => ({
      label: this.projectName(session.projectId),
      description: summary(session),
      session,
    }));
    const picked = await vscode.window.showQuickPick(items, { title: "Close which session?" });
    return picked?.session;
  }

  private async pause(): Promise<void> {
    const picked = await vscode.window.showQuickPick(DURATIONS, {
      title: "Pause Capture",
      placeHolder: "For how long should nothing be recorded?",
    });
    if (!picked) return;
    const { duration } = picked;
    await this.inEveryProject((project) =>
      this.sidecar.request("threadline/capture/pause", { project, duration }),
    );
  }

  private async resume(): Promise<void> {
    await this.inEveryProject((project) =>
      this.sidecar.request("threadline/capture/resume", { project }),
    );
  }

  private async inEveryProject(change: (projectId: string) => Promise<unknown>): Promise<void> {
    await Promise.all(this.projects.map(({ project }) => change(project.projectId)));
    this.overview.refresh();
  }

  private async showMenu(): Promise<void> {
    const picked = await vscode.window.showQuickPick(this.menu(), { title: "Threadline" });
    if (picked) await vscode.commands.executeCommand(picked.command);
  }

  private menu() {
    const { kind } = this.sidecar.state;
    return kind === "running" || kind === "starting" ? this.usualMenu() : repairs(kind);
  }

  private usualMenu() {
    const unread = unreadTotal(this.inbox.all ?? []);
    return [
      entry("$(list-tree) Show Sessions", "threadline.sessions.focus"),
      entry("$(search) Search Memory", "threadline.searchMemory"),
      entry("$(graph) Open Timeline", "threadline.openTimeline"),
      entry(`$(mail) Open Inbox${unread > 0 ? ` (${unread} unread)` : ""}`, "threadline.openInbox"),
      hasSessions(this.projects) &&
        entry("$(sparkle) Generate Memory", "threadline.generateMemory"),
      entry("$(tools) Show Jobs", "threadline.showJobs"),
      entry("$(checklist) Show Tasks", "threadline.showTasks"),
      entry("$(send) Send Message…", "threadline.sendMessage"),
      entry("$(comment-discussion) Open Context in Chat", "threadline.openContextInChat"),
      entry("$(eye) Show What an Assistant Gets", "threadline.openInjection"),
      isPaused(this.projects) && entry("$(debug-start) Resume Capture", "threadline.resumeCapture"),
      isCapturing(this.projects) &&
        entry("$(debug-pause) Pause Capture…", "threadline.pauseCapture"),
      activeSessions(this.projects).length > 0 &&
        entry("$(stop-circle) Close Session", "threadline.closeSession"),
      entry("$(output) Show Log", "threadline.showLog"),
      entry("$(refresh) Restart Sidecar", "threadline.restartServer"),
    ].filter((item) => item !== false);
  }

  private projectName(projectId: string): string {
    const known = this.projects.find(({ project }) => project.projectId === projectId);
    return known?.project.name ?? projectId;
  }

  private get projects() {
    return this.overview.projects ?? [];
  }
}

function entry(label: string, command: string) {
  return { label, command };
}

/** What helps a sidecar that does not run. */
function repairs(kind: SidecarState["kind"]) {
  return [
    kind !== "missing" && entry("$(cloud-download) Install Sidecar", "threadline.installSidecar"),
    kind !== "missing" && entry("$(terminal) Choose Python…", "threadline.choosePython"),
    entry("$(gear) Open Settings", "threadline.openSettings"),
    entry("$(output) Show Log", "threadline.showLog"),
    entry("$(refresh) Restart Sidecar", "threadline.restartServer"),
  ].filter((item) => item !== false);
}

/** How to start the sidecar is a setting of the machine it runs on, which may be a remote one. */
async function openSettings(): Promise<void> {
  const where = vscode.env.remoteName ? "openRemoteSettings" : "openSettings";
  await vscode.commands.executeCommand(`workbench.action.${where}`, {
    query: "threadline.command",
  });
}

function showMore(node: unknown): void {
  if (node instanceof MoreNode) node.grow();
}
