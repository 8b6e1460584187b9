/** The days, one line each, the latest on top; hours from left to right. */

import { useMemo, useState } from "preact/hooks";
import type { Timeline } from "../../../shared/protocol.generated";
import { Way } from "../../pieces";
import { Card, type Shown } from "./card";
import { type Day, keyOf, MINUTES, minuteOf } from "./days";
import { type Bead, type Block, type Drawn, hours, NOTHING, percent, place } from "./marks";
import { blockLabel, dayLabelFor, hourName, rowId, shortDay } from "./names";

const HOURS = [0, 3, 6, 9, 12, 15, 18, 21];

interface Props {
  readonly days: readonly Day[];
  readonly told: Timeline;
  readonly drawn: ReadonlyMap<string, Drawn>;
  readonly now: Date;
  readonly weeks: number;
}

export function Chart({ days, told, drawn, now, weeks }: Props) {
  const [shown, setShown] = useState<Shown>();
  const beats = [...drawn.values()].flatMap((day) => day.beats.map(({ count }) => count));
  const most = Math.max(1, ...beats);
  const show = (event: Event) => setShown(found(event, told));
  const hide = () => setShown(undefined);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only listens for what its links are told.
    <div
      class={`chart weeks-${weeks}`}
      onPointerOver={show}
      onFocusIn={show}
      onPointerLeave={hide}
      onFocusOut={hide}
      onKeyDown={(event) => event.key === "Escape" && hide()}
    >
      <Profile told={told} />
      <Axis />
      <ol class="days" aria-label="Days, the latest first">
        {days.map((day, number) => (
          <Row
            key={day.key}
            day={day}
            isFirst={number === 0}
            drawn={drawn.get(day.key) ?? NOTHING}
            most={most}
            now={now}
          />
        ))}
      </ol>
      <Axis />
      {shown && <Card shown={shown} memories={told.memories} />}
    </div>
  );
}

interface RowProps {
  readonly day: Day;
  readonly isFirst: boolean;
  readonly drawn: Drawn;
  readonly most: number;
  readonly now: Date;
}

function Row({ day, isFirst, drawn, most, now }: RowProps) {
  const isToday = day.key === keyOf(now);
  const [weekday, date] = shortDay(day, isFirst, now);
  const kinds = [day.isWeekend && "weekend", isToday && "today", isMonday(day) && "monday"];
  return (
    <li id={rowId(day)} class={["row", ...kinds.filter(Boolean)].join(" ")}>
      <span class="unseen">{dayLabelFor(day, drawn, now)}</span>
      <span class="row-name" aria-hidden="true">
        <b>{weekday}</b> <span>{date}</span>
      </span>
      <div class="lane">
        {drawn.blocks.map((block) => (
          <BlockLink key={block.session.sessionId} block={block} now={now} />
        ))}
        <Pulse drawn={drawn} most={most} />
        {drawn.beads.map((bead) => (
          <BeadLink key={bead.memories[0]?.memoryId} bead={bead} />
        ))}
        {isToday && <span class="now" style={{ left: `${percent(minuteOf(now))}%` }} />}
      </div>
    </li>
  );
}

function BlockLink({ block, now }: { readonly block: Block; readonly now: Date }) {
  const { session, isStart, isEnd } = block;
  const { left, width } = place(block);
  const shape = [isStart && "starts", isEnd && "ends", session.status === "active" && "active"];
  return (
    <Way
      to={{ page: "session", id: session.sessionId }}
      class={["block", ...shape.filter(Boolean)].join(" ")}
      style={{ left: `${left}%`, width: `${width}%` }}
      aria-label={blockLabel(session, now)}
      // What goes on after midnight is the same link.
      tabIndex={isStart ? undefined : -1}
      aria-hidden={isStart ? undefined : true}
      data-session={session.sessionId}
    />
  );
}

/** How much happened when, and the commits: one drawing for a day, however many there are. */
function Pulse({ drawn, most }: Pick<RowProps, "drawn" | "most">) {
  const { beats, commits } = drawn;
  const path = useMemo(() => {
    const bars = beats.map(({ from, to, count }) => {
      const top = (1 - Math.sqrt(count / most)) * 100;
      return `M${(from + 1).toFixed(1)} 100V${top.toFixed(1)}H${(to - 1).toFixed(1)}V100Z`;
    });
    return bars.join("");
  }, [beats, most]);
  if (!path && commits.length === 0) return null;
  return (
    <svg class="pulse" viewBox={`0 0 ${MINUTES} 100`} preserveAspectRatio="none" aria-hidden="true">
      <path class="beats" d={path} />
      <path class="commits" d={commits.map((minute) => `M${minute + 1} 12V88`).join("")} />
    </svg>
  );
}

function BeadLink({ bead }: { readonly bead: Bead }) {
  const { minute, type, memories } = bead;
  return (
    <Way
      to={{ page: "memory", id: memories[0]?.memoryId }}
      class={`bead ${type} ${memories.length > 2 ? "many" : ""}`}
      style={{ left: `${percent(minute)}%` }}
      tabIndex={-1}
      aria-hidden={true}
      data-memories={memories.map(({ memoryId }) => memoryId).join(" ")}
    />
  );
}

/** The hours of all days together. */
function Profile({ told }: Pick<Props, "told">) {
  const byHour = useMemo(() => hours(told.sessions), [told]);
  const most = Math.max(1, ...byHour);
  return (
    <div class="profile" aria-hidden="true">
      <div class="lane">
        {byHour.map((events, hour) => (
          <span
            key={hour}
            title={`${hourName(hour)}: ${events.toLocaleString("en")}`}
            style={{ height: `${(events / most) * 100}%` }}
          />
        ))}
      </div>
    </div>
  );
}

function Axis() {
  return (
    <div class="axis" aria-hidden="true">
      <div class="lane">
        {HOURS.map((hour) => (
          <span key={hour} style={{ left: `${percent(hour * 60)}%` }}>
            {hourName(hour)}
          </span>
        ))}
      </div>
    </div>
  );
}

/** What the pointer or the focus is on, and where that stands in the chart. */
function found(event: Event, told: Timeline): Shown | undefined {
  const target = event.target instanceof Element ? event.target : undefined;
  const mark = target?.closest<HTMLElement>("[data-session], [data-memories]");
  const chart = target?.closest(".chart");
  if (!mark || !chart) return undefined;
  const { session, memories = "" } = mark.dataset;
  const [at, around] = [mark.getBoundingClientRect(), chart.getBoundingClientRect()];
  return {
    session: told.sessions.find(({ sessionId }) => sessionId === session),
    memories: told.memories.filter(({ memoryId }) => memories.includes(memoryId)),
    left: at.left - around.left + at.width / 2,
    top: at.top - around.top,
    height: at.height,
    room: around.width,
    isLow: at.bottom > innerHeight * 0.6,
  };
}

function isMonday(day: Day): boolean {
  return day.start.getDay() === 1;
}
