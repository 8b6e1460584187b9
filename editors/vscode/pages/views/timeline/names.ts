/** How what is drawn is called, for those who read it and those who hear it. */

import { typeName } from "../../../shared/filters";
import { clock, count, duration } from "../../../shared/formats";
import { sourceName } from "../../../shared/hosts";
import type { MemoryMark, SessionMark } from "../../../shared/protocol.generated";
import { dayName, title } from "../../../shared/stories";
import type { Day } from "./days";
import type { Drawn } from "./marks";

/** `3 PM`, or as people say it where they are. */
export function hourName(hour: number, locale?: string): string {
  return new Date(2026, 0, 1, hour).toLocaleTimeString(locale, { hour: "numeric" });
}

/** Within a sentence. */
export function kindName(type: MemoryMark["type"]): string {
  return typeName(type).toLowerCase();
}

export function rowId(day: Day): string {
  return `day-${day.key}`;
}

export function times({ startedAt, lastEventAt }: SessionMark, locale?: string): string {
  const ends =
    clock(startedAt, locale) === clock(lastEventAt, locale)
      ? [startedAt]
      : [startedAt, lastEventAt];
  return ends.map((time) => clock(time, locale)).join(" – ");
}

export function counts(session: SessionMark): string {
  return [
    duration(session.startedAt, session.lastEventAt),
    session.commitCount > 0 && count(session.commitCount, "commit"),
    session.saves > 0 && count(session.saves, "save"),
    count(session.filesModified.length + session.filesOverflow, "file"),
    session.sources.map(sourceName).join(", "),
  ]
    .filter(Boolean)
    .join(" · ");
}

/** All that a block says, in one sentence. */
export function blockLabel(session: SessionMark, now: Date): string {
  const isActive = session.status === "active" ? ", active now" : "";
  const day = dayName(new Date(session.startedAt), now);
  return `${title(session)}, ${day} ${times(session)}, ${counts(session)}${isActive}`;
}

export function dayLabelFor(day: Day, drawn: Drawn, now: Date): string {
  const told = [
    count(drawn.blocks.filter(({ isStart }) => isStart).length, "session"),
    count(drawn.commitCount, "commit"),
    drawn.memoryCount === 1 ? "1 memory" : `${drawn.memoryCount} memories`,
  ];
  return `${dayName(day.start, now)}: ${drawn.events + drawn.memoryCount ? told.join(", ") : "nothing"}`;
}

/** What stands at the left of a line: short, with the month where one begins. */
export function shortDay(day: Day, isFirst: boolean, now: Date, locale?: string): [string, string] {
  const { start } = day;
  const isToday = start.toDateString() === now.toDateString();
  const weekday = start.toLocaleDateString(locale, { weekday: "short" });
  const isNamed = isFirst || start.getDate() === 1 || start.getDay() === 1;
  const date = isNamed
    ? start.toLocaleDateString(locale, { day: "numeric", month: "short" })
    : String(start.getDate());
  return [isToday ? "Today" : weekday, date];
}
