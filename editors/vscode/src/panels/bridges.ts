/** Between one page and the sidecar: requests go there, answers and changes come back. */

import * as vscode from "vscode";
import type { Place } from "../../shared/places";
import type { Change } from "../../shared/protocol.generated";
import type { HostMessage, PageMessage, Target } from "../../shared/wire";
import type { Sidecar } from "../sidecar";

export interface Errands {
  visit(place: Place): void;
  open(target: Target): void;
  /** The page is there and hears. */
  ready?(): void;
}

export class Bridge implements vscode.Disposable {
  private readonly open = new Map<number, vscode.CancellationTokenSource>();
  private readonly subscriptions: vscode.Disposable[];
  private isOver = false;

  constructor(
    private readonly webview: vscode.Webview,
    private readonly sidecar: Sidecar,
    private readonly errands: Errands,
  ) {
    this.subscriptions = [
      webview.onDidReceiveMessage((message: PageMessage) => this.hear(message)),
      sidecar.onDidChange((change: Change) => this.tell({ kind: "change", change })),
      sidecar.onDidChangeState(() => this.tellLink()),
    ];
  }

  show(place: Place): void {
    this.tell({ kind: "show", place });
  }

  /** Put the cursor into the page's search field. */
  search(): void {
    this.tell({ kind: "search" });
  }

  /** What it has begun goes on, as in a browser: who closes a tab does not want its work undone. */
  dispose(): void {
    this.isOver = true;
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private hear(message: PageMessage): void {
    switch (message.kind) {
      case "ready":
        this.tellLink();
        this.errands.ready?.();
        break;
      case "request":
        void this.answer(message);
        break;
      case "cancel":
        this.open.get(message.id)?.cancel();
        break;
      case "visit":
        this.errands.visit(message.place);
        break;
      case "open":
        this.errands.open(message.target);
    }
  }

  private async answer(request: Extract<PageMessage, { kind: "request" }>): Promise<void> {
    const { id, method, params } = request;
    const source = new vscode.CancellationTokenSource();
    this.open.set(id, source);
    try {
      const result = await this.sidecar.request(method, params as never, {
        token: source.token,
        onProgress: (progress) => this.tell({ kind: "progress", id, progress }),
      });
      this.tell({ kind: "answer", id, result });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const code = codeOf(error);
      this.tell({ kind: "failure", id, message, ...(code === undefined ? {} : { code }) });
    } finally {
      this.open.delete(id);
      source.dispose();
    }
  }

  private tellLink(): void {
    this.tell({ kind: "link", isLive: this.sidecar.state.kind === "running" });
  }

  private tell(message: HostMessage): void {
    if (!this.isOver) void this.webview.postMessage(message);
  }
}

function codeOf(error: unknown): number | undefined {
  const code = error instanceof Object && "code" in error ? error.code : undefined;
  return typeof code === "number" ? code : undefined;
}
