/** Memories that were made from a session, each with the words it stands on. */

import { typeName } from "../../../shared/filters";
import type { Evidence, Memory, SearchResult } from "../../../shared/protocol.generated";
import { Icon } from "../../icons";
import { Chip, CommitName, Empty, FilePath, type Tone, Way } from "../../pieces";

const MOST_FILES = 6;

const VERDICTS: Readonly<Record<NonNullable<Memory["verdict"]>, readonly [string, Tone]>> = {
  fresh: ["code unchanged", "good"],
  changed: ["code has changed", "warm"],
  gone: ["code is gone", "bad"],
};

export function MemoriesTab({ found }: { readonly found: SearchResult }) {
  const memories = found.memories.map(({ memory }) => memory);
  if (memories.length === 0)
    return (
      <Empty title="No memory from this session yet.">
        Generate Memory keeps what is worth knowing later: decisions with their reasons, rules, what
        is left to do. Each is kept with the words it comes from.
      </Empty>
    );
  return (
    <>
      <ul class="cards">
        {memories.map((memory) => (
          <li key={memory.memoryId}>
            <MemoryCard memory={memory} />
          </li>
        ))}
      </ul>
      {found.total > memories.length && (
        <p class="muted more">
          The {memories.length} most useful of {found.total.toLocaleString("en")}.{" "}
          <Way to={{ page: "memory" }}>Search Memory</Way>
        </p>
      )}
    </>
  );
}

function MemoryCard({ memory }: { readonly memory: Memory }) {
  const { title, content, rationale, type, status, verdict, pinned, files, evidence } = memory;
  const [verdictWords, tone] = verdict ? VERDICTS[verdict] : [];
  return (
    <article class={`card memory-made ${type} ${status}`}>
      <header>
        <span class="made-type">{typeName(type)}</span>
        <Way to={{ page: "memory", id: memory.memoryId }} class="made-title">
          {title}
        </Way>
        {pinned && <Icon name="pin" />}
        {status !== "active" && <Chip tone="warm">{status}</Chip>}
        {verdictWords && verdict !== "fresh" && <Chip tone={tone ?? "plain"}>{verdictWords}</Chip>}
      </header>
      {content !== title && <p class="made-content">{content}</p>}
      {rationale && <p class="made-why muted">Why: {rationale}</p>}
      {evidence.map((one) => (
        <Quote key={`${one.eventId} ${one.quote}`} evidence={one} />
      ))}
      {files.length > 0 && (
        <p class="memory-files">
          <Icon name="file" />
          {files.slice(0, MOST_FILES).map((path) => (
            <FilePath key={path} path={path} />
          ))}
          {files.length > MOST_FILES && (
            <span class="muted">and {files.length - MOST_FILES} more</span>
          )}
        </p>
      )}
    </article>
  );
}

function Quote({ evidence }: { readonly evidence: Evidence }) {
  return (
    <figure class="quote">
      <blockquote>{evidence.quote}</blockquote>
      {evidence.commitSha && (
        <figcaption>
          <Icon name="commit" /> <CommitName sha={evidence.commitSha} />
        </figcaption>
      )}
    </figure>
  );
}
