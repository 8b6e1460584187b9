/** The sidecar process: found, started, brought back when it dies, stopped with the window. */

import * as vscode from "vscode";
import { DidSaveTextDocumentNotification } from "vscode-languageclient/node";
import type { Change, Methods } from "../shared/protocol.generated";
import type { Lender } from "./assistants/lending";
import { QuietClient } from "./clients";
import { thisMachine } from "./locating";
import { answer, type Following, listen, type Requests, send } from "./requests";
import { RestartBudget } from "./restarts";
import { inspect, openFolders } from "./setup/editor";
import { type Environment, findEnvironment, lastingProgram, touch } from "./setup/environments";
import { search } from "./setup/finding";
import { chosenCommand, configuredInterpreters } from "./setup/interpreters";
import type { Words } from "./setup/running";
import { fit } from "./setup/versions";
import { foremost, type SidecarState } from "./states";

export interface Setup {
  readonly log: vscode.LogOutputChannel;
  /** The extension's version, which the sidecar's must fit. */
  readonly version: string;
  /** Where the sidecar's own environments are. */
  readonly root: string;
  /** Our commands that links may run, by what they show. */
  readonly commands: Readonly<Record<string, string>>;
  /** What our settings are called. */
  readonly settings: readonly string[];
  /** Lends the editor's own language model, where there is one. */
  readonly lender: Lender | undefined;
}

export class Sidecar implements Requests, vscode.Disposable {
  readonly onDidChangeState: vscode.Event<SidecarState>;
  readonly onDidChange: vscode.Event<Change>;

  private readonly states = new vscode.EventEmitter<SidecarState>();
  private readonly changes = new vscode.EventEmitter<Change>();
  private readonly budget = new RestartBudget();
  private current: SidecarState = { kind: "idle" };
  private client: QuietClient | undefined;
  private turn: Promise<void> = Promise.resolve();
  private used: Environment | undefined;
  private isChosen = false;
  private started: Words | undefined;

  constructor(private readonly setup: Setup) {
    this.onDidChangeState = this.states.event;
    this.onDidChange = this.changes.event;
  }

  get state(): SidecarState {
    return this.current;
  }

  /** Our own environment, if it runs from there. */
  get environment(): Environment | undefined {
    return this.state.kind === "running" ? this.used : undefined;
  }

  /** The program that it was last started with, and the words before `serve`, for others to start it. */
  get command(): Words | undefined {
    return this.started;
  }

  async request<M extends keyof Methods>(
    method: M,
    params: Methods[M]["params"],
    following?: Following,
  ): Promise<Methods[M]["result"]> {
    const { client, setup } = this;
    if (!client) throw new Error("the sidecar is not running");
    const ask = () => send(client, method, params, following);
    return setup.lender ? setup.lender.during(method, ask) : ask();
  }

  tellSaved(uri: string): void {
    const params = { textDocument: { uri } };
    void this.client?.sendNotification(DidSaveTextDocumentNotification.type, params);
  }

  /** Start it, or start it anew; a folder that is absent or not trusted leaves it idle. */
  restart(): Promise<void> {
    return this.inTurn(() => this.relaunch());
  }

  /** Do what installs it, and start what is there then; one that runs goes on until there is another. */
  async whileInstalling(install: () => Promise<boolean>): Promise<void> {
    const wasRunning = this.state.kind === "running";
    if (!wasRunning) this.enter({ kind: "installing" });
    let isInstalled = false;
    try {
      isInstalled = await install();
    } finally {
      if (isInstalled || !wasRunning) await this.restart();
    }
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    try {
      await client?.start();
      await client?.dispose();
    } catch (error) {
      this.setup.log.warn(`The sidecar did not stop in order: ${error}`);
    }
  }

  dispose(): void {
    void this.stop();
    this.states.dispose();
    this.changes.dispose();
  }

  /** One after the other; what goes wrong in one is no reason for the next not to happen. */
  private inTurn(act: () => Promise<void>): Promise<void> {
    this.turn = this.turn.then(act).catch((error) => this.fail(String(error)));
    return this.turn;
  }

  private async relaunch(): Promise<void> {
    await this.stop();
    this.budget.renew();
    if (mayRun()) await this.launch();
    else this.enter({ kind: "idle" });
  }

  /** Start the first that works; what is wrong with the others is told only if none does. */
  private async launch(): Promise<void> {
    const own = await findEnvironment(this.setup.root);
    const interpreters = configuredInterpreters(inspect);
    const wish = { command: chosenCommand(inspect), interpreters, own: own?.program };
    const { isChosen, program, found, isOpen } = search(wish, thisMachine(openFolders()));
    this.isChosen = isChosen;
    if (isOpen) return this.fail(inOpenFolder(program));
    if (found.length === 0)
      return this.enter(isChosen ? { kind: "missing", program } : { kind: "absent" });
    this.enter({ kind: "starting" });
    const troubles: Trouble[] = [];
    for (const words of found) {
      this.used = own?.program === words[0] ? own : undefined;
      // Others may start it long after ours has been renewed.
      this.started = this.used ? [lastingProgram(this.setup.root)] : words;
      const problem = await this.connect(words);
      if (!problem) return;
      this.setup.log.error(problem.reason);
      troubles.push(problem);
    }
    const trouble = foremost(troubles);
    if (trouble) this.enter({ ...trouble, isChosen });
  }

  /** Start it; undefined if it runs, or if it is not wanted any more. */
  private async connect(words: Words): Promise<Trouble | undefined> {
    const { lender } = this.setup;
    const client = new QuietClient([...words, "serve"], {
      ...this.setup,
      onClosed: () => this.ended(client),
    });
    this.client = client;
    if (lender) {
      answer(client, "threadline/model/complete", (params, token) =>
        lender.complete(params, token),
      );
    }
    listen(client, "threadline/didChange", (change) => this.changes.fire(change));
    const problem = await this.greet(client, words[0]);
    if (this.client !== client) return undefined;
    if (problem) this.client = undefined;
    else this.enter({ kind: "running" });
    return problem;
  }

  private async greet(client: QuietClient, program: string): Promise<Trouble | undefined> {
    try {
      await client.start();
      const found = await version(client);
      if (fit(found, this.setup.version) === "fits") {
        if (this.used) void touch(this.used).catch(() => {});
        return undefined;
      }
      void client.dispose().catch((error) => this.setup.log.warn(`It did not stop: ${error}`));
      const reason = misfit(program, found, this.setup.version);
      return { kind: "outdated", reason, isOwn: this.used !== undefined };
    } catch (error) {
      this.setup.log.error(`The connection failed: ${error}`);
      const reason = `${program} does not start. ${await client.lastWords()}`;
      return { kind: "failed", reason: reason.trim() };
    }
  }

  /** Only what has run is brought back: what ends at once would do so again. */
  private ended(client: QuietClient): void {
    if (this.client !== client || this.state.kind !== "running") return;
    this.client = undefined;
    if (this.budget.spend(Date.now())) void this.inTurn(() => this.relive());
    else this.fail("it ended too often within a few minutes.");
  }

  /** Bring it back, unless somebody else just did. */
  private async relive(): Promise<void> {
    if (!this.client) await this.launch();
  }

  private fail(reason: string): void {
    this.client = undefined;
    this.setup.log.error(reason);
    this.enter({ kind: "failed", reason, isChosen: this.isChosen });
  }

  private enter(state: SidecarState): void {
    this.current = state;
    this.states.fire(state);
  }
}

type Trouble = Extract<SidecarState, { kind: "failed" | "outdated" }>;

/** What answers but does not know the question is older than all that we know. */
async function version(client: QuietClient): Promise<string> {
  try {
    return (await send(client, "threadline/version", {})).version;
  } catch (error) {
    if (!client.isRunning()) throw error;
    return client.initializeResult?.serverInfo?.version ?? "0";
  }
}

function misfit(program: string, found: string, wanted: string): string {
  return fit(found, wanted) === "older"
    ? `${program} is version ${found}, too old for this extension, which needs ${wanted} or newer.`
    : `${program} is version ${found}, too new for this extension (${wanted}): update the extension.`;
}

function mayRun(): boolean {
  return vscode.workspace.isTrusted && (vscode.workspace.workspaceFolders ?? []).length > 0;
}

function inOpenFolder(program: string): string {
  return `${program}, which the setting threadline.command names, lies in a folder that is open, where a repository could have put it. Install it elsewhere.`;
}
