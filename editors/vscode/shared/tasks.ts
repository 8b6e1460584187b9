/** What is to be done: grouped by state, and how a task reads in a line. */

import { count } from "./formats";
import { ANYONE, agentName, type Labels, priorityName } from "./names";
import type { Project, ShownTask } from "./protocol.generated";

export type TaskStatus = ShownTask["status"];

/** The tasks of one project. */
export interface Plan {
  readonly project: Project;
  readonly labels: Labels;
  /** Those that are not done, the most urgent first. */
  readonly open: readonly ShownTask[];
  /** The latest that are done. */
  readonly done: readonly ShownTask[];
  readonly totals: { readonly open: number; readonly done: number };
}

export interface Column {
  readonly status: TaskStatus;
  readonly name: string;
  readonly tasks: readonly ShownTask[];
  /** How many there are in all, shown or not. */
  readonly total: number;
}

export const STATUS_NAMES: Readonly<Record<TaskStatus, string>> = {
  in_progress: "In Progress",
  todo: "To Do",
  blocked: "Blocked",
  backlog: "Backlog",
  done: "Done",
};

export const OPEN: readonly TaskStatus[] = ["in_progress", "todo", "blocked", "backlog"];

/** The states that hold a task, in the order of work; what is done comes last, the latest first. */
export function columns(plans: readonly Plan[]): Column[] {
  const open = plans.flatMap((plan) => plan.open);
  const all = [...OPEN.map((status) => column(status, inState(open, status))), finished(plans)];
  return all.filter(({ total }) => total > 0);
}

/** How pressing it is, who does it, and what holds it up. */
export function facts(task: ShownTask, labels: Labels): string {
  const { assignedAgentId, waitingFor, priority, status } = task;
  const isOpen = status !== "done";
  return [
    isOpen && priorityName(priority),
    assignedAgentId !== ANYONE && agentName(assignedAgentId, labels),
    isOpen && waitingFor.length > 0 && `waits for ${count(waitingFor.length, "task")}`,
  ]
    .filter(Boolean)
    .join(" · ");
}

/** The titles of what a task waits for; all of that is open, so it is at hand. */
export function obstacles(task: ShownTask, plans: readonly Plan[]): string[] {
  const titles = new Map(plans.flatMap(({ open }) => open.map((one) => [one.taskId, one.title])));
  return task.waitingFor.map((id) => titles.get(id) ?? id);
}

function inState(tasks: readonly ShownTask[], status: TaskStatus): ShownTask[] {
  const isHeldUp = (task: ShownTask) => Number(task.waitingFor.length > 0);
  return tasks
    .filter((task) => task.status === status)
    .sort((a, b) => b.priority - a.priority || isHeldUp(a) - isHeldUp(b));
}

function column(status: TaskStatus, tasks: readonly ShownTask[]): Column {
  return { status, name: STATUS_NAMES[status], tasks, total: tasks.length };
}

function finished(plans: readonly Plan[]): Column {
  const when = ({ completedAt, updatedAt }: ShownTask) => Date.parse(completedAt ?? updatedAt);
  const tasks = plans.flatMap(({ done }) => done).sort((a, b) => when(b) - when(a));
  const total = plans.reduce((sum, { totals }) => sum + totals.done, 0);
  return { ...column("done", tasks), total };
}
