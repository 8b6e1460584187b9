/** Bringing in what was committed before anybody watched, from the palette and the empty view. */

import * as vscode from "vscode";
import { importOutcome } from "../shared/histories";
import { choose, choosePlace } from "./choosing";
import type { Overview } from "./overview";
import { follow } from "./progress";
import { Registrations } from "./registrations";
import type { Requests } from "./requests";

const QUESTION = "Import History";

export class ImportCommands extends Registrations {
  constructor(
    private readonly requests: Requests,
    private readonly overview: Overview,
  ) {
    super();
    this.register("threadline.importHistory", "import the history", () => this.scan());
  }

  private async scan(): Promise<void> {
    const projects = (this.overview.projects ?? []).map(({ project }) => project);
    const place = await choosePlace(QUESTION, projects);
    if (!place) return;
    const allAuthors = await choose(QUESTION, AUTHORS);
    if (allAuthors === undefined) return;
    const params = { project: place.folder, allAuthors };
    const done = await follow("Threadline: importing commits", (way) =>
      this.requests.request("threadline/scan", params, way),
    );
    if (!done) return;
    const said = importOutcome(done);
    const next = done.imported > 0 ? ["Open Timeline"] : [];
    if (await vscode.window.showInformationMessage(said, ...next)) {
      await vscode.commands.executeCommand("threadline.openTimeline");
    }
  }
}

const AUTHORS = [
  { label: "My Commits", description: "those that git says are yours", value: false },
  { label: "Everyone's Commits", value: true },
];
