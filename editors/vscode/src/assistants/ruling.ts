/** What a person does with rules files: write, refresh, remove. */

import * as vscode from "vscode";
import type { RulesChange, RulesFile } from "../../shared/protocol.generated";
import { choose, choosePlace } from "../choosing";
import type { Overview } from "../overview";
import { Registrations } from "../registrations";
import type { Requests } from "../requests";
import { isTarget, offered, ownPart, present, type Target, toldChanges } from "./rulesets";

type Change = (target: Target | undefined, force: boolean) => Promise<readonly RulesChange[]>;

export class RulesCommands extends Registrations {
  constructor(
    private readonly requests: Requests,
    private readonly overview: Overview,
    private readonly source: string,
  ) {
    super();
    this.register("threadline.writeRulesFile", "write the rules file", (target) =>
      this.write(target),
    );
    this.register("threadline.refreshRulesFile", "refresh the rules files", () => this.refresh());
    this.register("threadline.removeRulesFile", "remove the rules file", (target) =>
      this.remove(target),
    );
  }

  private async write(given: unknown): Promise<void> {
    const project = await this.choose("Write a Rules File into Which Project?");
    if (!project) return;
    const files = await this.list(project);
    const title = "Write Which Rules File?";
    const target = isTarget(given) ? given : await choose(title, offered(files, this.source));
    if (!target) return;
    const write: Change = async (_, force) => [
      await this.requests.request("threadline/rules/write", { project, target, force }),
    ];
    await this.change(target, write, "Replace");
  }

  private async refresh(): Promise<void> {
    const project = await this.choose("Refresh the Rules Files of Which Project?");
    if (!project) return;
    if (present(await this.list(project)).length === 0) return offerWriting();
    const refresh: Change = async (target, force) => {
      const params = { project, target: target ?? null, force };
      return (await this.requests.request("threadline/rules/refresh", params)).files;
    };
    await this.change(undefined, refresh, "Replace");
  }

  private async remove(given: unknown): Promise<void> {
    const project = await this.choose("Remove a Rules File from Which Project?");
    if (!project) return;
    const there = present(await this.list(project));
    if (there.length === 0) {
      void vscode.window.showInformationMessage("There is no rules file of Threadline here.");
      return;
    }
    const target = isTarget(given) ? given : await this.chooseOne(there);
    if (!target) return;
    const remove: Change = async (_, force) =>
      (await this.requests.request("threadline/rules/remove", { project, target, force })).files;
    await this.change(target, remove, "Remove");
  }

  private async chooseOne(files: readonly RulesFile[]): Promise<Target | undefined> {
    if (files.length === 1) return files[0]?.target;
    return choose("Remove Which Rules File?", offered(files, this.source));
  }

  /** Change files, and ask about each that was edited by hand before anything of it is lost. */
  private async change(target: Target | undefined, change: Change, verb: string): Promise<void> {
    const title = "Threadline: changing rules files";
    const changes = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title },
      () => change(target, false),
    );
    tell(changes);
    for (const file of changes.filter(({ outcome }) => outcome === "kept")) {
      if (await mayLose(file, verb)) tell(await change(file.target, true));
    }
  }

  private async choose(title: string): Promise<string | undefined> {
    const projects = (this.overview.projects ?? []).map(({ project }) => project);
    return (await choosePlace(title, projects))?.folder;
  }

  private async list(project: string): Promise<readonly RulesFile[]> {
    return (await this.requests.request("threadline/rules/list", { project })).files;
  }
}

function tell(changes: readonly RulesChange[]): void {
  for (const { reason, outcome } of changes) {
    if (outcome === "refused") void vscode.window.showWarningMessage(reason ?? "");
  }
  const sentence = toldChanges(changes);
  const written = changes.find(({ state }) => state === "written");
  if (sentence) void tellDone(sentence, written?.path);
}

async function tellDone(sentence: string, path: string | undefined): Promise<void> {
  const actions = path ? ["Open File"] : [];
  const chosen = await vscode.window.showInformationMessage(sentence, ...actions);
  if (chosen && path) await vscode.commands.executeCommand("vscode.open", vscode.Uri.file(path));
}

async function mayLose(file: RulesChange, verb: string): Promise<boolean> {
  const sentence = `${ownPart(file.target)} was edited by hand. ${verb} it?`;
  const chosen = await vscode.window.showWarningMessage(sentence, verb, "Open File");
  if (chosen === "Open File") {
    await vscode.commands.executeCommand("vscode.open", vscode.Uri.file(file.path));
  }
  return chosen === verb;
}

async function offerWriting(): Promise<void> {
  const sentence = "There is no rules file of Threadline here.";
  const chosen = await vscode.window.showInformationMessage(sentence, "Write Rules File…");
  if (chosen) await vscode.commands.executeCommand("threadline.writeRulesFile");
}
