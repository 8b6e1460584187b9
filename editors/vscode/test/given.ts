/** Records for the tests, complete but for what a test says itself. */

import type { Project, Session } from "../src/protocol.generated";
import type { ProjectState } from "../src/states";

export function session(said: Partial<Session> = {}): Session {
  return {
    sessionId: "01J00000000000000000000000",
    projectId: "p1",
    teamId: "personal",
    startedAt: "2026-11-16T12:00:00Z",
    endedAt: null,
    lastEventAt: "2026-11-16T13:20:00Z",
    headCommitSha: null,
    status: "active",
    source: "vscode",
    sources: ["vscode"],
    messageCount: 12,
    filesModified: ["a.py", "b.py"],
    filesOverflow: 2,
    enrichmentStatus: "none",
    summary: null,
    ...said,
  };
}

export function project(said: Partial<Project> = {}): Project {
  return {
    projectId: "p1",
    name: "demo",
    folders: ["/home/me/demo/.git"],
    root: null,
    remotes: [],
    createdAt: "2026-11-01T00:00:00Z",
    ...said,
  };
}

export function projectState(said: Partial<ProjectState> = {}): ProjectState {
  return {
    project: project(),
    capture: { paused: false, duration: null, since: null, until: null },
    active: null,
    page: { sessions: [], total: 0, next: null },
    ...said,
  };
}
