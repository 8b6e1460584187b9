import assert from "node:assert/strict";
import { test } from "node:test";
import {
  activeSessions,
  foremost,
  hasSessions,
  isCapturing,
  isPaused,
  ordered,
} from "../src/states";
import { projectState, session } from "./given";

const PAUSED = { paused: true, duration: "forever", since: null, until: null } as const;

test("the active session is first, then the newest", () => {
  const sessions = [
    session({ sessionId: "new", status: "closed", startedAt: "2026-11-16T10:00:00Z" }),
    session({ sessionId: "active", startedAt: "2026-11-15T10:00:00Z" }),
    session({ sessionId: "newer", status: "closed", startedAt: "2026-11-16T11:00:00.5+01:00" }),
    session({ sessionId: "old", status: "compacted", startedAt: "2026-11-01T10:00:00Z" }),
  ];
  assert.deepEqual(
    ordered(sessions).map(({ sessionId }) => sessionId),
    ["active", "newer", "new", "old"],
  );
});

test("of several active sessions the one with the latest event is first", () => {
  const projects = [
    projectState({ active: session({ sessionId: "a", lastEventAt: "2026-11-16T10:00:00Z" }) }),
    projectState(),
    projectState({ active: session({ sessionId: "b", lastEventAt: "2026-11-16T11:00:00Z" }) }),
  ];
  assert.deepEqual(
    activeSessions(projects).map(({ sessionId }) => sessionId),
    ["b", "a"],
  );
});

test("a window can be paused in one project and capture in another", () => {
  const projects = [projectState(), projectState({ capture: PAUSED })];
  assert.deepEqual([isPaused(projects), isCapturing(projects)], [true, true]);
  assert.deepEqual([isPaused([]), isCapturing([])], [false, false]);
});

test("one project with a session is enough not to be empty", () => {
  const page = { sessions: [session()], total: 1, next: null };
  assert.deepEqual(
    [hasSessions([projectState()]), hasSessions([projectState(), projectState({ page })])],
    [false, true],
  );
});

test("our own sidecar that is too old is renewed, also where another one is too old, too", () => {
  const outdated = (isOwn: boolean) => ({ kind: "outdated", reason: "old", isOwn }) as const;
  const failed = { kind: "failed", reason: "no" } as const;
  assert.deepEqual(foremost([outdated(false), failed, outdated(true)]), outdated(true));
  assert.deepEqual(foremost([failed, outdated(false)]), failed);
  assert.equal(foremost([]), undefined);
});
