/** What happened in a session: newest first, found by words and by kind. */

import { useEffect, useState } from "preact/hooks";
import { headline, KIND_NAMES, rest } from "../../../shared/events";
import { clock, count } from "../../../shared/formats";
import type { Event, FileChange, ShownSession } from "../../../shared/protocol.generated";
import { useAnswer, useScene } from "../../asking";
import { Icon } from "../../icons";
import { Button, Chip, CommitName, Empty, FilePath, Waiting } from "../../pieces";
import { Source } from "../../sources";

const PAGE = 100;
const PAUSE = 200;
const MOST_FILES = 200;

type Kind = Event["kind"];

interface Sought {
  readonly query: string;
  readonly kind: Kind | null;
}

export function EventsTab({ session }: { readonly session: ShownSession }) {
  const [words, setWords] = useState("");
  const [kind, setKind] = useState<Kind | null>(null);
  const query = useLater(words.trim());
  return (
    <>
      <div class="events-bar">
        <label class="events-search">
          <Icon name="search" />
          <span class="unseen">Filter events</span>
          <input
            type="search"
            placeholder="Filter by words, files, authors …"
            maxLength={1000}
            value={words}
            onInput={(event) => setWords(event.currentTarget.value)}
          />
        </label>
        <Kinds session={session} chosen={kind} onChoose={setKind} />
      </div>
      <Pages id={session.sessionId} sought={{ query, kind }} />
    </>
  );
}

function Kinds({
  session,
  chosen,
  onChoose,
}: {
  readonly session: ShownSession;
  readonly chosen: Kind | null;
  readonly onChoose: (kind: Kind | null) => void;
}) {
  const kinds = (["commit", "save", "capture"] as const).filter((kind) => session.kinds[kind]);
  if (kinds.length < 2) return null;
  return (
    <fieldset class="event-kinds">
      <legend class="unseen">Kinds of events</legend>
      {([null, ...kinds] as const).map((kind) => (
        <button
          key={kind ?? "all"}
          type="button"
          aria-pressed={kind === chosen}
          onClick={() => onChoose(kind)}
        >
          {kind ? `${KIND_NAMES[kind]} ${session.kinds[kind]}` : "All"}
        </button>
      ))}
    </fieldset>
  );
}

/** Each page is asked for by itself, so that a long session costs no more than what is shown of it. */
function Pages({ id, sought }: { readonly id: string; readonly sought: Sought }) {
  const [pages, setPages] = useState(1);
  const [total, setTotal] = useState(0);
  useEffect(() => setPages(1), [sought.query, sought.kind]);
  const hidden = total - pages * PAGE;
  return (
    <>
      <p class="unseen" role="status">
        {count(total, "event")}
      </p>
      <ol class="events">
        {[...Array(pages).keys()].map((page) => (
          <Page key={page} id={id} sought={sought} page={page} onTotal={setTotal} />
        ))}
      </ol>
      {hidden > 0 && (
        <Button onClick={() => setPages(pages + 1)}>
          Show {Math.min(PAGE, hidden)} Earlier of {hidden.toLocaleString("en")}
        </Button>
      )}
    </>
  );
}

interface PageProps {
  readonly id: string;
  readonly sought: Sought;
  readonly page: number;
  readonly onTotal: (total: number) => void;
}

function Page({ id, sought, page, onTotal }: PageProps) {
  const answer = useAnswer(
    "threadline/sessions/events",
    { sessionId: id, ...sought, limit: PAGE, offset: page * PAGE, newestFirst: true },
    ["sessions"],
  );
  const total = answer.result?.total;
  useEffect(() => {
    if (total !== undefined) onTotal(total);
  }, [total, onTotal]);
  if (!answer.result || answer.problem)
    return (
      <li>
        <Waiting answer={answer} />
      </li>
    );
  if (total === 0)
    return (
      <li>
        <Empty title={sought.query || sought.kind ? "No such event here." : "No events."}>
          Words are looked for in messages, notes, authors and the names of files.
        </Empty>
      </li>
    );
  return (
    <>
      {answer.result.events.map((event) => (
        <li key={event.eventId} class={`event ${event.kind}`}>
          <time dateTime={event.occurredAt} title={new Date(event.occurredAt).toLocaleString()}>
            {clock(event.occurredAt)}
          </time>
          <Icon name={event.kind} />
          <Story event={event} />
        </li>
      ))}
    </>
  );
}

function Story({ event }: { readonly event: Event }) {
  const [file, ...others] = event.files;
  if (event.kind === "save" && file && others.length === 0)
    return (
      <div class="event-line">
        <span class="event-words">
          <FilePath path={file.path} />
        </span>
        <By event={event} />
      </div>
    );
  const words = rest(event);
  if (!words && !file)
    return (
      <div class="event-line">
        <span class="event-words">{headline(event)}</span>
        <By event={event} />
      </div>
    );
  return (
    <div class="event-line">
      <details class="event-words">
        <summary>
          {headline(event)}
          {event.commit?.dropped && <Chip tone="warm">dropped</Chip>}
        </summary>
        {words && <p class="event-body">{words}</p>}
        <Files files={event.files} />
        {event.commit && <Authorship event={event} />}
      </details>
      <By event={event} />
    </div>
  );
}

/** Who saw it, and under which name git knows it. */
function By({ event }: { readonly event: Event }) {
  return (
    <span class="event-by">
      <Sum files={event.files} />
      {event.commit ? <CommitName sha={event.commit.sha} /> : <Source name={event.source} />}
    </span>
  );
}

function Authorship({ event }: { readonly event: Event }) {
  const { host, project } = useScene();
  const { open } = host;
  const { commit } = event;
  if (!commit) return null;
  const facts = [commit.authorName, commit.branch && `on ${commit.branch}`].filter(Boolean);
  return (
    <p class="event-author muted">
      {facts.join(" ")}
      {facts.length > 0 && " · "}
      <Source name={event.source} />
      {open && (
        <>
          {" · "}
          <button type="button" class="link" onClick={() => open({ commit: commit.sha, project })}>
            Open Changes
          </button>
        </>
      )}
    </p>
  );
}

function Files({ files }: { readonly files: readonly FileChange[] }) {
  const hidden = files.length - MOST_FILES;
  return (
    <ul class="event-files">
      {files.slice(0, MOST_FILES).map((file) => (
        <li key={file.path}>
          <span class={`file-status ${file.status}`} title={file.status}>
            {(file.status ?? "modified").charAt(0).toUpperCase()}
          </span>
          <span class="event-file">
            {file.previousPath && <span class="muted">{file.previousPath} → </span>}
            <FilePath path={file.path} />
          </span>
          <Lines added={file.addedLines} deleted={file.deletedLines} />
        </li>
      ))}
      {hidden > 0 && <li class="muted">and {count(hidden, "more file")}</li>}
    </ul>
  );
}

/** Nothing where nobody counted. */
function Sum({ files }: { readonly files: readonly FileChange[] }) {
  const counted = files.filter(({ addedLines }) => typeof addedLines === "number");
  if (counted.length === 0) return null;
  const sum = (lines: (file: FileChange) => number | null | undefined) =>
    counted.reduce((total, file) => total + (lines(file) ?? 0), 0);
  return (
    <Lines added={sum((file) => file.addedLines)} deleted={sum((file) => file.deletedLines)} />
  );
}

function Lines({
  added,
  deleted,
}: {
  readonly added: number | null | undefined;
  readonly deleted: number | null | undefined;
}) {
  if (typeof added !== "number" && typeof deleted !== "number") return null;
  return (
    <span class="lines">
      <span class="added">+{added ?? 0}</span> <span class="deleted">−{deleted ?? 0}</span>
    </span>
  );
}

/** What somebody types, once they pause. */
function useLater(text: string): string {
  const [later, setLater] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setLater(text), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return later;
}
