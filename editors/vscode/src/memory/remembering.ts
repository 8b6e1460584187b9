/** What a person does with memories from the palette and from the menu on one. */

import * as vscode from "vscode";
import type { Memory } from "../../shared/protocol.generated";
import { purged } from "../../shared/remarks";
import { chooseProject } from "../choosing";
import type { Overview } from "../overview";
import { Registrations } from "../registrations";
import type { Requests } from "../requests";
import { pickMemory } from "./picking";

export class MemoryCommands extends Registrations {
  constructor(
    private readonly requests: Requests,
    private readonly overview: Overview,
  ) {
    super();
    this.register("threadline.pinMemory", "pin the memory", (given) => this.pin(given));
    this.register("threadline.forgetMemory", "forget the memory", (given) => this.forget(given));
  }

  private async pin(given: unknown): Promise<void> {
    const memory = await this.memory(given, "Pin or Unpin Which Memory?");
    if (!memory) return;
    const { projectId: project, memoryId, pinned } = memory;
    await this.requests.request("threadline/memories/update", {
      ...{ project, memoryId },
      pinned: !pinned,
    });
    const words = pinned ? "Unpinned" : "Pinned";
    vscode.window.setStatusBarMessage(`$(pin) ${words}: ${memory.title}`, 5000);
  }

  private async forget(given: unknown): Promise<void> {
    const memory = await this.memory(given, "Forget Which Memory?");
    if (!memory) return;
    const { projectId: project, memoryId } = memory;
    const chosen = await vscode.window.showWarningMessage(
      `Forget “${memory.title}” for good?`,
      {
        modal: true,
        detail: "Its words are removed from every file of Threadline. This cannot be undone.",
      },
      "Forget",
    );
    if (chosen !== "Forget") return;
    const memoryIds = [memoryId];
    const report = await this.requests.request("threadline/memories/forget", {
      project,
      memoryIds,
    });
    const tell = report.verified
      ? vscode.window.showInformationMessage
      : vscode.window.showWarningMessage;
    void tell(purged(report));
  }

  /** The one the menu was opened on, or the one that is picked where a command comes from the palette. */
  private async memory(given: unknown, title: string): Promise<Memory | undefined> {
    if (isNamed(given)) {
      const params = { project: given.project, memoryIds: [given.memoryId] };
      const { memories } = await this.requests.request("threadline/memories/read", params);
      return memories[0];
    }
    const projects = (this.overview.projects ?? []).map(({ project }) => project);
    const project = await chooseProject("In Which Project?", projects);
    return project && pickMemory(this.requests, project.projectId, title);
  }
}

function isNamed(given: unknown): given is { project: string; memoryId: string } {
  return given instanceof Object && "memoryId" in given && "project" in given;
}
