/** The sidecar process: found, started, brought back when it dies, stopped with the window. */

import * as vscode from "vscode";
import { DidSaveTextDocumentNotification } from "vscode-languageclient/node";
import { QuietClient } from "./clients";
import { commandLine, findProgram, thisMachine } from "./locating";
import type { Change, Methods } from "./protocol.generated";
import { type Following, listen, type Requests, send } from "./requests";
import { RestartBudget } from "./restarts";
import type { SidecarState } from "./states";

export class Sidecar implements Requests, vscode.Disposable {
  readonly onDidChangeState: vscode.Event<SidecarState>;
  readonly onDidChange: vscode.Event<Change>;

  private readonly states = new vscode.EventEmitter<SidecarState>();
  private readonly changes = new vscode.EventEmitter<Change>();
  private readonly budget = new RestartBudget();
  private current: SidecarState = { kind: "idle" };
  private client: QuietClient | undefined;
  private turn: Promise<void> = Promise.resolve();

  constructor(private readonly log: vscode.LogOutputChannel) {
    this.onDidChangeState = this.states.event;
    this.onDidChange = this.changes.event;
  }

  get state(): SidecarState {
    return this.current;
  }

  async request<M extends keyof Methods>(
    method: M,
    params: Methods[M]["params"],
    following?: Following,
  ): Promise<Methods[M]["result"]> {
    if (!this.client) throw new Error("the sidecar is not running");
    return send(this.client, method, params, following);
  }

  tellSaved(uri: string): void {
    const params = { textDocument: { uri } };
    void this.client?.sendNotification(DidSaveTextDocumentNotification.type, params);
  }

  /** Start it, or start it anew; a folder that is absent or not trusted leaves it idle. */
  restart(): Promise<void> {
    this.turn = this.turn.then(() => this.relaunch());
    return this.turn;
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    try {
      await client?.start();
      await client?.dispose();
    } catch (error) {
      this.log.warn(`The sidecar did not stop in order: ${error}`);
    }
  }

  dispose(): void {
    void this.stop();
    this.states.dispose();
    this.changes.dispose();
  }

  private async relaunch(): Promise<void> {
    await this.stop();
    this.budget.renew();
    if (mayRun()) await this.launch();
    else this.enter({ kind: "idle" });
  }

  private async launch(): Promise<void> {
    const [name, ...words] = commandLine(setting());
    const program = findProgram(name, thisMachine());
    if (!program) return this.enter({ kind: "missing", program: name });
    this.enter({ kind: "starting" });
    await this.connect([program, ...words, "serve"]);
  }

  private async connect(command: readonly [string, ...string[]]): Promise<void> {
    const client = new QuietClient(command, this.log, () => this.ended(client));
    this.client = client;
    listen(client, "threadline/didChange", (change) => this.changes.fire(change));
    try {
      await client.start();
      if (this.client === client) this.enter({ kind: "running" });
    } catch (error) {
      this.log.error(`The connection failed: ${error}`);
      const reason = `${command[0]} does not start. ${await client.lastWords()}`;
      if (this.client === client) this.fail(reason.trim());
    }
  }

  /** Only what has run is brought back: what ends at once would do so again. */
  private ended(client: QuietClient): void {
    if (this.client !== client || this.state.kind !== "running") return;
    this.client = undefined;
    if (this.budget.spend(Date.now())) void this.launch();
    else this.fail("it ended too often within a few minutes.");
  }

  private fail(reason: string): void {
    this.client = undefined;
    this.log.error(reason);
    this.enter({ kind: "failed", reason });
  }

  private enter(state: SidecarState): void {
    this.current = state;
    this.states.fire(state);
  }
}

function mayRun(): boolean {
  return vscode.workspace.isTrusted && (vscode.workspace.workspaceFolders ?? []).length > 0;
}

function setting(): unknown {
  return vscode.workspace.getConfiguration("threadline").get("command");
}
