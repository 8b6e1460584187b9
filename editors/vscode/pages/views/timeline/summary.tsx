/** What can be said of a time in few words, and which of its days were busy. */

import { TYPES } from "../../../shared/filters";
import { count, dayLabel } from "../../../shared/formats";
import type { Timeline } from "../../../shared/protocol.generated";
import type { Day } from "./days";
import { type Figures, step } from "./figures";
import { type Drawn, NOTHING } from "./marks";
import { hourName, kindName, rowId } from "./names";

interface Props {
  readonly days: readonly Day[];
  readonly told: Timeline;
  readonly drawn: ReadonlyMap<string, Drawn>;
  readonly figures: Figures;
}

export function Summary({ days, told, drawn, figures }: Props) {
  if (figures.events + figures.memories === 0) return null;
  const totals = [
    [figures.sessions, "session"],
    [figures.commits, "commit"],
    [figures.events, "event"],
    [figures.memories, figures.memories === 1 ? "memory" : "memories"],
  ] as const;
  return (
    <section class="summary" aria-label="Summary">
      <dl class="totals">
        {totals.map(([number, noun]) => (
          <div key={noun}>
            <dt>{number === 1 || noun === "memories" ? noun : `${noun}s`}</dt>
            <dd>{number.toLocaleString("en")}</dd>
          </div>
        ))}
      </dl>
      <div class="summary-story">
        <Strip days={days} drawn={drawn} />
        <p class="muted">{story(figures, days.length)}</p>
        <Legend told={told} />
      </div>
    </section>
  );
}

/** A small square for each day, the earliest first; it leads to the day's line. */
function Strip({ days, drawn }: Pick<Props, "days" | "drawn">) {
  const eventsOf = (day: Day) => (drawn.get(day.key) ?? NOTHING).events;
  const most = Math.max(1, ...days.map(eventsOf));
  return (
    <div class="strip" aria-hidden="true">
      {[...days].reverse().map((day) => {
        const events = eventsOf(day);
        return (
          <button
            key={day.key}
            type="button"
            tabIndex={-1}
            class={`step-${step(events, most)} ${day.start.getDay() === 1 ? "monday" : ""}`}
            title={`${dayLabel(day.start)}: ${count(events, "event")}`}
            onClick={() => document.getElementById(rowId(day))?.scrollIntoView({ block: "center" })}
          />
        );
      })}
    </div>
  );
}

function Legend({ told }: Pick<Props, "told">) {
  const kinds = TYPES.map(([type]) => ({
    type,
    number: told.memories.filter((one) => one.type === type).length,
  })).filter(({ number }) => number > 0);
  return (
    <ul class="legend" aria-label="Legend">
      <li>
        <span class="sample block-sample" /> session
      </li>
      <li>
        <span class="sample commit-sample" /> commit
      </li>
      {kinds.map(({ type, number }) => (
        <li key={type}>
          <span class={`sample bead ${type}`} /> {count(number, kindName(type))}
        </li>
      ))}
    </ul>
  );
}

function story(figures: Figures, days: number): string {
  const { activeDays, busiestDay, busiestHour, longestRun } = figures;
  if (activeDays === 0) return "";
  return [
    `Worked on ${activeDays} of ${days} days`,
    longestRun > 2 && `${longestRun} of them in a row`,
    busiestDay && `most on ${dayLabel(busiestDay.start)}`,
    busiestHour !== undefined && `mostly around ${hourName(busiestHour)}`,
  ]
    .filter(Boolean)
    .join(", ")
    .concat(".");
}
