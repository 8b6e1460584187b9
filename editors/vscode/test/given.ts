/** Records for the tests, complete but for what a test says itself. */

import type {
  Event,
  Found,
  Job,
  Memory,
  Project,
  Session,
  ShownMessage,
  ShownTask,
  Stage,
} from "../shared/protocol.generated";
import type { Plan } from "../shared/tasks";
import type { ProjectState } from "../src/states";
import type { Post } from "../src/team/messages";

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
    declined: [],
    asked: [],
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

export function message(said: Partial<ShownMessage> = {}): ShownMessage {
  return {
    messageId: "01J00000000000000000000001",
    projectId: "p1",
    targetId: "user",
    senderId: "claude-code",
    content: "The schema is ready.\nPlease look at it.",
    category: "info",
    priority: 3,
    subject: null,
    parentMessageId: null,
    threadId: null,
    handlings: {},
    createdAt: "2026-11-16T12:00:00Z",
    expiresAt: null,
    idempotencyKey: null,
    status: "delivered",
    ...said,
  };
}

export function post(said: Partial<Post> = {}): Post {
  const totals = { unread: 0, acknowledged: 0, sent: 0 };
  const nothing = { unread: [], acknowledged: [], sent: [], totals };
  return { project: project(), labels: new Map(), ...nothing, ...said };
}

export function task(said: Partial<ShownTask> = {}): ShownTask {
  return {
    taskId: "01J00000000000000000000002",
    projectId: "p1",
    title: "Weave the hem",
    description: "",
    status: "todo",
    priority: 3,
    assignedAgentId: "any",
    createdBy: null,
    doneWhen: null,
    evidence: null,
    createdAt: "2026-11-16T12:00:00Z",
    updatedAt: "2026-11-16T12:00:00Z",
    completedAt: null,
    autoCompleted: false,
    dependsOn: [],
    notes: [],
    updatedBy: null,
    idempotencyKey: null,
    heldBefore: false,
    doubtedAt: null,
    assignedLabel: "",
    needs: [],
    waitingFor: [],
    suggestion: null,
    links: [],
    ...said,
  };
}

export function plan(said: Partial<Plan> = {}): Plan {
  const nothing = { open: [], done: [], totals: { open: 0, done: 0 } };
  return { project: project(), labels: new Map(), ...nothing, ...said };
}

export function stage(said: Partial<Stage> = {}): Stage {
  const nothing = { startedAt: null, durationMs: null, note: null, error: null };
  return { name: "enrich", status: "pending", done: 0, total: 0, ...nothing, ...said };
}

export function job(said: Partial<Job> = {}, ...stages: Partial<Stage>[]): Job {
  const names = ["enrich", "embed", "dedup", "drift"] as const;
  return {
    jobId: "01J00000000000000000000003",
    projectId: "p1",
    sessionId: "01J00000000000000000000000",
    status: "processing",
    stages: names.map((name, index) => stage({ name, ...stages[index] })),
    agentId: null,
    provider: "rules",
    automatic: false,
    attempts: 1,
    events: 0,
    parked: [],
    created: 0,
    skipped: 0,
    superseded: 0,
    proposed: 0,
    tokens: 0,
    error: null,
    createdAt: "2026-11-16T12:00:00Z",
    endedAt: null,
    ...said,
  };
}

export function memory(said: Partial<Memory> = {}): Memory {
  return {
    memoryId: "01J00000000000000000000003",
    projectId: "p1",
    type: "decision",
    title: "Weave by hand",
    content: "The loom is too loud.",
    rationale: null,
    importance: 3,
    confidence: 3,
    entities: [],
    files: [],
    tags: [],
    agentId: null,
    sessionId: null,
    jobId: null,
    branch: null,
    evidence: [],
    anchors: [],
    verdict: null,
    checkedAt: null,
    status: "active",
    supersededBy: null,
    supersedes: null,
    covers: [],
    pinned: false,
    feedback: 0,
    idempotencyKey: null,
    occurredAt: "2026-11-16T12:00:00Z",
    createdAt: "2026-11-16T12:00:00Z",
    updatedAt: "2026-11-16T12:00:00Z",
    updatedBy: null,
    rule: null,
    review: null,
    holds: [],
    byModel: false,
    ...said,
  };
}

export function event(said: Partial<Event> = {}): Event {
  return {
    eventId: "01J00000000000000000000004",
    sessionId: "01J00000000000000000000000",
    kind: "capture",
    occurredAt: "2026-11-16T12:00:00Z",
    recordedAt: "2026-11-16T12:00:00Z",
    idempotencyKey: null,
    source: "vscode",
    agentId: null,
    files: [],
    commit: null,
    text: null,
    ...said,
  };
}

export function found(title: string, why: Found["why"]): Found {
  return { memory: memory({ title }), score: 1, why };
}
