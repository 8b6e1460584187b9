/** All that is known of a memory: why, from where, about what, and whether it still holds. */

import type { ComponentChildren } from "preact";
import { agentName, type Labels } from "../../../shared/names";
import type { Evidence, Memory, Neighbour, ShownMemory } from "../../../shared/protocol.generated";
import { linkName, VERDICTS } from "../../../shared/remarks";
import { useAnswer } from "../../asking";
import { Chip, CommitName, FilePath, Marked, Moment, Way } from "../../pieces";

interface DetailsProps {
  readonly memory: Memory;
  readonly labels: Labels;
  readonly query: string;
}

export function Details({ memory, labels, query }: DetailsProps) {
  const { memoryId, supersedes, supersededBy, covers } = memory;
  const others = [supersedes, supersededBy, ...covers.slice(0, 20)].filter((id) => id !== null);
  const params = { memoryIds: [...new Set([memoryId, ...others])] };
  const { result } = useAnswer("threadline/memories/read", params, ["memories", "links"]);
  const known = new Map(result?.memories.map((one) => [one.memoryId, one]));
  const links = known.get(memoryId)?.links ?? [];
  return (
    <div class="memory-details">
      <p class="memory-content">
        <Marked text={memory.content} query={query} />
      </p>
      {memory.rationale && (
        <p class="memory-why">
          <strong>Why:</strong> <Marked text={memory.rationale} query={query} />
        </p>
      )}
      {memory.evidence.length > 0 && (
        <Section title="Evidence">
          <ul class="evidence">
            {memory.evidence.map((one, place) => (
              <li key={place}>
                <Proof evidence={one} sessionId={memory.sessionId} />
              </li>
            ))}
          </ul>
        </Section>
      )}
      {(memory.files.length > 0 || memory.verdict) && (
        <Section title="Files">
          <Places memory={memory} />
        </Section>
      )}
      <Succession memory={memory} known={known} />
      {links.length > 0 && (
        <Section title="Linked">
          <ul>
            {links.map((link) => (
              <li key={link.linkId}>
                <span class="muted">{linkName(link)}</span> <End link={link} />
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="Origin">
        <Origin memory={memory} labels={labels} />
      </Section>
    </div>
  );
}

function Section(props: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="memory-section" aria-label={props.title}>
      <h4>{props.title}</h4>
      <div>{props.children}</div>
    </section>
  );
}

function Proof({ evidence, sessionId }: { evidence: Evidence; sessionId: string | null }) {
  const { quote, commitSha, eventId } = evidence;
  return (
    <>
      <blockquote>{quote}</blockquote>
      {commitSha && (
        <>
          commit <CommitName sha={commitSha} />
        </>
      )}
      {!commitSha && eventId && sessionId && (
        <Way to={{ page: "session", id: sessionId }}>in this session</Way>
      )}
    </>
  );
}

function Places({ memory }: { readonly memory: Memory }) {
  const symbols = (path: string) =>
    memory.anchors.flatMap((anchor) => (anchor.path === path && anchor.symbol) || []);
  const verdict = memory.verdict && VERDICTS[memory.verdict];
  return (
    <>
      {verdict && (
        <p class="verdict">
          <Chip tone={verdict[1]}>{memory.verdict}</Chip> {verdict[0]}{" "}
          {memory.checkedAt && (
            <span class="muted">
              Looked at <Moment at={memory.checkedAt} />.
            </span>
          )}
        </p>
      )}
      <ul class="paths">
        {memory.files.map((path) => (
          <li key={path}>
            <FilePath path={path} />
            {symbols(path).map((symbol) => (
              <code key={symbol} class="muted">
                {" "}
                {symbol}
              </code>
            ))}
          </li>
        ))}
      </ul>
    </>
  );
}

interface SuccessionProps {
  readonly memory: Memory;
  readonly known: ReadonlyMap<string, ShownMemory>;
}

function Succession({ memory, known }: SuccessionProps) {
  const rows = [
    ["Superseded By", memory.supersededBy ? [memory.supersededBy] : []],
    ["Supersedes", memory.supersedes ? [memory.supersedes] : []],
    ["Sums Up", memory.covers],
  ] as const;
  return (
    <>
      {rows
        .filter(([, ids]) => ids.length > 0)
        .map(([title, ids]) => (
          <Section key={title} title={title}>
            <ul>
              {ids.slice(0, 20).map((id) => (
                <li key={id}>
                  <Way to={{ page: "memory", id }}>{known.get(id)?.title ?? id}</Way>
                </li>
              ))}
            </ul>
          </Section>
        ))}
    </>
  );
}

function End({ link }: { readonly link: Neighbour }) {
  switch (link.kind) {
    case "memory":
      return <Way to={{ page: "memory", id: link.id }}>{link.title}</Way>;
    case "task":
      return <Way to={{ page: "tasks", id: link.id }}>{link.title}</Way>;
    case "file":
      return <FilePath path={link.id} />;
    case "document":
      return <>document “{link.title}”</>;
  }
}

function Origin({ memory, labels }: { readonly memory: Memory; readonly labels: Labels }) {
  const { agentId, sessionId, jobId, branch, createdAt, updatedAt, updatedBy } = memory;
  const author = agentId ? agentName(agentId, labels) : jobId ? "Threadline" : "a person";
  return (
    <>
      Written by {author}
      {sessionId && (
        <>
          {" "}
          from <Way to={{ page: "session", id: sessionId }}>a session</Way>
        </>
      )}
      {branch && (
        <>
          {" "}
          on <code>{branch}</code>
        </>
      )}
      , <Moment at={createdAt} />.
      {updatedAt !== createdAt && (
        <>
          {" "}
          Changed{updatedBy ? ` by ${agentName(updatedBy, labels)}` : ""} <Moment at={updatedAt} />.
        </>
      )}
    </>
  );
}
