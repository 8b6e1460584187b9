/** How agents, people and priorities are called. */

import { sourceName } from "./hosts";
import type { ActiveAgent } from "./protocol.generated";

/** The person at this editor. */
export const USER = "user";
/** All agents, also those that appear later. */
export const EVERYONE = "*";
/** Whoever takes a task first. */
export const ANYONE = "any";

export type Labels = ReadonlyMap<string, string>;

const FIXED: Readonly<Record<string, string>> = {
  [USER]: "you",
  [EVERYONE]: "all agents",
  [ANYONE]: "anyone",
};
const PRIORITIES = ["", "lowest", "low", "", "high", "urgent"] as const;

export function labels(agents: readonly ActiveAgent[]): Labels {
  return new Map(agents.map(({ agentId, label }) => [agentId, label]));
}

export function agentName(agentId: string, known: Labels): string {
  return FIXED[agentId] ?? known.get(agentId) ?? sourceName(agentId);
}

/** Nothing where a priority is like most. */
export function priorityName(priority: number): string {
  return PRIORITIES[priority] ?? "";
}

/** `A`, `A and B`, `A, B and C`. */
export function listed(names: readonly string[]): string {
  return new Intl.ListFormat("en-GB", { type: "conjunction" }).format(names);
}
