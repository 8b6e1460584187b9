/** The context keys that package.json's `when` clauses read. */

import * as vscode from "vscode";
import { isRunning } from "../shared/jobs";
import type { Job } from "../shared/protocol.generated";
import type { Plan } from "../shared/tasks";
import {
  activeSessions,
  hasSessions,
  isCapturing,
  isPaused,
  type ProjectState,
  type SidecarState,
} from "./states";
import type { Post } from "./team/messages";

export function showContexts(
  state: SidecarState,
  projects: readonly ProjectState[] | undefined,
): void {
  const known = projects ?? [];
  set("threadline.state", state.kind);
  set("threadline.active", activeSessions(known).length > 0);
  set("threadline.capturing", isCapturing(known));
  set("threadline.paused", isPaused(known));
  set("threadline.empty", projects !== undefined && !hasSessions(known));
}

/** VS Code ticks off a step of a walkthrough only when it hears of it after that was opened: so it is said again. */
export function showSteps(
  state: SidecarState,
  projects: readonly ProjectState[] | undefined,
): void {
  pulse("threadline.hasStarted", state.kind === "running");
  pulse("threadline.hasRecorded", hasSessions(projects ?? []));
}

/** Whether there is nothing to show, once that is known. */
export function showEmptiness(
  inbox: readonly Post[] | undefined,
  board: readonly Plan[] | undefined,
): void {
  const hasPost = inbox?.some(
    ({ totals }) => totals.unread + totals.acknowledged + totals.sent > 0,
  );
  const hasTasks = board?.some(({ totals }) => totals.open + totals.done > 0);
  set("threadline.inboxEmpty", hasPost === false);
  set("threadline.tasksEmpty", hasTasks === false);
}

export function showJobs(jobs: readonly Job[] | undefined): void {
  set("threadline.jobsEmpty", jobs?.length === 0);
  set("threadline.jobRunning", jobs?.some(isRunning) === true);
  set("threadline.jobFailed", jobs?.some(({ status }) => status === "failed") === true);
}

function set(key: string, value: unknown): void {
  void vscode.commands.executeCommand("setContext", key, value);
}

/** What was true before is no news, so it is true for a moment only. */
function pulse(key: string, isTrue: boolean): void {
  if (!isTrue) return;
  set(key, true);
  set(key, false);
}
