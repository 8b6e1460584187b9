/** A job as a picture: four stages side by side, each as wide as it took long. */

import { progress, STAGE_HINTS, stageShare, stageTime, timeSpan } from "../shared/jobs";
import type { Job, Stage } from "../shared/protocol.generated";

/** No stage is narrower than this, or nobody could read its name. */
const NARROWEST = 0.13;

export interface Segment {
  readonly name: Stage["name"];
  readonly hint: string;
  /** A cancelled job's last stage did not fail: somebody wanted it no more. */
  readonly status: Stage["status"] | "cancelled";
  /** How much of the width it takes; all of them together take 1. */
  readonly width: number;
  /** How much of it is done, from 0 to 1; undefined while nobody can say. */
  readonly filled: number | undefined;
  readonly time: string;
  /** What came of it, or how far it is. */
  readonly note: string;
  readonly error: string | undefined;
}

export function segments(job: Job, now: Date): Segment[] {
  const widths = shares(job.stages.map((stage) => stageTime(stage, now)));
  return job.stages.map((stage, index) => ({
    name: stage.name,
    hint: STAGE_HINTS[stage.name],
    status: statusOf(job, stage),
    width: widths[index] ?? 0,
    filled: stage.status === "processing" && stage.total === 0 ? undefined : stageShare(stage),
    time: stage.startedAt ? timeSpan(stageTime(stage, now)) : "",
    note: stage.status === "processing" ? progress(stage) : (stage.note ?? ""),
    error: statusOf(job, stage) === "failed" ? (stage.error ?? undefined) : undefined,
  }));
}

/** Shares of a whole by size, of which each has at least the least. */
export function shares(sizes: readonly number[]): number[] {
  const sum = sizes.reduce((total, size) => total + size, 0);
  const free = Math.max(1 - NARROWEST * sizes.length, 0);
  return sizes.map((size) => NARROWEST + free * (sum > 0 ? size / sum : 1 / sizes.length));
}

function statusOf(job: Job, stage: Stage): Segment["status"] {
  return job.status === "cancelled" && stage.status === "failed" ? "cancelled" : stage.status;
}
