/** Commands that lead to the pages. */

import type { Uri } from "vscode";
import type { Place } from "../pages/places";
import type { Target } from "../pages/wire";
import { openFile } from "./opening";
import type { Overview } from "./overview";
import { Panels } from "./panels";
import { Registrations } from "./registrations";
import { MemoryView } from "./sidebars";
import type { Sidecar } from "./sidecar";
import { SessionNode } from "./tree/session";

export class Visiting extends Registrations {
  private readonly panels: Panels;
  private readonly memory: MemoryView;

  constructor(
    extension: Uri,
    sidecar: Sidecar,
    private readonly overview: Overview,
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
    const session = node instanceof SessionNode ? node.session : this.latest();
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
    if ("file" in target) await openFile(this.overview.projects ?? [], target.project, target.file);
  }
}
