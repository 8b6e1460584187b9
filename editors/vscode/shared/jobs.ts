/** How the making of memory reads to people: how far a job is, and what came of it. */

import { count, firstLine } from "./formats";
import type { Job, Session, Stage } from "./protocol.generated";

export const ENRICHMENTS: Readonly<Record<Session["enrichmentStatus"], string>> = {
  none: "no memory yet",
  pending: "memory waits",
  processing: "making memory",
  completed: "memory made",
  failed: "memory failed",
};

export const PROVIDERS: Readonly<Record<Job["provider"], string>> = {
  rules: "own rules",
  http: "language model",
  editor: "editor's model",
  claude: "Claude Code",
  codex: "Codex",
  copilot: "Copilot",
  gemini: "Gemini CLI",
  opencode: "OpenCode",
};

export const STAGE_HINTS: Readonly<Record<Stage["name"], string>> = {
  enrich: "Reads the events and drafts what is worth keeping",
  embed: "Learns what the drafts mean",
  dedup: "Leaves out what is known already",
  drift: "Holds memories against the code as it is now",
};

const NOTHING_KEPT = "read, nothing kept";
const SECOND = 1000;
const MINUTE = 60 * SECOND;

/**
 * What came of a session, in a few words. One that was read says so itself only where a memory sums it up; else its
 * jobs do, and without them nothing is said.
 */
export function enrichmentWords(
  { enrichmentStatus, summary }: Pick<Session, "enrichmentStatus" | "summary">,
  jobs: readonly Job[] = [],
): string | undefined {
  if (enrichmentStatus !== "completed" || summary) return ENRICHMENTS[enrichmentStatus];
  if (jobs.length === 0) return undefined;
  return jobs.some(({ created }) => created > 0) ? ENRICHMENTS.completed : NOTHING_KEPT;
}

export function isRunning({ status }: Job): boolean {
  return status === "pending" || status === "processing";
}

/** What runs first, then what failed and was not made good, then the newest. */
export function sorted(jobs: readonly Job[]): Job[] {
  const rank = (job: Job) => (isRunning(job) ? 2 : job.status === "failed" ? 1 : 0);
  return [...jobs].sort((a, b) => rank(b) - rank(a) || b.jobId.localeCompare(a.jobId));
}

/** The stage it is in, or ended in; undefined once all are done. */
export function currentStage(job: Job): Stage | undefined {
  return job.stages.find(({ status }) => status !== "completed");
}

/** How long its stages took, as far as they came; what is under way counts until now. */
export function workTime(job: Job, now: Date): number {
  return job.stages.reduce((sum, stage) => sum + stageTime(stage, now), 0);
}

export function stageTime({ status, startedAt, durationMs }: Stage, now: Date): number {
  if (durationMs !== null) return durationMs;
  if (status !== "processing" || !startedAt) return 0;
  return Math.max(now.getTime() - Date.parse(startedAt), 0);
}

/** Of all that is to be done, in percent. */
export function percentage(job: Job): number {
  const share = job.stages.reduce((sum, stage) => sum + stageShare(stage), 0);
  return Math.floor((100 * share) / Math.max(job.stages.length, 1));
}

/** How much of a stage is done, from 0 to 1. */
export function stageShare({ status, done, total }: Stage): number {
  if (status === "completed") return 1;
  return status === "processing" && total > 0 ? Math.min(done / total, 1) : 0;
}

/** `40 ms`, `1.2 s`, `3m 5s`: as exact as it matters. */
export function timeSpan(milliseconds: number): string {
  if (milliseconds < 1) return "<1 ms";
  if (milliseconds < SECOND) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 10 * SECOND) return `${(milliseconds / SECOND).toFixed(1)} s`;
  if (milliseconds < MINUTE) return `${Math.round(milliseconds / SECOND)} s`;
  const seconds = Math.round(milliseconds / SECOND);
  return [`${Math.floor(seconds / 60)}m`, seconds % 60 && `${seconds % 60}s`]
    .filter(Boolean)
    .join(" ");
}

/** What it has made, and what of it was not new. */
export function outcome({ created, proposed, skipped, superseded }: Job): string {
  return [
    created === 1 ? "1 memory" : `${created.toLocaleString("en")} memories`,
    proposed > 0 && `${proposed.toLocaleString("en")} proposed`,
    skipped > 0 && `${skipped.toLocaleString("en")} known already`,
    superseded > 0 && `${superseded.toLocaleString("en")} brought up to date`,
  ]
    .filter(Boolean)
    .join(", ");
}

/** What a person is told when a job has ended well. */
export function made(job: Job): string {
  if (job.created + job.proposed > 0) return `Memory made: ${outcome(job)}.`;
  return job.skipped > 0 ? "All of it was known already." : "Nothing in it was worth keeping.";
}

/** In a few words how a job stands. */
export function standing(job: Job): string {
  const stage = currentStage(job);
  switch (job.status) {
    case "pending":
      return "waits for its turn";
    case "processing":
      return stage ? [stage.name, progress(stage)].filter(Boolean).join(", ") : "almost done";
    case "failed":
      return `failed${stage ? ` in ${stage.name}` : ""}: ${firstLine(job.error ?? "")}`;
    case "cancelled":
      return "cancelled";
    case "completed":
      return outcome(job);
  }
}

export function progress({ done, total }: Stage): string {
  return total > 0 ? `${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : "";
}

/** Why no memory can be made from a session now; undefined where it can. */
export function obstacle(
  { messageCount, unprocessed }: { messageCount: number; unprocessed: number },
  jobs: readonly Job[],
): string | undefined {
  if (jobs.some(isRunning)) return "Memory is being made.";
  if (unprocessed > 0) return undefined;
  return messageCount === 1
    ? "Its one event was read already."
    : `All of its ${count(messageCount, "event")} were read already.`;
}
