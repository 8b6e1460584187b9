/** The projects of this window as the sidecar last told them. */

import * as vscode from "vscode";
import { Coalescer } from "../shared/coalescing";
import type { Change, Project } from "../shared/protocol.generated";
import type { Sidecar } from "./sidecar";
import type { ProjectState } from "./states";

const PAGE = 50;
const MOST = 1000;
const DELAY = 50;
const SUBJECTS: readonly Change["what"][] = ["sessions", "capture"];

export class Overview implements vscode.Disposable {
  readonly onDidChange: vscode.Event<void>;

  /** Undefined until the sidecar has told them for the first time. */
  projects: readonly ProjectState[] | undefined;
  /** Why what is shown may be old; undefined when it is not. */
  problem: string | undefined;

  private readonly changed = new vscode.EventEmitter<void>();
  private readonly loading = new Coalescer(() => this.load(), DELAY);
  private readonly limits = new Map<string, number>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly sidecar: Sidecar) {
    this.onDidChange = this.changed.event;
    this.subscriptions = [
      this.changed,
      this.loading,
      sidecar.onDidChange(({ what }) => SUBJECTS.includes(what) && this.refresh()),
      sidecar.onDidChangeState(() => this.follow()),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.refresh()),
    ];
  }

  refresh(): void {
    this.loading.request();
  }

  showMore(projectId: string): void {
    this.limits.set(projectId, Math.min(this.limit(projectId) + PAGE, MOST));
    this.refresh();
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private follow(): void {
    const { kind } = this.sidecar.state;
    if (kind === "running") this.refresh();
    else if (kind !== "starting") this.projects = undefined;
  }

  private async load(): Promise<void> {
    if (this.sidecar.state.kind !== "running") return;
    try {
      const { projects } = await this.sidecar.request("threadline/projects/list", {});
      this.projects = await Promise.all(projects.map((project) => this.read(project)));
      this.problem = undefined;
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    }
    this.changed.fire();
  }

  private async read(project: Project): Promise<ProjectState> {
    const of = { project: project.projectId };
    const [status, page] = await Promise.all([
      this.sidecar.request("threadline/status", of),
      this.sidecar.request("threadline/sessions/list", { ...of, limit: this.limit(of.project) }),
    ]);
    return { project, capture: status.capture, active: status.activeSession, page };
  }

  private limit(projectId: string): number {
    return this.limits.get(projectId) ?? PAGE;
  }
}
