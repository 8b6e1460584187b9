/** What a block or a bead is, beside it. */

import { TYPES } from "../../../shared/filters";
import { clock, count } from "../../../shared/formats";
import type { MemoryMark, SessionMark } from "../../../shared/protocol.generated";
import { title } from "../../../shared/stories";
import { counts, kindName, times } from "./names";

const COMMITS = 5;
const MEMORIES = 6;
const WIDTH = 320;

export interface Shown {
  readonly session: SessionMark | undefined;
  readonly memories: readonly MemoryMark[];
  /** Its middle, its upper edge and its height within the chart. */
  readonly left: number;
  readonly top: number;
  readonly height: number;
  /** How wide the chart is. */
  readonly room: number;
  /** Whether there is more room above it than below. */
  readonly isLow: boolean;
}

/** Everything it says is in the link's own label too: who cannot see it misses nothing. */
export function Card({
  shown,
  memories,
}: {
  readonly shown: Shown;
  readonly memories: readonly MemoryMark[];
}) {
  const { session, left, top, height, room, isLow } = shown;
  const width = Math.min(WIDTH, room);
  const style = {
    left: `${Math.min(Math.max(left - width / 2, 0), room - width)}px`,
    top: `${isLow ? top - 6 : top + height + 6}px`,
    width: `${width}px`,
  };
  return (
    <div class={`timeline-card ${isLow ? "above" : ""}`} style={style} aria-hidden="true">
      {session ? (
        <SessionCard session={session} memories={memories} />
      ) : (
        <MemoryLines memories={shown.memories} />
      )}
    </div>
  );
}

function SessionCard({
  session,
  memories,
}: {
  readonly session: SessionMark;
  readonly memories: readonly MemoryMark[];
}) {
  const own = memories.filter(({ sessionId }) => sessionId === session.sessionId);
  const kinds = TYPES.map(([type]) => ({
    type,
    number: own.filter((one) => one.type === type).length,
  }));
  const { commits, commitCount } = session;
  return (
    <>
      <p class="timeline-card-title">{title(session)}</p>
      <p class="muted">
        {times(session)} · {counts(session)}
      </p>
      {commits.length > 0 && (
        <ul>
          {commits.slice(0, COMMITS).map(({ sha, subject, at }) => (
            <li key={sha}>
              <span class="muted">{clock(at)}</span> {subject}
            </li>
          ))}
          {commitCount > COMMITS && <li class="muted">and {commitCount - COMMITS} more</li>}
        </ul>
      )}
      {own.length > 0 && (
        <p class="kinds">
          {kinds.map(
            ({ type, number }) =>
              number > 0 && (
                <span key={type}>
                  <span class={`sample bead ${type}`} /> {count(number, kindName(type))}
                </span>
              ),
          )}
        </p>
      )}
    </>
  );
}

function MemoryLines({ memories }: { readonly memories: readonly MemoryMark[] }) {
  return (
    <ul class="remembered">
      {memories.slice(0, MEMORIES).map(({ memoryId, type, title, at }) => (
        <li key={memoryId}>
          <span class={`sample bead ${type}`} />
          <span>
            {title} <span class="muted">{`${kindName(type)}, ${clock(at)}`}</span>
          </span>
        </li>
      ))}
      {memories.length > MEMORIES && <li class="muted">and {memories.length - MEMORIES} more</li>}
    </ul>
  );
}
