/** One kind of thing in every project of this window, as the sidecar last told it. */

import * as vscode from "vscode";
import { Coalescer } from "../shared/coalescing";
import type { Change, Project } from "../shared/protocol.generated";
import type { Sidecar } from "./sidecar";

const DELAY = 50;

export abstract class Followed<T> implements vscode.Disposable {
  readonly onDidChange: vscode.Event<void>;

  /** One for each project; undefined until the sidecar has told them for the first time. */
  all: readonly T[] | undefined;
  /** Why what is shown may be old; undefined when it is not. */
  problem: string | undefined;

  private readonly changed = new vscode.EventEmitter<void>();
  private readonly loading = new Coalescer(() => this.load(), DELAY);
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    protected readonly sidecar: Sidecar,
    subject: Change["what"],
  ) {
    this.onDidChange = this.changed.event;
    this.subscriptions = [
      this.changed,
      this.loading,
      sidecar.onDidChange(({ what }) => what === subject && this.refresh()),
      sidecar.onDidChangeState(() => this.follow()),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.refresh()),
    ];
  }

  refresh(): void {
    this.loading.request();
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  protected abstract read(project: Project): Promise<T>;

  private follow(): void {
    const { kind } = this.sidecar.state;
    if (kind === "running") this.refresh();
    if (kind === "running" || kind === "starting") return;
    this.all = undefined;
    this.changed.fire();
  }

  private async load(): Promise<void> {
    if (this.sidecar.state.kind !== "running") return;
    try {
      const { projects } = await this.sidecar.request("threadline/projects/list", {});
      this.all = await Promise.all(projects.map((project) => this.read(project)));
      this.problem = undefined;
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    }
    this.changed.fire();
  }
}
