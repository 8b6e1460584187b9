/** What can be said of a time in a few figures. */

import type { Timeline } from "../../../shared/protocol.generated";
import type { Day } from "./days";
import { type Drawn, hours } from "./marks";

export interface Figures {
  readonly events: number;
  readonly commits: number;
  readonly sessions: number;
  readonly memories: number;
  /** Days on which something happened. */
  readonly activeDays: number;
  readonly busiestDay: Day | undefined;
  readonly busiestHour: number | undefined;
  /** Days in a row, at the most. */
  readonly longestRun: number;
}

/** Days come the latest first. */
export function figures(
  { sessions, memories, leftOut }: Timeline,
  days: readonly Day[],
  drawn: ReadonlyMap<string, Drawn>,
): Figures {
  const events = (day: Day) => drawn.get(day.key)?.events ?? 0;
  const active = days.filter((day) => events(day) > 0);
  const byHour = hours(sessions);
  return {
    events: sum(sessions.map((one) => one.events)),
    commits: sum(sessions.map((one) => one.commitCount)),
    sessions: sessions.length + (leftOut.sessions ?? 0),
    memories: memories.length + (leftOut.memories ?? 0),
    activeDays: active.length,
    busiestDay: best(active, events),
    busiestHour: best(
      byHour.map((_, hour) => hour).filter((hour) => byHour[hour]),
      (hour) => byHour[hour] ?? 0,
    ),
    longestRun: longestRun(days.map((day) => events(day) > 0)),
  };
}

/** Which of five steps a day's activity is, beside the busiest. */
export function step(events: number, most: number): number {
  return events === 0 ? 0 : Math.max(1, Math.ceil(Math.sqrt(events / most) * 4));
}

export function longestRun(days: readonly boolean[]): number {
  let [run, longest] = [0, 0];
  for (const isActive of days) {
    run = isActive ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}

function best<T>(items: readonly T[], worth: (item: T) => number): T | undefined {
  return items.reduce<T | undefined>(
    (found, item) => (found === undefined || worth(item) > worth(found) ? item : found),
    undefined,
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
