/** Tasks in columns, in the order of work. */

import type { NewTask, ShownTask } from "../../../shared/protocol.generated";
import { type Column, STATUS_NAMES, type TaskStatus } from "../../../shared/tasks";
import { isLater } from "../../drafts";

export const ORDER: readonly TaskStatus[] = ["backlog", "todo", "in_progress", "blocked", "done"];

const MARK = /^(?:[-*+•]|\d+[.)]|\[[ xX]?\])\s+/;

/** Every state with its tasks; of those that are done so many of the latest, but all are counted. */
export function columns(tasks: readonly ShownTask[], total: number, done: number): Column[] {
  const unseen = total - tasks.length;
  return ORDER.map((status) => {
    const own = tasks.filter((task) => task.status === status);
    const isDone = status === "done";
    return {
      status,
      name: STATUS_NAMES[status],
      tasks: isDone ? own.slice(0, done) : own,
      total: own.length + (isDone ? unseen : 0),
    };
  });
}

/** Where a task is about to be. */
export interface Move {
  readonly status: TaskStatus;
  /** Which version of the task is there, once that is known. */
  readonly until?: string;
}

/** Tasks as they will be once what was asked for is done; what is told anew is shown as it is. */
export function moved(tasks: readonly ShownTask[], moves: ReadonlyMap<string, Move>): ShownTask[] {
  return tasks.map((task) => {
    const move = moves.get(task.taskId);
    const isAhead = move && (!move.until || isLater(move.until, task.updatedAt));
    return isAhead ? { ...task, status: move.status } : task;
  });
}

/** The state beside a task's own; undefined at the edge of the board. */
export function beside(status: TaskStatus, step: 1 | -1): TaskStatus | undefined {
  return ORDER[ORDER.indexOf(status) + step];
}

/** One task a line, as people write lists; what is indented says more about the line before it. */
export function planOf(text: string): NewTask[] {
  const plan: { title: string; description: string }[] = [];
  for (const line of text.split("\n")) {
    if (!line.trim()) continue;
    const last = plan.at(-1);
    if (last && /^(?:\s{2,}|\t)/.test(line) && !MARK.test(line.trim()))
      last.description = [last.description, line.trim()].filter(Boolean).join("\n");
    else plan.push({ title: line.trim().replace(MARK, "").replace(MARK, ""), description: "" });
  }
  return plan.filter(({ title }) => title);
}
