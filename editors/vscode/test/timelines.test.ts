import assert from "node:assert/strict";
import { test } from "node:test";
import { daysUpTo } from "../pages/views/timeline/days";
import { figures, longestRun, step } from "../pages/views/timeline/figures";
import { beads, draw, hours, place, spread } from "../pages/views/timeline/marks";
import type { MemoryMark, SessionMark, Timeline } from "../shared/protocol.generated";

/** Local times, so that the tests hold in any zone. */
const at = (time: string) => new Date(`2026-11-16T${time}:00`).toISOString();

function mark(said: Partial<SessionMark> = {}): SessionMark {
  return {
    sessionId: "01J00000000000000000000000",
    status: "closed",
    startedAt: at("09:00"),
    lastEventAt: at("10:00"),
    sources: ["vscode"],
    summary: null,
    filesModified: ["a.py"],
    filesOverflow: 0,
    events: 4,
    saves: 2,
    commitCount: 2,
    commits: [
      { sha: "a", subject: "One", at: at("09:05") },
      { sha: "b", subject: "Two", at: at("09:05") },
    ],
    activity: [2, 0, 0, 2],
    ...said,
  };
}

function memory(time: string, type: MemoryMark["type"] = "fact"): MemoryMark {
  return { memoryId: time, type, title: time, at: at(time), sessionId: null };
}

function timeline(said: Partial<Timeline> = {}): Timeline {
  return { sessions: [mark()], memories: [], leftOut: {}, earlier: null, ...said };
}

test("a day has its blocks, their pulse, its commits and its beads", () => {
  const day = draw(timeline({ memories: [memory("09:06")] })).get("2026-11-16");
  assert.equal(day?.blocks.length, 1);
  assert.deepEqual(day?.beats, [
    { day: "2026-11-16", from: 540, to: 555, count: 2 },
    { day: "2026-11-16", from: 585, to: 600, count: 2 },
  ]);
  assert.deepEqual([day?.commits, day?.commitCount], [[545], 2]);
  assert.deepEqual([day?.beads.length, day?.memoryCount, day?.events], [1, 1, 4]);
});

test("a memory of a time without sessions is shown all the same", () => {
  const day = draw(timeline({ sessions: [], memories: [memory("23:59")] })).get("2026-11-16");
  assert.deepEqual([day?.beads.length, day?.blocks.length], [1, 0]);
});

test("memories of one type and time are one bead, others stand beside it", () => {
  const found = beads([memory("09:00"), memory("09:05"), memory("09:02", "decision")]);
  assert.deepEqual(
    found.map(({ type, memories, minute }) => [type, memories.length, minute]),
    [
      ["decision", 1, 542],
      ["fact", 2, 554],
    ],
  );
});

test("beads stay in their day", () => {
  const types = ["decision", "constraint", "fact", "skill", "task", "episodic"] as const;
  for (const { minute } of beads(types.map((type) => memory("23:58", type))))
    assert.ok(minute < 1440);
});

test("a moment is wide enough to be hit, and does not leave its day", () => {
  const [early] = spread([{ from: 600, to: 600 }]);
  assert.ok(early && place(early).width > 0.5);
  const [late] = spread([{ from: 1439, to: 1440 }]);
  assert.ok(late && late.from < late.to && late.to <= 1440);
});

test("sessions that begin almost together do not hide each other", () => {
  const found = spread([
    { from: 601, to: 601 },
    { from: 600, to: 600 },
    { from: 602, to: 700 },
    { from: 700, to: 720 },
  ]);
  assert.deepEqual(
    found.map(({ from, to }) => [from, to]),
    [
      [600, 609],
      [609, 618],
      [618, 700],
      [700, 720],
    ],
  );
});

test("hours are those of the clock on the wall", () => {
  const found = hours([mark()]);
  assert.deepEqual([found[9], found[10], found.length], [4, 0, 24]);
});

test("figures tell what there was", () => {
  const told = timeline({ memories: [memory("09:06")], leftOut: { memories: 2 } });
  const days = daysUpTo(new Date("2026-11-18T12:00:00"), 14);
  const found = figures(told, days, draw(told));
  assert.deepEqual([found.events, found.commits, found.sessions, found.memories], [4, 2, 1, 3]);
  assert.deepEqual([found.activeDays, found.longestRun, found.busiestHour], [1, 1, 9]);
  assert.equal(found.busiestDay?.key, "2026-11-16");
});

test("nothing has no figures to boast of", () => {
  const found = figures(timeline({ sessions: [] }), daysUpTo(new Date(), 14), new Map());
  assert.deepEqual(
    [found.busiestDay, found.busiestHour, found.longestRun],
    [undefined, undefined, 0],
  );
});

test("steps and runs", () => {
  assert.deepEqual(
    [0, 1, 25, 100].map((events) => step(events, 100)),
    [0, 1, 2, 4],
  );
  assert.equal(longestRun([true, true, false, true]), 2);
});
