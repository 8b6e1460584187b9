/** How sections, reasons and signals are called for people. */

import { HOST_LABELS } from "../../../shared/hosts.generated";
import type { GivenItem, Receipt, UngivenItem } from "../../../shared/protocol.generated";

export type Mode = Receipt["mode"];

/** In the order in which an assistant reads them. */
export const SECTIONS: Readonly<Record<string, string>> = {
  recovery: "Where the last conversation stood",
  pendingMessages: "Messages",
  constraints: "Constraints",
  activeTasks: "Tasks",
  importantFacts: "Decisions and facts",
  queryResults: "Found for the question",
  recentSessions: "Recent sessions",
  tasksAutoCompleted: "Tasks that were done",
  tasksSuggestedDone: "Tasks that seem done",
  documents: "Documents",
};

export const HOSTS: Readonly<Record<string, string>> = {
  ...HOST_LABELS,
  clipboard: "Plain text",
};

export const MODES: Readonly<Record<Mode, string>> = {
  default: "Everyday work",
  full: "Everything",
  planning: "Planning",
  incident: "An incident",
  handoff: "A handoff",
  deep: "Deep work",
  minimal: "Little room",
  none: "No memories",
};

const SIGNALS: Readonly<Record<string, string>> = {
  words: "its words",
  meaning: "its meaning",
  company: "its files, which other matches share",
  files: "the files at hand",
  recency: "it is recent",
  importance: "its importance",
  confidence: "its certainty",
  pinned: "it is pinned",
  branch: "it is of this branch",
  feedback: "what was said of it",
};

const REASONS: Readonly<Record<string, string>> = {
  cap: "there was no room",
  limit: "others of its kind came first",
  "said already": "another item says it",
  "one author": "two of the same author's are enough",
  gone: "the code it speaks of is gone",
  "other branch": "it belongs to another branch",
  "in a digest": "the day's digest covers it",
  wrong: "it was said to be wrong",
  superseded: "a newer one says it",
};

const UNRANKED: Readonly<Record<string, string>> = {
  documents: "it is always told, or was asked for",
  pendingMessages: "it waits for this assistant",
  activeTasks: "it is open for this assistant",
  tasksAutoCompleted: "it was just found to be done",
  tasksSuggestedDone: "a commit seems to have done it",
  recovery: "the conversation goes on from there",
};

const OCCASIONS: Readonly<Record<Receipt["occasion"], string>> = {
  startup: "",
  resume: "resumed",
  clear: "after a clear",
  compact: "after a compaction",
  fork: "forked",
};

export interface Signal {
  readonly name: string;
  readonly value: number;
}

/** What raised an item or lowered it, the strongest first. */
export function signals({ why }: Pick<GivenItem, "why">): Signal[] {
  return Object.entries(why)
    .map(([key, value]) => ({ name: SIGNALS[key] ?? "", value }))
    .filter(({ name, value }) => name !== "" && Math.abs(value) >= 0.005)
    .sort((one, other) => Math.abs(other.value) - Math.abs(one.value));
}

/** Why something is given that nobody ranked. */
export function unranked(section: string): string {
  return UNRANKED[section] ?? "";
}

export function reason({ reason }: Pick<UngivenItem, "reason">): string {
  return REASONS[reason] ?? reason;
}

export function occasion(receipt: Receipt): string {
  return OCCASIONS[receipt.occasion];
}

export function signed(value: number): string {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
}

export interface Section<T> {
  readonly name: string;
  readonly title: string;
  readonly items: readonly T[];
}

/** Items by their sections; one that we do not know comes last. */
export function bySection<T extends { readonly section: string }>(
  items: readonly T[],
): Section<T>[] {
  const names = [...Object.keys(SECTIONS), ...items.map(({ section }) => section)];
  return [...new Set(names)]
    .map((name) => ({
      name,
      title: SECTIONS[name] ?? name,
      items: items.filter(({ section }) => section === name),
    }))
    .filter(({ items }) => items.length > 0);
}

/** What an opinion, or what all of them come to, means for a memory. */
export function standing(feedback: number): string {
  if (feedback <= -1) return "said to be wrong";
  if (feedback < 0) return "counts less";
  return feedback > 0 ? "counts more" : "";
}
