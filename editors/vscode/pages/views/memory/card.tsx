/** One memory: a glance at it, and all of it once it is opened. */

import { useEffect } from "preact/hooks";
import { typeName } from "../../../shared/filters";
import { agentName, type Labels } from "../../../shared/names";
import type { Memory } from "../../../shared/protocol.generated";
import { remarks } from "../../../shared/remarks";
import { begin, type Edit } from "../../drafts";
import { Icon } from "../../icons";
import { useKept } from "../../keeping";
import { excerpt } from "../../marking";
import { Chip, Marked, Moment, Way } from "../../pieces";
import { Actions } from "./actions";
import { Details } from "./details";
import { type Draft, draftOf } from "./drafts";
import { Editor } from "./editing";

const GLANCE = 220;

interface CardProps {
  readonly memory: Memory;
  readonly labels: Labels;
  readonly query: string;
  /** It is all there is on the page: it stays open. */
  readonly isAlone?: boolean;
  readonly isOpen?: boolean;
  readonly onToggle?: () => void;
  /** Told while it is being edited, so that nobody takes it away. */
  readonly onHold?: (memoryId: string, memory: Memory | null) => void;
}

export function MemoryCard(props: CardProps) {
  const { memory, labels, query, isAlone = false, onHold } = props;
  const isOpen = isAlone || (props.isOpen ?? false);
  const [edit, setEdit] = useKept<Edit<Draft> | null>(`edit ${memory.memoryId}`, null);
  const isEditing = isOpen && edit !== null;
  useEffect(() => {
    onHold?.(memory.memoryId, isEditing ? memory : null);
  }, [isEditing, memory, onHold]);
  const context = {
    webviewSection: "memory",
    memoryId: memory.memoryId,
    project: memory.projectId,
  };
  return (
    <article
      class={`card memory ${memory.type} ${memory.status} ${isOpen ? "open" : ""}`}
      aria-label={memory.title}
      data-vscode-context={JSON.stringify({ ...context, preventDefaultContextMenuItems: true })}
    >
      <Head {...props} isOpen={isOpen} />
      {!isOpen && memory.status !== "forgotten" && (
        <p class="memory-glance">
          <Marked text={excerpt(news(memory), query, GLANCE)} query={query} />
        </p>
      )}
      {isOpen && memory.status !== "forgotten" && (
        <div class="memory-body" id={`memory-${memory.memoryId}`}>
          {edit ? (
            <Editor memory={memory} edit={edit} onEdit={setEdit} />
          ) : (
            <>
              <Details memory={memory} labels={labels} query={query} />
              <Actions
                memory={memory}
                onEdit={() => setEdit(begin(draftOf(memory), memory.updatedAt))}
              />
            </>
          )}
        </div>
      )}
    </article>
  );
}

/** What the content says beyond the title it begins with. */
function news({ title, content }: Memory): string {
  const rest = content.startsWith(title) ? content.slice(title.length).replace(/^[\s.:]+/, "") : "";
  return content.startsWith(title) ? rest : content;
}

function Head({ memory, labels, query, isAlone, isOpen = false, onToggle }: CardProps) {
  const { memoryId, pinned, importance, agentId, tags } = memory;
  const title = <Marked text={memory.title} query={query} />;
  return (
    <header class="memory-head">
      <p class="memory-kind">
        <span class="memory-type">{typeName(memory.type)}</span>
        <Importance value={importance} />
        {pinned && (
          <span class="memory-pinned" title="Pinned">
            <Icon name="pin" />
            <span class="unseen">pinned</span>
          </span>
        )}
        {remarks(memory).map(([words, tone]) => (
          <Chip key={words} tone={tone}>
            {words}
          </Chip>
        ))}
        <span class="muted memory-when">
          {agentId && `${agentName(agentId, labels)} · `}
          <Moment at={memory.occurredAt} />
        </span>
      </p>
      <h3>
        {isAlone || memory.status === "forgotten" ? (
          title
        ) : (
          <button
            type="button"
            class="memory-title"
            aria-expanded={isOpen}
            aria-controls={isOpen ? `memory-${memoryId}` : undefined}
            onClick={onToggle}
          >
            {title}
          </button>
        )}
      </h3>
      {isOpen && (tags.length > 0 || !isAlone) && (
        <p class="memory-tags">
          {tags.map((tag) => (
            <span key={tag} class="tag">
              #{tag}
            </span>
          ))}
          {!isAlone && (
            <Way to={{ page: "memory", id: memoryId }} class="memory-link">
              <Icon name="link" />
              Own Page
            </Way>
          )}
        </p>
      )}
    </header>
  );
}

function Importance({ value }: { readonly value: number }) {
  return (
    <span
      class="importance"
      role="img"
      aria-label={`importance ${value} of 5`}
      title={`Importance ${value} of 5`}
    >
      {[1, 2, 3, 4, 5].map((step) => (
        <span key={step} class={step <= value ? "on" : ""} />
      ))}
    </span>
  );
}
