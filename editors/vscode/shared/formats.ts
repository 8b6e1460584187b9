/** How counts, times and sessions read to people. */

import { sourceName } from "./hosts";
import type { Session } from "./protocol.generated";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

export function duration(from: string, to: string): string {
  const minutes = Math.floor((Date.parse(to) - Date.parse(from)) / MINUTE);
  if (minutes < 1) return "<1m";
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return [hours && `${hours}h`, rest && `${rest}m`].filter(Boolean).join(" ");
}

export function clock(time: string, locale?: string): string {
  return new Date(time).toLocaleTimeString(locale, { hour: "numeric", minute: "2-digit" });
}

/** As a person would say it: `14:05` today, `Yesterday 14:05`, `9 Nov 14:05`. */
export function moment(time: string, now: Date, locale?: string): string {
  return [day(new Date(time), now, locale), clock(time, locale)].join(" ").trim();
}

/** `16 Nov`, with its year where that is another one. */
export function dayLabel(date: Date, now = new Date(), locale?: string): string {
  const isThisYear = date.getFullYear() === now.getFullYear();
  const year = isThisYear ? {} : ({ year: "numeric" } as const);
  return date.toLocaleDateString(locale, { day: "numeric", month: "short", ...year });
}

export function fileCount(session: Session): number {
  return session.filesModified.length + session.filesOverflow;
}

export function length(session: Session): string {
  return duration(session.startedAt, session.lastEventAt);
}

export function summary(session: Session): string {
  return [
    count(session.messageCount, "event"),
    count(fileCount(session), "file"),
    length(session),
    sourceName(session.source),
  ].join(" · ");
}

export function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}

/** Not longer than that; cut after a word, unless little would be left. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.lastIndexOf(" ", most - 1);
  return `${text.slice(0, end > most / 2 ? end : most - 1).trimEnd()}…`;
}

function day(date: Date, now: Date, locale?: string): string {
  const daysAgo = Math.round((midnight(now) - midnight(date)) / DAY);
  if (daysAgo === 0) return "";
  return daysAgo === 1 ? "Yesterday" : dayLabel(date, now, locale);
}

function midnight(date: Date): number {
  return new Date(date).setHours(0, 0, 0, 0);
}
