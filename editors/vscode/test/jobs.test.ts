import assert from "node:assert/strict";
import { test } from "node:test";
import {
  enrichmentWords,
  made,
  obstacle,
  outcome,
  percentage,
  sorted,
  standing,
  timeSpan,
  workTime,
} from "../shared/jobs";
import { job } from "./given";

const NOW = new Date("2026-11-16T12:00:10Z");
const DONE = { status: "completed", durationMs: 40 } as const;
const UNDER_WAY = {
  status: "processing",
  startedAt: "2026-11-16T12:00:08Z",
  done: 3,
  total: 12,
} as const;

test("what runs comes first, then what failed, then the newest", () => {
  const all = [
    job({ jobId: "1", status: "completed" }),
    job({ jobId: "2", status: "failed" }),
    job({ jobId: "3", status: "completed" }),
    job({ jobId: "4", status: "processing" }),
    job({ jobId: "5", status: "cancelled" }),
  ];
  assert.deepEqual(
    sorted(all).map(({ jobId }) => jobId),
    ["4", "2", "5", "3", "1"],
  );
});

test("a stage under way counts until now", () => {
  assert.equal(workTime(job({}, DONE, UNDER_WAY), NOW), 2040);
  assert.equal(workTime(job({ status: "pending" }), NOW), 0);
});

test("each stage is a quarter of the way", () => {
  assert.deepEqual(
    [job(), job({}, DONE), job({}, DONE, UNDER_WAY), job({}, DONE, DONE, DONE, DONE)].map(
      percentage,
    ),
    [0, 25, 31, 100],
  );
});

test("time spans are as exact as it matters", () => {
  assert.deepEqual([0.2, 40.4, 1234, 12_345, 60_000, 185_000].map(timeSpan), [
    "<1 ms",
    "40 ms",
    "1.2 s",
    "12 s",
    "1m",
    "3m 5s",
  ]);
});

test("a job says in a few words how it stands", () => {
  const failed = { status: "failed", error: "no model\nat all" } as const;
  assert.deepEqual(
    [
      job({ status: "pending" }),
      job({}, DONE, UNDER_WAY),
      job(failed, { status: "failed" }),
      job({ status: "cancelled" }),
      job({ status: "completed", created: 1200, skipped: 1 }),
    ].map(standing),
    [
      "waits for its turn",
      "embed, 3 of 12",
      "failed in enrich: no model",
      "cancelled",
      "1,200 memories, 1 known already",
    ],
  );
  assert.equal(outcome(job({ created: 1, superseded: 2 })), "1 memory, 2 brought up to date");
});

test("memory can be made while there is something nobody has read, and nobody reads", () => {
  const told = (messageCount: number, unprocessed: number, ...jobs: ReturnType<typeof job>[]) =>
    obstacle({ messageCount, unprocessed }, jobs);
  assert.equal(told(12, 3), undefined);
  assert.equal(told(12, 3, job({ status: "failed" })), undefined);
  assert.equal(told(12, 3, job()), "Memory is being made.");
  assert.equal(told(12, 0), "All of its 12 events were read already.");
  assert.equal(told(1, 0), "Its one event was read already.");
});

test("memory is said to be made only where some was", () => {
  const read = { enrichmentStatus: "completed", summary: null } as const;
  const none = job({ status: "completed", created: 0 });
  assert.equal(enrichmentWords({ ...read, summary: "Moor by the bow" }), "memory made");
  assert.equal(enrichmentWords(read, [none, job({ created: 2 })]), "memory made");
  assert.equal(enrichmentWords(read, [none]), "read, nothing kept");
  assert.equal(enrichmentWords(read), undefined);
  assert.equal(enrichmentWords({ ...read, enrichmentStatus: "none" }), "no memory yet");
});

test("who asked for memory is told what came of it", () => {
  assert.equal(made(job({ created: 2, skipped: 1 })), "Memory made: 2 memories, 1 known already.");
  assert.equal(made(job({ skipped: 1 })), "All of it was known already.");
  assert.equal(made(job({ proposed: 2 })), "Memory made: 0 memories, 2 proposed.");
  assert.equal(made(job({})), "Nothing in it was worth keeping.");
});
