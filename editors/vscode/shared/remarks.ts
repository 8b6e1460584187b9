/** What is said of a memory, in plain words. */

import { count } from "./formats";
import type { Memory, Neighbour, PurgeReport, WriteResult } from "./protocol.generated";

type Remark = readonly [string, "good" | "warm" | "bad"];

const WRONG = -1;
const DOUBTFUL = -0.5;

/** What one should know before one believes it; nothing where all is well. */
export function remarks(memory: Memory): Remark[] {
  const all: (Remark | false)[] = [
    memory.status === "proposed" && ["proposed", "warm"],
    memory.byModel && ["a model's reading", "warm"],
    memory.status === "superseded" && ["superseded", "warm"],
    memory.status === "stale" && ["stale", "warm"],
    memory.status === "forgotten" && ["forgotten", "bad"],
    memory.feedback <= WRONG && ["marked wrong", "bad"],
    memory.feedback > WRONG && memory.feedback <= DOUBTFUL && ["marked stale", "warm"],
    memory.verdict === "changed" && ["code changed", "warm"],
    memory.verdict === "gone" && ["code gone", "bad"],
  ];
  return all.filter((remark) => remark !== false);
}

export const VERDICTS: Readonly<Record<NonNullable<Memory["verdict"]>, Remark>> = {
  fresh: ["The code is as it was.", "good"],
  changed: ["The code has changed since.", "warm"],
  gone: ["The code is gone.", "bad"],
};

/** What was removed, and whether that was proven. */
export function purged(report: PurgeReport): string {
  const { memories, filesRewritten, filesDeleted, filesSearched, remaining } = report;
  const touched = filesRewritten + filesDeleted;
  const head = `Forgotten: ${memoryCount(memories)} gone from ${count(touched, "file")}.`;
  if (remaining.length > 0) return `${head} It still stands in ${remaining.join(", ")}.`;
  const proof = `${count(filesSearched, "file")} searched again, nothing left.`;
  const more = report.saidElsewhere
    ? " Events or other memories say the same words, and still do."
    : "";
  return `${head} ${report.verified ? proof : "It could not be proven."}${more}`;
}

/** What became of a memory that was written by hand. */
export function kept({ outcome, memory }: WriteResult): string {
  switch (outcome) {
    case "created":
      return "Kept.";
    case "superseded":
      return "Kept. It replaces an older memory that said otherwise.";
    case "skipped":
    case "duplicate":
      return `This is known already: “${memory.title}”.`;
  }
}

const LINKS: Readonly<Record<Neighbour["type"], readonly [string, string]>> = {
  relates: ["relates to", "relates to"],
  blocks: ["blocks", "blocked by"],
  causes: ["causes", "caused by"],
  contradicts: ["contradicts", "contradicted by"],
  documents: ["documents", "documented by"],
  follows: ["follows", "followed by"],
  implements: ["implements", "implemented by"],
  supersedes: ["supersedes", "superseded by"],
};

export function linkName({ type, isSource }: Neighbour): string {
  return LINKS[type][isSource ? 1 : 0];
}

function memoryCount(number: number): string {
  return number === 1 ? "1 memory" : `${number} memories`;
}
