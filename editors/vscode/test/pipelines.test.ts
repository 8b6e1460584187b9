import assert from "node:assert/strict";
import { test } from "node:test";
import { neighbour } from "../pages/keys";
import { segments, shares } from "../pages/pipelines";
import { job } from "./given";

const NOW = new Date("2026-11-16T12:00:10Z");

test("stages are as wide as they took long, and none is too narrow to read", () => {
  const [long = 0, short = 0, ...rest] = shares([900, 100, 0, 0]);
  assert.ok(long > 4 * (short - 0.13));
  assert.ok(rest.every((width) => width >= 0.13));
  assert.ok(Math.abs(long + short + rest.reduce((sum, one) => sum + one, 0) - 1) < 1e-9);
  assert.deepEqual(shares([0, 0]), [0.5, 0.5]);
});

test("a running stage says how far it is, or that nobody can say", () => {
  const begun = { status: "processing", startedAt: "2026-11-16T12:00:08Z" } as const;
  const [half, unknown, waiting] = segments(
    job({}, { ...begun, done: 3, total: 6 }, begun, { status: "pending" }),
    NOW,
  );
  assert.deepEqual([half?.filled, half?.note, half?.time], [0.5, "3 of 6", "2.0 s"]);
  assert.deepEqual([unknown?.filled, unknown?.note], [undefined, ""]);
  assert.deepEqual([waiting?.filled, waiting?.time], [0, ""]);
});

test("what failed tells its error, what was cancelled did not fail", () => {
  const ended = { status: "failed", error: "no model" } as const;
  const [failed] = segments(job({ status: "failed" }, ended), NOW);
  assert.deepEqual([failed?.status, failed?.error], ["failed", "no model"]);
  const [cancelled] = segments(job({ status: "cancelled" }, ended), NOW);
  assert.deepEqual([cancelled?.status, cancelled?.error], ["cancelled", undefined]);
});

test("arrow keys go round, Home and End to the ends", () => {
  const keys = ["ArrowRight", "ArrowLeft", "Home", "End", "a"];
  assert.deepEqual(
    keys.map((key) => neighbour(["x", "y", "z"], "z", key)),
    ["x", "y", "x", "z", undefined],
  );
  assert.equal(neighbour(["x", "y", "z"], "x", "ArrowLeft"), "z");
});
