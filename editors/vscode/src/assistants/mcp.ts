/** Makes our MCP server known to the assistants of this editor, once its user has said yes. */

import * as vscode from "vscode";
import { sourceName } from "../../shared/hosts";
import { Registrations } from "../registrations";
import { runCommand } from "../running";
import type { Sidecar } from "../sidecar";
import {
  type Apis,
  announce,
  plannedChanges,
  planText,
  serverCommand,
  serverEntry,
  type Way,
  wayFor,
} from "./servers";

const ANSWER = "threadline.mcp";
const ASKED = "threadline.mcpAsked";

export class McpServers extends Registrations {
  private readonly apis: Apis = { lm: part("lm"), cursor: part("cursor") };
  private readonly way: Way;
  private readonly subscription: vscode.Disposable;
  private registration: vscode.Disposable | undefined;

  constructor(
    private readonly sidecar: Sidecar,
    private readonly source: string,
    private readonly memento: vscode.Memento,
    private readonly log: Pick<vscode.LogOutputChannel, "info">,
  ) {
    super();
    this.way = wayFor(source, this.apis);
    this.register("threadline.registerMcp", "register its MCP server", () => this.accept());
    this.register("threadline.unregisterMcp", "unregister its MCP server", () => this.refuse());
    this.subscription = sidecar.onDidChangeState(() => this.renew());
    this.renew();
  }

  get isRegistered(): boolean {
    return this.registration !== undefined;
  }

  /** Ask whether assistants may use the server; once and never again. */
  async askOnce(): Promise<void> {
    const isAnswered = this.memento.get(ASKED) !== undefined;
    if (isAnswered || this.way === "manual" || this.memento.get(ANSWER) !== undefined) return;
    await this.memento.update(ASKED, true);
    const name = sourceName(this.source);
    const sentence = `Assistants in ${name} can look into this memory by themselves, by Threadline's MCP server. Register it with ${name}?`;
    const chosen = await vscode.window.showInformationMessage(sentence, "Register", "No");
    if (chosen === "Register") await this.accept();
  }

  override dispose(): void {
    super.dispose();
    this.subscription.dispose();
    this.registration?.dispose();
  }

  private async accept(): Promise<void> {
    if (!this.sidecar.command) throw new Error("the sidecar was not found yet");
    if (this.way === "connect") return this.connect("connect");
    if (this.way === "manual") return this.tell();
    await this.memento.update(ANSWER, true);
    this.renew();
    if (!this.isRegistered) throw new Error(`${sourceName(this.source)} did not take it`);
    void vscode.window.showInformationMessage(
      `Threadline's MCP server is registered with ${sourceName(this.source)}, which may ask you whether to start it.`,
    );
  }

  private async refuse(): Promise<void> {
    if (this.way === "connect") return this.connect("disconnect");
    await this.memento.update(ANSWER, false);
    this.renew();
    void vscode.window.showInformationMessage("Threadline's MCP server is not registered.");
  }

  /** Register where the user wants it and the program is known, and only there. */
  private renew(): void {
    const isWanted = this.memento.get(ANSWER) === true && this.sidecar.command !== undefined;
    if (isWanted === this.isRegistered) return;
    this.registration?.dispose();
    this.registration = isWanted ? this.announce() : undefined;
  }

  private announce(): vscode.Disposable | undefined {
    if (!this.sidecar.command) return undefined;
    const command = serverCommand(this.sidecar.command);
    const provide = () => this.definitions();
    return announce(this.way, this.apis, { command, provide }, (said) => this.log.info(said));
  }

  definitions(): vscode.McpStdioServerDefinition[] {
    if (!this.sidecar.command) return [];
    const { command, args, env } = serverCommand(this.sidecar.command);
    const server = new vscode.McpStdioServerDefinition("Threadline", command, args, env);
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    if (folder) server.cwd = folder.uri;
    return [server];
  }

  /** Let the command line change this editor's own files, after its user has seen how. */
  private async connect(verb: "connect" | "disconnect"): Promise<void> {
    const changes = plannedChanges(await this.run(verb, this.source, "--dry-run", "--json"));
    const name = sourceName(this.source);
    if (changes.length === 0) {
      void vscode.window.showInformationMessage(`There is nothing to change for ${name}.`);
      return;
    }
    const content = planText(changes);
    const document = await vscode.workspace.openTextDocument({ language: "diff", content });
    await vscode.window.showTextDocument(document, { preview: true });
    const action = verb === "connect" ? "Connect" : "Disconnect";
    const sentence = `This is what “threadline ${verb} ${this.source}” changes in ${name}'s files.`;
    if ((await vscode.window.showInformationMessage(sentence, action)) !== action) return;
    await this.run(verb, this.source, "--json");
    void vscode.window.showInformationMessage(`${name} is ${verb}ed.`);
  }

  private async tell(): Promise<void> {
    if (!this.sidecar.command) return;
    await vscode.env.clipboard.writeText(serverEntry(serverCommand(this.sidecar.command)));
    const where = `${sourceName(this.source)}'s list of MCP servers`;
    void vscode.window.showInformationMessage(
      `What belongs into ${where} is on the clipboard: it has no way for us to put it there.`,
    );
  }

  private run(...words: string[]): Promise<string> {
    return runCommand(this.sidecar.command, words);
  }
}

/** A part of the editor's API that it may not have, and that no declaration may know. */
function part(name: string): unknown {
  try {
    return (vscode as unknown as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}
