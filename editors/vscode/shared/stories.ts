/** How sessions are told: by what they were about, and by day. */

import { count } from "./formats";
import type { Session } from "./protocol.generated";

export interface Day<T> {
  readonly name: string;
  readonly items: readonly T[];
}

type Told = Pick<Session, "summary" | "filesModified" | "filesOverflow">;

/** The first sentence of what was done, else the files it was done to. */
export function title({ summary, filesModified, filesOverflow }: Told): string {
  if (summary) return firstSentence(summary);
  const [first, ...others] = filesModified;
  if (!first) return "Work without files";
  const more = others.length + filesOverflow;
  return more > 0 ? `${first} and ${count(more, "more file")}` : first;
}

/** Grouped by the day they began, in the order they come in. */
export function byDay<T extends { readonly startedAt: string }>(
  items: readonly T[],
  now: Date,
  locale?: string,
): Day<T>[] {
  const days = new Map<string, T[]>();
  for (const item of items) {
    const name = dayName(new Date(item.startedAt), now, locale);
    days.set(name, [...(days.get(name) ?? []), item]);
  }
  return [...days].map(([name, items]) => ({ name, items }));
}

export function dayName(date: Date, now: Date, locale?: string): string {
  const daysAgo = Math.round((midnight(now) - midnight(date)) / 86_400_000);
  if (daysAgo === 0) return "Today";
  if (daysAgo === 1) return "Yesterday";
  const year = date.getFullYear() === now.getFullYear() ? {} : ({ year: "numeric" } as const);
  return date.toLocaleDateString(locale, {
    weekday: "long",
    day: "numeric",
    month: "long",
    ...year,
  });
}

/** `812 bytes`, `3.4 kB`, `1.2 MB`. */
export function byteSize(bytes: number): string {
  if (bytes < 1000) return count(bytes, "byte");
  const [unit, size] = bytes < 1e6 ? ["kB", bytes / 1e3] : ["MB", bytes / 1e6];
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}

export function firstSentence(text: string): string {
  const end = text.search(/[.!?](\s|$)|\n/);
  return end < 0 ? text : text.slice(0, end);
}

/** What a text says after its first sentence. */
export function afterFirst(text: string): string {
  return text.slice(firstSentence(text).length + 1).trim();
}

function midnight(date: Date): number {
  return new Date(date).setHours(0, 0, 0, 0);
}
