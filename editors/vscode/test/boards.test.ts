import assert from "node:assert/strict";
import { test } from "node:test";
import { beside, columns, moved, planOf } from "../pages/views/tasks/boards";
import { task } from "./given";

test("every state is a column, and of what is done the latest are shown and all counted", () => {
  const tasks = [
    task({ taskId: "1", status: "todo" }),
    task({ taskId: "2", status: "done" }),
    task({ taskId: "3", status: "done" }),
  ];
  assert.deepEqual(
    columns(tasks, 10, 1).map(({ name, tasks, total }) => [name, tasks.length, total]),
    [
      ["Backlog", 0, 0],
      ["To Do", 1, 1],
      ["In Progress", 0, 0],
      ["Blocked", 0, 0],
      ["Done", 1, 9],
    ],
  );
});

test("a move is shown at once, until the task is told anew", () => {
  const [at, later] = ["2026-11-16T12:00:00Z", "2026-11-16T12:01:00Z"];
  const status = (updatedAt: string, until?: string) => {
    const move = { status: "done", ...(until ? { until } : {}) } as const;
    return moved([task({ taskId: "1", updatedAt })], new Map([["1", move]]))[0]?.status;
  };
  assert.deepEqual([status(at), status(later)], ["done", "done"]);
  assert.deepEqual([status(at, later), status(later, later)], ["done", "todo"]);
});

test("a task goes from column to column, and not beyond the board", () => {
  assert.equal(beside("todo", 1), "in_progress");
  assert.equal(beside("todo", -1), "backlog");
  assert.equal(beside("done", 1), undefined);
  assert.equal(beside("backlog", -1), undefined);
});

test("a list as people write it becomes tasks", () => {
  const text =
    "- Spin the yarn\n  from grey wool\n  by Friday\n\n2. Dye it\n* [ ] Weave\n- [x] Hem\n\n   ";
  assert.deepEqual(planOf(text), [
    { title: "Spin the yarn", description: "from grey wool\nby Friday" },
    { title: "Dye it", description: "" },
    { title: "Weave", description: "" },
    { title: "Hem", description: "" },
  ]);
  assert.deepEqual(planOf("  - indented\n  - list"), [
    { title: "indented", description: "" },
    { title: "list", description: "" },
  ]);
  assert.deepEqual(planOf("\n"), []);
});
