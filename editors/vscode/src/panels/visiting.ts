/** Commands that lead to the pages. */

import { commands, type Uri } from "vscode";
import type { Place } from "../../pages/places";
import type { Target } from "../../pages/wire";
import { openFile } from "../opening";
import type { Overview } from "../overview";
import { Registrations } from "../registrations";
import type { Requests } from "../requests";
import type { Sidecar } from "../sidecar";
import { JobNode } from "../tree/job";
import { SessionNode } from "../tree/session";
import { Panels } from "./panels";
import { MemoryView } from "./sidebars";

export class Visiting extends Registrations {
  private readonly panels: Panels;
  private readonly memory: MemoryView;

  constructor(
    extension: Uri,
    sidecar: Sidecar,
    private readonly overview: Overview,
    private readonly pages: Pages,
  ) {
    super();
    this.panels = new Panels(extension, sidecar, (target) => void this.open(target));
    this.memory = new MemoryView(extension, sidecar, {
      visit: (place) => this.panels.show(place),
      open: (target) => void this.open(target),
    });
    const lead = (place: Place) => () => this.panels.show(place);
    this.register("threadline.openTimeline", "open the timeline", lead({ page: "timeline" }));
    this.register("threadline.openInjection", "open its page", lead({ page: "injection" }));
    this.register("threadline.openBoard", "open the board", lead({ page: "tasks" }));
    this.register("threadline.openMemory", "open memory", lead({ page: "memory" }));
    this.register("threadline.searchMemory", "search memory", () => this.memory.search());
    this.register("threadline.openSession", "open the session", (node) => this.openSession(node));
  }

  override dispose(): void {
    super.dispose();
    this.memory.dispose();
    this.panels.dispose();
  }

  private openSession(node: unknown): void {
    const session = named(node) ?? this.latest();
    this.panels.show(
      session
        ? { page: "session", id: session.sessionId, project: session.projectId }
        : { page: "sessions" },
    );
  }

  private latest() {
    const sessions = (this.overview.projects ?? []).flatMap(({ page }) => page.sessions);
    return sessions.sort((one, other) => other.lastEventAt.localeCompare(one.lastEventAt))[0];
  }

  private async open(target: Target): Promise<void> {
    const projects = this.overview.projects ?? [];
    if ("file" in target) return openFile(projects, target.project, target.file);
    const isShown = await openCommit(target.commit, projectRoots(projects, target.project));
    if (!isShown) await this.pages.openCommit(target.project, target.commit);
  }
}

interface SessionName {
  readonly sessionId: string;
  readonly projectId: string;
}

/** The session that a row stands for, or that is named by its ids. */
function named(given: unknown): SessionName | undefined {
  if (given instanceof SessionNode) return given.session;
  if (given instanceof JobNode) return given.job;
  return given instanceof Object && "sessionId" in given && "projectId" in given
    ? { sessionId: String(given.sessionId), projectId: String(given.projectId) }
    : undefined;
}
