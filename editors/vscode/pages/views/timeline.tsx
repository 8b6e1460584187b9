/** A picture of weeks: sessions as blocks on their days, commits as marks, memory as beads. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { dayLabel } from "../../shared/formats";
import { useAnswer } from "../asking";
import { ImportHistory } from "../importing";
import { Button, Empty, Switch, Waiting } from "../pieces";
import { Chart } from "./timeline/chart";
import { type Day, dayOf, daysUpTo } from "./timeline/days";
import { figures } from "./timeline/figures";
import { draw } from "./timeline/marks";
import { Summary } from "./timeline/summary";

const RANGES = ["2 weeks", "4 weeks", "12 weeks"] as const;
type Range = (typeof RANGES)[number];

/** What was last chosen, for as long as the page is there. */
let chosen: Range = "4 weeks";

export function TimelineView() {
  const now = useNow();
  const [range, setRange] = useState(chosen);
  /** The last day that is looked at; today where none is. */
  const [last, setLast] = useState<Date>();
  const weeks = Number.parseInt(range, 10);
  const days = daysUpTo(last ?? now, weeks * 7);
  const answer = useAnswer("threadline/timeline", span(days, last), ["sessions", "memories"]);
  const told = answer.result;
  const drawn = useMemo(() => told && draw(told), [told]);

  const choose = (next: Range) => {
    chosen = next;
    setRange(next);
  };
  const move = (away: number) => {
    const next = dayOf(last ?? now, away * 7).start;
    setLast(next >= dayOf(now).start ? undefined : next);
  };

  return (
    <div class="timeline">
      <div class="heading">
        <h2>Timeline</h2>
        <p class="muted">{spanName(days)}</p>
        <div class="timeline-ways">
          <Button icon="back" label="Earlier" onClick={() => move(-weeks)} />
          <Button icon="forth" label="Later" isOff={!last} onClick={() => move(weeks)} />
          {last && <Button onClick={() => setLast(undefined)}>Today</Button>}
          <Switch
            label="Time to show"
            name="range"
            value={range}
            choices={RANGES}
            onChoose={choose}
          />
        </div>
      </div>
      <Waiting answer={answer} />
      {told && drawn && (
        <>
          <Summary days={days} told={told} drawn={drawn} figures={figures(told, days, drawn)} />
          {told.sessions.length + told.memories.length === 0 && (
            <Nothing earlier={told.earlier} weeks={weeks} isPast={!!last} onGo={setLast} />
          )}
          <Chart days={days} told={told} drawn={drawn} now={now} weeks={weeks} />
        </>
      )}
    </div>
  );
}

interface NothingProps {
  readonly earlier: string | null;
  readonly weeks: number;
  readonly isPast: boolean;
  readonly onGo: (day: Date) => void;
}

function Nothing({ earlier, weeks, isPast, onGo }: NothingProps) {
  if (earlier === null && !isPast)
    return (
      <Empty title="Your days will appear here." deeds={<ImportHistory />}>
        Save a file or make a commit, and a block grows on today's line. What was committed before
        can be drawn, too.
      </Empty>
    );
  return (
    <div class="quiet">
      <p>Nothing happened in these {weeks} weeks.</p>
      {earlier && (
        <Button onClick={() => onGo(dayOf(new Date(earlier)).start)}>
          Go to {dayLabel(new Date(earlier))}
        </Button>
      )}
    </div>
  );
}

function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), 60_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** From the first midnight on; to the end of the last day where that is not today. */
function span(days: readonly Day[], last: Date | undefined) {
  const since = (days.at(-1) ?? dayOf(new Date())).start.toISOString();
  return last ? { since, until: dayOf(last, 1).start.toISOString() } : { since };
}

function spanName(days: readonly Day[]): string {
  const [last, first] = [days[0], days.at(-1)];
  return first && last ? `${dayLabel(first.start)} – ${dayLabel(last.start)}` : "";
}
