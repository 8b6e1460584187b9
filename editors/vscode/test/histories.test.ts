import assert from "node:assert/strict";
import { test } from "node:test";
import { importOutcome } from "../shared/histories";

function check(found: number, imported: number, author: string | null, expected: string): void {
  test(`${imported} of ${found} commits by ${author ?? "everyone"}: ${expected}`, () => {
    const done = { found, imported, author, alreadyKnown: found - imported, sessions: 2 };
    assert.equal(importOutcome({ ...done, projectId: "p" }), expected);
  });
}

check(1_200, 1_200, null, "1,200 commits imported into 2 sessions.");
check(5, 1, "<ada@example.org>", "1 commit imported into 2 sessions.");
check(5, 0, "<ada@example.org>", "Everything was imported before.");
check(0, 0, "<ada@example.org>", "None of the commits here are yours: import everyone's.");
check(0, 0, null, "Nothing was committed here yet.");
