/** All sessions: the active one first, then day by day. */

import { useState } from "preact/hooks";
import { clock, count, fileCount, length } from "../../shared/formats";
import { enrichmentWords } from "../../shared/jobs";
import type { Job, Session } from "../../shared/protocol.generated";
import { byDay, title } from "../../shared/stories";
import { useAnswer } from "../asking";
import { ImportHistory } from "../importing";
import { Button, Chip, Empty, type Tone, Waiting, Way } from "../pieces";
import { Source } from "../sources";

const PAGE = 50;
const MOST = 1000;

const TONES: Readonly<Record<Session["enrichmentStatus"], Tone>> = {
  none: "plain",
  pending: "accent",
  processing: "accent",
  completed: "good",
  failed: "bad",
};

export function SessionsView() {
  const [limit, setLimit] = useState(PAGE);
  const answer = useAnswer("threadline/sessions/list", { limit }, ["sessions", "jobs"]);
  const sessions = answer.result?.sessions ?? [];
  return (
    <>
      <div class="heading">
        <h2>Sessions</h2>
        {answer.result && <p class="muted">{count(answer.result.total, "session")}</p>}
      </div>
      <Waiting answer={answer} />
      {answer.result && sessions.length === 0 && (
        <Empty title="No sessions yet." deeds={<ImportHistory />}>
          Commits and saves appear here as they happen. What was committed before can be brought in,
          too.
        </Empty>
      )}
      {byDay(sessions, new Date()).map(({ name, items }) => (
        <section key={name} aria-label={name}>
          <h3 class="day">{name}</h3>
          <ul class="cards">
            {items.map((session) => (
              <li key={session.sessionId}>
                <Card session={session} />
              </li>
            ))}
          </ul>
        </section>
      ))}
      {answer.result?.next && limit < MOST && (
        <Button onClick={() => setLimit(Math.min(limit + PAGE, MOST))}>
          Show Earlier Sessions
        </Button>
      )}
    </>
  );
}

interface EnrichmentProps {
  readonly session: Pick<Session, "enrichmentStatus" | "summary">;
  readonly jobs?: readonly Job[] | undefined;
}

export function EnrichmentChip({ session, jobs }: EnrichmentProps) {
  const words = enrichmentWords(session, jobs);
  return words ? <Chip tone={TONES[session.enrichmentStatus]}>{words}</Chip> : null;
}

function Card({ session }: { readonly session: Session }) {
  const facts = [
    `${clock(session.startedAt)}, ${length(session)}`,
    count(session.messageCount, "event"),
    count(fileCount(session), "file"),
  ];
  return (
    <Way to={{ page: "session", id: session.sessionId }} class={`card session ${session.status}`}>
      <span class="card-title">{title(session)}</span>
      <span class="card-facts">
        <span>{facts.join(" · ")}</span>
        {session.sources.map((source) => (
          <Source key={source} name={source} />
        ))}
      </span>
      <span class="card-chips">
        {session.status === "active" && <Chip tone="accent">active now</Chip>}
        <EnrichmentChip session={session} />
      </span>
    </Way>
  );
}
