/** Days as people live them: by the clock on the wall, which some nights jumps. */

export const MINUTES = 24 * 60;

export interface Day {
  /** As `2026-11-16`. */
  readonly key: string;
  readonly start: Date;
  readonly isWeekend: boolean;
}

/** So many days up to the one that has this moment, the latest first. */
export function daysUpTo(last: Date, count: number): Day[] {
  return Array.from({ length: count }, (_, back) => dayOf(last, -back));
}

/** The day of a moment, or one that is so many days away from it. */
export function dayOf(moment: Date, away = 0): Day {
  const start = new Date(moment.getFullYear(), moment.getMonth(), moment.getDate() + away);
  return { key: keyOf(start), start, isWeekend: start.getDay() % 6 === 0 };
}

export function keyOf(moment: Date): string {
  const parts = [moment.getFullYear(), moment.getMonth() + 1, moment.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}

/** What the clock on the wall shows, in minutes since its midnight. */
export function minuteOf(moment: Date): number {
  return moment.getHours() * 60 + moment.getMinutes() + moment.getSeconds() / 60;
}

/** A part of one day. */
export interface Piece {
  readonly day: string;
  readonly from: number;
  readonly to: number;
  readonly isStart: boolean;
  readonly isEnd: boolean;
}

const LONGEST = 3;

/** What a time takes of each day it touches; where the clock was set back, never less than nothing. */
export function pieces(from: Date, to: Date): Piece[] {
  const end = to < from ? from : to;
  const found: Piece[] = [];
  for (let away = 0; away <= LONGEST; away++) {
    const day = dayOf(from, away);
    if (away > 0 && day.start >= end) break;
    const next = dayOf(from, away + 1);
    const start = away === 0 ? minuteOf(from) : 0;
    const isEnd = end <= next.start;
    found.push({
      day: day.key,
      from: start,
      to: end < next.start ? Math.max(minuteOf(end), start) : MINUTES,
      isStart: away === 0,
      isEnd,
    });
    if (isEnd) break;
  }
  return found;
}
