/** What is drawn on the days: blocks, their pulse, commits, and beads of memory. */

import { TYPES } from "../../../shared/filters";
import type { MemoryMark, SessionMark, Timeline } from "../../../shared/protocol.generated";
import { keyOf, MINUTES, minuteOf, type Piece, pieces } from "./days";

export const QUARTER = 15;
/** Minutes that the shortest block is wide, so that it can be seen and hit. */
const LEAST = 9;
/** Minutes that the shortest beat is wide. */
const BEAT = 4;
/** Minutes in which memories of one type become one bead, and between two beads. */
const SLOT = 30;
const GAP = 12;

const ORDER = TYPES.map(([type]) => type);

export interface Block extends Piece {
  readonly session: SessionMark;
}

/** How much happened in a quarter of an hour. */
export interface Beat {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

export interface Bead {
  readonly minute: number;
  readonly type: MemoryMark["type"];
  readonly memories: readonly MemoryMark[];
}

/** All that a day shows. */
export interface Drawn {
  readonly blocks: readonly Block[];
  readonly beats: readonly Beat[];
  /** Minutes at which something was committed, each once. */
  readonly commits: readonly number[];
  readonly commitCount: number;
  readonly beads: readonly Bead[];
  readonly memoryCount: number;
  readonly events: number;
}

export const NOTHING: Drawn = {
  blocks: [],
  beats: [],
  commits: [],
  commitCount: 0,
  beads: [],
  memoryCount: 0,
  events: 0,
};

/** Everything by day. */
export function draw({ sessions, memories }: Timeline): Map<string, Drawn> {
  const blocks = grouped(sessions.flatMap(blocksOf), ({ day }) => day);
  const beats = grouped(sessions.flatMap(beatsOf), ({ day }) => day);
  const commits = grouped(sessions.flatMap(commitsOf), ({ day }) => day);
  const memorised = grouped([...memories], ({ at }) => keyOf(new Date(at)));
  const days = [blocks, beats, commits, memorised].flatMap((found) => [...found.keys()]);
  return new Map(
    [...new Set(days)].map((day) => {
      const made = commits.get(day) ?? [];
      const kept = memorised.get(day) ?? [];
      const pulse = beats.get(day) ?? [];
      const drawn: Drawn = {
        blocks: spread(blocks.get(day) ?? []),
        beats: pulse,
        commits: [...new Set(made.map(({ minute }) => minute))],
        commitCount: made.length,
        beads: beads(kept),
        memoryCount: kept.length,
        events: pulse.reduce((sum, { count }) => sum + count, 0),
      };
      return [day, drawn];
    }),
  );
}

/** How many events came in each hour of the day, all days together. */
export function hours(sessions: readonly SessionMark[]): number[] {
  const found = Array.from({ length: 24 }, () => 0);
  for (const { minute, count } of sessions.flatMap(quarters)) {
    const hour = Math.floor(minute / 60);
    found[hour] = (found[hour] ?? 0) + count;
  }
  return found;
}

/** Blocks that begin almost together stand side by side, so that each can be seen and hit. */
export function spread<T extends Pick<Piece, "from" | "to">>(blocks: readonly T[]): T[] {
  let free = 0;
  return [...blocks]
    .sort((one, other) => one.from - other.from || one.to - other.to)
    .map((block) => {
      const from = Math.min(Math.max(block.from, free), MINUTES - LEAST);
      free = from + LEAST;
      return { ...block, from, to: Math.max(block.to, free) };
    });
}

/** Where a block stands, in percent of a day. */
export function place({ from, to }: Pick<Piece, "from" | "to">): { left: number; width: number } {
  return { left: percent(from), width: percent(to - from) };
}

export function percent(minutes: number): number {
  return (minutes / MINUTES) * 100;
}

/** Beads of a day: those of one type and time are one, and none hides the next. */
export function beads(memories: readonly MemoryMark[]): Bead[] {
  const found = grouped([...memories], ({ at, type }) => {
    const slot = Math.floor(minuteOf(new Date(at)) / SLOT);
    return `${String(slot).padStart(2, "0")} ${ORDER.indexOf(type)}`;
  });
  const ordered = [...found].sort(([one], [other]) => (one < other ? -1 : 1));
  let free = 0;
  return ordered.flatMap(([, together]) => {
    const [first] = together;
    if (!first) return [];
    const minute = Math.min(Math.max(minuteOf(new Date(first.at)), free), MINUTES - GAP / 2);
    free = minute + GAP;
    return [{ minute, type: first.type, memories: together }];
  });
}

function blocksOf(session: SessionMark): Block[] {
  const found = pieces(new Date(session.startedAt), new Date(session.lastEventAt));
  return found.map((piece) => ({ ...piece, session }));
}

function beatsOf(session: SessionMark): (Beat & { day: string })[] {
  return quarters(session).map(({ day, minute, count, length }) => ({
    day,
    from: minute,
    to: Math.min(minute + length, MINUTES),
    count,
  }));
}

/** The quarters of an hour in which something came, by the clock on the wall. */
function quarters({ startedAt, lastEventAt, activity }: SessionMark) {
  const [start, end] = [Date.parse(startedAt), Date.parse(lastEventAt)];
  return activity.flatMap((count, number) => {
    if (count === 0) return [];
    const from = start + number * QUARTER * 60_000;
    const moment = new Date(from);
    const length = Math.min(QUARTER, Math.max((end - from) / 60_000, BEAT));
    return [{ day: keyOf(moment), minute: minuteOf(moment), length, count }];
  });
}

function commitsOf({ commits }: SessionMark) {
  return commits.map(({ at }) => {
    const moment = new Date(at);
    return { day: keyOf(moment), minute: Math.floor(minuteOf(moment)) };
  });
}

function grouped<T>(items: readonly T[], name: (item: T) => string): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const item of items) {
    const key = name(item);
    const others = found.get(key);
    if (others) others.push(item);
    else found.set(key, [item]);
  }
  return found;
}
