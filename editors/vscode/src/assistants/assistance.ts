/** What assistants get from us, put together: context by hand, rules files, tools, the MCP server. */

import * as vscode from "vscode";
import { hostSource } from "../../shared/hosts";
import type { Overview } from "../overview";
import type { Sidecar } from "../sidecar";
import { ContextCommands } from "./contexting";
import { McpServers } from "./mcp";
import { RulesCommands } from "./ruling";
import { offerTools } from "./tools";

export class Assistance implements vscode.Disposable {
  readonly servers: McpServers;
  private readonly parts: vscode.Disposable[];

  constructor(
    sidecar: Sidecar,
    overview: Overview,
    memento: vscode.Memento,
    log: vscode.LogOutputChannel,
  ) {
    const source = hostSource(vscode.env.appName, vscode.env.uriScheme);
    this.servers = new McpServers(sidecar, source, memento, log);
    this.parts = [
      this.servers,
      new ContextCommands(sidecar, overview, source, () => void this.servers.askOnce()),
      new RulesCommands(sidecar, overview, source),
      ...offerTools(sidecar, overview, log),
    ];
  }

  dispose(): void {
    for (const part of this.parts) part.dispose();
  }
}
