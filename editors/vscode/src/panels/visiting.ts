/** Commands that lead to the pages. */

import { commands, type Uri } from "vscode";
import type { Place } from "../../shared/places";
import type { Target } from "../../shared/wire";
import { openFile } from "../opening";
import type { Overview } from "../overview";
import { Registrations } from "../registrations";
import type { Requests } from "../requests";
import type { Sidecar } from "../sidecar";
import { JobNode } from "../tree/job";
import { SessionNode } from "../tree/session";
import { Panels } from "./panels";
import { MemoryView } from "./sidebars";

/** Shows a place of the pages. */
export type Show = (place: Place) => void;

export class Visiting extends Registrations {
  private readonly panels: Panels;
  private readonly memory: MemoryView;

  constructor(
    extension: Uri,
    private readonly sidecar: Sidecar,
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
    this.register("threadline.openInboxPage", "open the inbox", lead({ page: "inbox" }));
    this.register("threadline.searchMemory", "search memory", () => this.memory.search());
    this.register("threadline.openSession", "open the session", (node) => this.openSession(node));
    this.register("threadline.openMemory", "open the memory", (id) => this.openMemory(id));
  }

  readonly show: Show = (place) => this.panels.show(place);

  override dispose(): void {
    super.dispose();
    this.memory.dispose();
    this.panels.dispose();
  }

  /** Of a row, by an id as links give it, or the latest. */
  private async openSession(node: unknown): Promise<void> {
    if (typeof node === "string") return this.openById("session", node);
    const session = named(node) ?? this.latest();
    this.panels.show(
      session
        ? { page: "session", id: session.sessionId, project: session.projectId }
        : { page: "sessions" },
    );
  }

  private async openMemory(id: unknown): Promise<void> {
    if (typeof id === "string") await this.openById("memory", id);
    else this.panels.show({ page: "memory" });
  }

  private async openById(page: "session" | "memory", id: string): Promise<void> {
    const ask = page === "session" ? hasSession : hasMemory;
    const known = (this.overview.projects ?? []).map(({ project }) => project.projectId);
    const isThere = await Promise.all(known.map((project) => ask(this.sidecar, project, id)));
    this.panels.show({ page, id, project: known[isThere.indexOf(true)] });
  }

  private latest() {
    const sessions = (this.overview.projects ?? []).flatMap(({ page }) => page.sessions);
    return sessions.sort((one, other) => other.lastEventAt.localeCompare(one.lastEventAt))[0];
  }

  private async open(target: Target): Promise<void> {
    const { project } = target;
    if ("commit" in target)
      await commands.executeCommand("threadline.openCommit", target.commit, project);
    else await openFile(this.overview.projects ?? [], project, target.file);
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

async function hasSession(requests: Requests, project: string, sessionId: string) {
  const found = requests.request("threadline/sessions/get", { project, sessionId });
  return found.then(
    () => true,
    () => false,
  );
}

async function hasMemory(requests: Requests, project: string, memoryId: string) {
  const params = { project, memoryIds: [memoryId] };
  const found = requests.request("threadline/memories/read", params);
  return found.then(
    ({ missing }) => missing.length === 0,
    () => false,
  );
}
