/** Which memories are shown, as a person chooses it and as the sidecar is asked. */

import type { ListMemoriesParams, Memory } from "./protocol.generated";

export type MemoryType = Memory["type"];
export type MemoryStatus = Memory["status"];

export interface Filters {
  readonly types: readonly MemoryType[];
  /** None stands for all that can be found. */
  readonly status: MemoryStatus | "";
  readonly isPinned: boolean;
  readonly path: string;
  readonly tag: string;
  readonly agent: string;
  /** In days; 0 stands for ever. */
  readonly days: number;
}

export const NO_FILTERS: Filters = {
  types: [],
  status: "active",
  isPinned: false,
  path: "",
  tag: "",
  agent: "",
  days: 0,
};

/** The kinds of memory in the order in which they are shown, as every page calls them. */
export const TYPES: readonly (readonly [MemoryType, string])[] = [
  ["decision", "Decision"],
  ["constraint", "Constraint"],
  ["preference", "Preference"],
  ["fact", "Fact"],
  ["skill", "Skill"],
  ["correction", "Correction"],
  ["task", "Task"],
  ["episodic", "Episode"],
];

export const STATUSES: readonly (readonly [Filters["status"], string])[] = [
  ["active", "Active"],
  ["proposed", "Proposed"],
  ["stale", "Stale"],
  ["superseded", "Superseded"],
  ["forgotten", "Forgotten"],
  ["", "Any State"],
];

export const PERIODS: readonly (readonly [number, string])[] = [
  [0, "Any Time"],
  [1, "Last Day"],
  [7, "Last Week"],
  [30, "Last Month"],
  [365, "Last Year"],
];

const DAY = 86_400_000;
const MINUTE = 60_000;

/** What the sidecar is asked; the moment is rounded, lest every look be another question. */
export function paramsOf(filters: Filters, now: number): ListMemoriesParams {
  const { types, status, isPinned, path, tag, agent, days } = filters;
  const from = Math.floor(now / MINUTE) * MINUTE - days * DAY;
  return {
    types: [...types],
    statuses: status ? [status] : [],
    ...(isPinned ? { pinned: true } : {}),
    ...(path.trim() ? { paths: [path.trim()] } : {}),
    ...(tag.trim() ? { tags: [tag.trim().replace(/^#/, "")] } : {}),
    ...(agent ? { agentId: agent } : {}),
    ...(days ? { since: new Date(from).toISOString() } : {}),
  };
}

/** How many filters narrow what is shown. */
export function countActive(filters: Filters): number {
  return (Object.keys(NO_FILTERS) as (keyof Filters)[]).filter(
    (name) => JSON.stringify(filters[name]) !== JSON.stringify(NO_FILTERS[name]),
  ).length;
}

export function toggled<T>(all: readonly T[], one: T): T[] {
  return all.includes(one) ? all.filter((other) => other !== one) : [...all, one];
}

export function typeName(type: MemoryType): string {
  return TYPES.find(([known]) => known === type)?.[1] ?? type;
}
