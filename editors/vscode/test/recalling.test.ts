import assert from "node:assert/strict";
import { test } from "node:test";
import { countActive, NO_FILTERS, paramsOf, toggled } from "../shared/filters";
import type { Neighbour, PurgeReport } from "../shared/protocol.generated";
import { kept, linkName, purged, remarks } from "../shared/remarks";
import { divide } from "../shared/results";
import { found, memory } from "./given";

test("without filters all that is active is asked for", () => {
  assert.deepEqual(paramsOf(NO_FILTERS, 0), { types: [], statuses: ["active"] });
  assert.equal(countActive(NO_FILTERS), 0);
});

test("every filter is asked for, and counted", () => {
  const filters = {
    types: ["fact"],
    status: "",
    isPinned: true,
    path: " src/ ",
    tag: "#api",
    agent: "codex",
    days: 7,
  } as const;
  const now = Date.parse("2026-11-16T12:00:59Z");
  assert.deepEqual(paramsOf(filters, now), {
    types: ["fact"],
    statuses: [],
    pinned: true,
    paths: ["src/"],
    tags: ["api"],
    agentId: "codex",
    since: "2026-11-09T12:00:00.000Z",
  });
  assert.deepEqual(paramsOf(filters, now), paramsOf(filters, now - 50_000));
  assert.equal(countActive(filters), 7);
  assert.deepEqual([toggled(["a"], "b"), toggled(["a", "b"], "a")], [["a", "b"], ["b"]]);
});

test("what says the words comes before what is near to it", () => {
  const { direct, related } = divide([
    found("company", { company: 2, meaning: 0.1 }),
    found("a word", { words: 0.3, company: 2 }),
    found("meaning", { meaning: 0.4 }),
    found("word for word", { words: 1, meaning: 0.5 }),
    found("neither", { recency: 1 }),
  ]);
  assert.deepEqual(
    direct.map(({ title }) => title),
    ["word for word", "meaning", "a word"],
  );
  assert.deepEqual(
    related.map(({ title }) => title),
    ["company"],
  );
});

test("nothing is related to nonsense", () => {
  const { direct, related } = divide([
    found("any files", { company: 0.4, meaning: 0.1 }),
    found("almost", { meaning: 0.25 }),
    found("recent", { recency: 1, meaning: 0.05 }),
  ]);
  assert.deepEqual([direct, related.map(({ title }) => title)], [[], ["almost"]]);
});

test("what one should know of a memory is said plainly", () => {
  const words = (said: Parameters<typeof memory>[0]) => remarks(memory(said)).map(([text]) => text);
  assert.deepEqual(words({ verdict: "fresh", feedback: 1 }), []);
  assert.deepEqual(words({ status: "superseded", verdict: "changed" }), [
    "superseded",
    "code changed",
  ]);
  assert.deepEqual(words({ feedback: -1, verdict: "gone" }), ["marked wrong", "code gone"]);
  assert.deepEqual(words({ feedback: -0.5, status: "stale" }), ["stale", "marked stale"]);
});

test("forgetting says what was removed and whether that was proven", () => {
  const report: PurgeReport = {
    memories: 1,
    events: 0,
    filesRewritten: 2,
    filesDeleted: 0,
    filesSearched: 31,
    remaining: [],
    saidElsewhere: false,
    verified: true,
  };
  assert.equal(
    purged(report),
    "Forgotten: 1 memory gone from 2 files. 31 files searched again, nothing left.",
  );
  assert.match(purged({ ...report, saidElsewhere: true }), /still do\.$/);
  const left = purged({ ...report, remaining: ["a.jsonl"], verified: false });
  assert.match(left, /still stands in a\.jsonl/);
});

test("writing says what became of it", () => {
  const one = memory({ title: "T" });
  assert.equal(kept({ outcome: "created", memory: one }), "Kept.");
  assert.match(kept({ outcome: "skipped", memory: one }), /known already: “T”/);
  assert.match(kept({ outcome: "superseded", memory: one }), /replaces/);
});

test("a link is read from the memory it is seen at", () => {
  const link = { type: "causes", isSource: false } as Neighbour;
  assert.equal(linkName(link), "causes");
  assert.equal(linkName({ ...link, isSource: true }), "caused by");
});
