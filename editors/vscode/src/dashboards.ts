/** “Open Dashboard in Browser”: one server for as long as this window lives, a fresh invitation for each tab. */

import { type ChildProcess, spawn } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import * as vscode from "vscode";
import { Registrations } from "./registrations";
import type { Sidecar } from "./sidecar";

interface Dashboard {
  readonly process: ChildProcess;
  readonly lines: Interface;
}

export class DashboardCommands extends Registrations {
  private dashboard: Dashboard | undefined;

  constructor(private readonly sidecar: Sidecar) {
    super();
    this.register("threadline.openDashboard", "open the dashboard", () => this.open());
  }

  override dispose(): void {
    super.dispose();
    // It ends with its input.
    this.dashboard?.process.stdin?.end();
  }

  private async open(): Promise<void> {
    const { process, lines } = this.dashboard ?? this.start();
    const invitation = new Promise<string>((resolve, reject) => {
      lines.once("line", resolve);
      process.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
      process.once("error", reject);
    });
    // The first invitation comes by itself, another for each line that is written.
    if (this.dashboard) process.stdin?.write("\n");
    this.dashboard = { process, lines };
    const { url } = JSON.parse(await invitation) as { url: string };
    await vscode.env.openExternal(vscode.Uri.parse(url, true));
  }

  private start(): Dashboard {
    if (!this.sidecar.command) throw new Error("the sidecar was not found yet");
    const [program, ...before] = this.sidecar.command;
    const words = [...before, "dashboard", "--json", "--until-eof"];
    const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    const process = spawn(program, words, {
      cwd,
      stdio: ["pipe", "pipe", "ignore"],
      windowsHide: true,
    });
    process.once("exit", () => {
      this.dashboard = undefined;
    });
    return { process, lines: createInterface(process.stdout) };
  }
}
