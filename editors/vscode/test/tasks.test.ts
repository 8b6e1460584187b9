import assert from "node:assert/strict";
import { test } from "node:test";
import { columns, facts, obstacles } from "../shared/tasks";
import { plan, task } from "./given";

const LABELS = new Map([["codex-2", "Codex (tests)"]]);

test("tasks are grouped by state in the order of work, and an empty state is not shown", () => {
  const open = [
    task({ taskId: "a", status: "backlog" }),
    task({ taskId: "b" }),
    task({ taskId: "c", status: "in_progress" }),
    task({ taskId: "d", priority: 5, waitingFor: ["b"] }),
    task({ taskId: "e", priority: 5 }),
  ];
  const done = [task({ taskId: "f", status: "done" })];
  const shown = columns([plan({ open, done, totals: { open: 5, done: 40 } })]);
  assert.deepEqual(
    shown.map(({ name, total, tasks }) => [
      name,
      total,
      tasks.map(({ taskId }) => taskId).join(""),
    ]),
    [
      ["In Progress", 1, "c"],
      ["To Do", 3, "edb"],
      ["Backlog", 1, "a"],
      ["Done", 40, "f"],
    ],
  );
});

test("what is done in several projects comes the latest first", () => {
  const ended = (taskId: string, hour: number) =>
    task({ taskId, status: "done", completedAt: `2026-11-16T${hour}:00:00Z` });
  const totals = { open: 0, done: 1 };
  const plans = [
    plan({ done: [ended("a", 10)], totals }),
    plan({ done: [ended("b", 11)], totals }),
  ];
  const [done] = columns(plans);
  assert.deepEqual([done?.total, done?.tasks.map(({ taskId }) => taskId)], [2, ["b", "a"]]);
});

test("no task is no group", () => {
  assert.deepEqual(columns([plan()]), []);
});

function checkFacts(said: Parameters<typeof task>[0], expected: string): void {
  test(`${JSON.stringify(said)} reads “${expected}”`, () => {
    assert.equal(facts(task(said), LABELS), expected);
  });
}

checkFacts({}, "");
checkFacts({ priority: 5, assignedAgentId: "codex-2" }, "urgent · Codex (tests)");
checkFacts({ priority: 1, waitingFor: ["a", "b"] }, "lowest · waits for 2 tasks");
checkFacts({ assignedAgentId: "user" }, "you");
checkFacts(
  { status: "done", priority: 5, assignedAgentId: "claude-code", waitingFor: ["a"] },
  "Claude Code",
);

test("what a task waits for is named", () => {
  const plans = [plan({ open: [task({ taskId: "a", title: "Spin" })] })];
  assert.deepEqual(obstacles(task({ waitingFor: ["a", "b"] }), plans), ["Spin", "b"]);
});
