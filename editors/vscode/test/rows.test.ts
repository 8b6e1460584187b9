import assert from "node:assert/strict";
import { test } from "node:test";
import { clock } from "../shared/formats";
import { shortFacts, shortTitle } from "../src/tree/rows";
import { session } from "./given";

function check(said: Parameters<typeof session>[0], expected: string): void {
  test(`a row says “${expected}”`, () => {
    assert.equal(shortTitle(session(said)), expected);
  });
}

check({ summary: "Use linen because cotton shrinks. It does." }, "Use linen because…");
check({ filesModified: ["src/looms/weaving.py"], filesOverflow: 0 }, "weaving.py");
check({ filesModified: ["src/a.py", "src/b.py"], filesOverflow: 0 }, "a.py +1");
check({ filesModified: [], filesOverflow: 0 }, "Work without files");

test("a row counts first, and tells the time last", () => {
  const time = clock(session().startedAt);
  assert.equal(shortFacts(session()), `12 events · 1h 20m · VS Code · ${time}`);
});
