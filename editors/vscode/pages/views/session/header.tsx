/** What a session was, in facts, and what can be done with it. */

import type { ComponentChildren } from "preact";
import { clock, count, fileCount, length } from "../../../shared/formats";
import type { JobList, ShownSession } from "../../../shared/protocol.generated";
import { afterFirst, dayName, title } from "../../../shared/stories";
import { Chip, CommitName, FilePath } from "../../pieces";
import { Source } from "../../sources";
import { EnrichmentChip } from "../sessions";
import { Actions } from "./actions";

interface HeaderProps {
  readonly session: ShownSession;
  readonly jobs: JobList | undefined;
}

export function Header({ session, jobs }: HeaderProps) {
  const more = afterFirst(session.summary ?? "");
  return (
    <header class="session-head">
      <div class="session-title">
        <h2>{title(session)}</h2>
        <Actions session={session} jobs={jobs} />
      </div>
      {more && <p class="session-summary">{more}</p>}
      <Facts session={session} jobs={jobs} />
    </header>
  );
}

function Facts({ session, jobs }: HeaderProps) {
  const { startedAt, lastEventAt, status, sources, headCommitSha } = session;
  const [from, to] = [clock(startedAt), clock(lastEventAt)];
  const span = from === to ? from : `${from} – ${to}`;
  return (
    <dl class="facts">
      <Fact name="When">
        <time dateTime={startedAt} title={new Date(startedAt).toLocaleString()}>
          {dayName(new Date(startedAt), new Date())}, {span}
        </time>
      </Fact>
      <Fact name="Length">{length(session)}</Fact>
      <Fact name="State">
        <Chip tone={status === "active" ? "accent" : "plain"}>
          {status === "active" ? "active now" : status}
        </Chip>{" "}
        <EnrichmentChip session={session} jobs={jobs?.jobs} />
      </Fact>
      <Fact name="Seen by">
        <span class="sources">
          {sources.map((source) => (
            <Source key={source} name={source} />
          ))}
        </span>
      </Fact>
      <Fact name="Events">{session.messageCount.toLocaleString("en")}</Fact>
      <Fact name="Files">
        <Files session={session} />
      </Fact>
      {headCommitSha && (
        <Fact name="Head">
          <CommitName sha={headCommitSha} />
        </Fact>
      )}
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Files({ session }: { readonly session: ShownSession }) {
  const total = fileCount(session);
  if (total === 0) return <>none</>;
  return (
    <details class="files">
      <summary>{total.toLocaleString("en")}</summary>
      <ul>
        {session.filesModified.map((path) => (
          <li key={path}>
            <FilePath path={path} />
          </li>
        ))}
        {session.filesOverflow > 0 && (
          <li class="muted">and {count(session.filesOverflow, "more file")}</li>
        )}
      </ul>
    </details>
  );
}
