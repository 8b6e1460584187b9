import assert from "node:assert/strict";
import { test } from "node:test";
import { afterFirst, byDay, byteSize, dayName, title } from "../shared/stories";
import { session } from "./given";

const NOW = new Date("2026-11-16T18:00:00");

test("a session is called by its first sentence, else by its files", () => {
  const named = (change: object) => title(session(change));
  assert.equal(named({ summary: "Use SQLite. It needs no server." }), "Use SQLite");
  assert.equal(named({ summary: null, filesModified: [] }), "Work without files");
  assert.equal(named({ summary: null, filesModified: ["a.py"], filesOverflow: 0 }), "a.py");
  const many = { summary: null, filesModified: ["a.py", "b.py"], filesOverflow: 3 };
  assert.equal(named(many), "a.py and 4 more files");
});

test("days have names that people use", () => {
  const name = (time: string) => dayName(new Date(time), NOW, "en-GB");
  assert.equal(name("2026-11-16T00:01:00"), "Today");
  assert.equal(name("2026-11-15T23:59:00"), "Yesterday");
  assert.equal(name("2026-11-09T12:00:00"), "Monday 9 November");
  assert.equal(name("2025-12-31T12:00:00"), "Wednesday, 31 December 2025");
});

test("sessions of one day stand together, in their order", () => {
  const times = ["2026-11-16T12:00:00", "2026-11-16T08:00:00", "2026-11-15T08:00:00"];
  const days = byDay(
    times.map((startedAt) => ({ startedAt })),
    NOW,
    "en-GB",
  );
  assert.deepEqual(
    days.map(({ name, items }) => [name, items.length]),
    [
      ["Today", 2],
      ["Yesterday", 1],
    ],
  );
});

test("what a summary says after its first sentence stands by itself", () => {
  assert.equal(afterFirst("Weave tighter. Also: dye. Mainly in src."), "Also: dye. Mainly in src.");
  assert.equal(afterFirst("Weave tighter"), "");
});

test("sizes are told as people do", () => {
  assert.deepEqual([1, 999, 3_400, 56_000, 1_234_567].map(byteSize), [
    "1 byte",
    "999 bytes",
    "3.4 kB",
    "56 kB",
    "1.2 MB",
  ]);
});
