import assert from "node:assert/strict";
import { test } from "node:test";
import { count, cut, duration, firstLine, moment, summary } from "../shared/formats";
import { session } from "./given";

const NOON = "2026-11-16T12:00:00Z";

function checkDuration(to: string, expected: string): void {
  test(`from noon to ${to} is ${expected}`, () => {
    assert.equal(duration(NOON, `2026-11-16T${to}Z`), expected);
  });
}

checkDuration("12:00:00", "<1m");
checkDuration("12:00:59", "<1m");
checkDuration("12:20:30", "20m");
checkDuration("13:00:00", "1h");
checkDuration("13:20:00", "1h 20m");
checkDuration("11:59:00", "<1m");

function checkMoment(time: Date, expected: string): void {
  test(`on 16 November 2026 a person says ${expected}`, () => {
    const now = new Date(2026, 10, 16, 12, 0);
    assert.equal(moment(time.toISOString(), now, "en-GB"), expected);
  });
}

checkMoment(new Date(2026, 10, 16, 0, 0), "0:00");
checkMoment(new Date(2026, 10, 15, 23, 59), "Yesterday 23:59");
checkMoment(new Date(2026, 10, 14, 9, 5), "14 Nov 9:05");
checkMoment(new Date(2025, 11, 31, 9, 5), "31 Dec 2025 9:05");

test("one is singular, everything else plural", () => {
  assert.deepEqual(
    [0, 1, 2, 1200].map((number) => count(number, "event")),
    ["0 events", "1 event", "2 events", "1,200 events"],
  );
});

test("a session says its events, all its files, its length and its source", () => {
  assert.equal(summary(session()), "12 events · 4 files · 1h 20m · VS Code");
});

test("only the first line of a text is shown, blank ones aside", () => {
  assert.deepEqual(["one\ntwo", "\n\none", ""].map(firstLine), ["one", "one", ""]);
});

test("what is too long is cut after a word, or where it must be", () => {
  const texts = ["Weave by day", "Weave by night", "src/weaving.py", "a very-long-word"];
  assert.deepEqual(
    texts.map((text) => cut(text, 12)),
    ["Weave by day", "Weave by…", "src/weaving…", "a very-long…"],
  );
});
