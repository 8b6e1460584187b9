/** One task on the board. */

import { ANYONE, agentName, type Labels, priorityName } from "../../../shared/names";
import type { ShownTask } from "../../../shared/protocol.generated";
import { Icon } from "../../icons";
import { Button, Chip, Moment } from "../../pieces";
import { beside } from "./boards";
import type { Change } from "./changing";
import { StatusChoice } from "./choices";

interface CardProps {
  readonly task: ShownTask;
  readonly labels: Labels;
  readonly onOpen: () => void;
  readonly onChange: (said: Change) => void;
}

export function TaskCard({ task, labels, onOpen, onChange }: CardProps) {
  const { taskId, title, status, priority, doneWhen, assignedAgentId, notes } = task;
  const waiting = task.needs.filter(({ status }) => status !== "done");
  const isDone = status === "done";
  const press = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key] as 1 | -1 | undefined;
    const next = event.altKey && step ? beside(status, step) : undefined;
    if (!next) return;
    event.preventDefault();
    onChange({ status: next });
  };
  return (
    <article
      class={`card task priority-${priority}`}
      aria-label={title}
      draggable
      onDragStart={(event) => {
        event.dataTransfer?.setData("text/plain", taskId);
        event.dataTransfer?.setData("application/x-threadline-task", taskId);
      }}
    >
      <div class="task-move" title="Move to …">
        <Icon name="more" />
        <StatusChoice
          value={status}
          name={`Status of ${title}`}
          onChange={(next) => onChange({ status: next })}
        />
      </div>
      <h4>
        <button
          type="button"
          class="task-title"
          data-task={taskId}
          aria-keyshortcuts="Alt+ArrowRight Alt+ArrowLeft"
          onClick={onOpen}
          onKeyDown={press}
        >
          {title}
        </button>
      </h4>
      <p class="task-facts">
        {!isDone && priorityName(priority) && (
          <Chip tone={priority > 3 ? "bad" : "plain"}>{priorityName(priority)}</Chip>
        )}
        {assignedAgentId !== ANYONE && <span>{agentName(assignedAgentId, labels)}</span>}
        {notes.length > 0 && (
          <span class="muted">{notes.length === 1 ? "1 note" : `${notes.length} notes`}</span>
        )}
        {isDone && task.completedAt && (
          <span class="muted">
            <Moment at={task.completedAt} />
            {task.autoCompleted ? ", by itself" : ""}
          </span>
        )}
      </p>
      {doneWhen && !isDone && (
        <p class="task-line muted">
          <Icon name="check" /> <span>{doneWhen}</span>
        </p>
      )}
      {!isDone && waiting.length > 0 && (
        <p class="task-line muted">
          <Icon name="link" /> <span>waits for {waiting.map((one) => one.title).join(", ")}</span>
        </p>
      )}
      {isDone && task.evidence && <p class="task-line muted">{task.evidence}</p>}
      {task.suggestion && !isDone && <Suggestion words={task.suggestion} onChange={onChange} />}
    </article>
  );
}

interface SuggestionProps {
  readonly words: string;
  readonly onChange: (said: Change) => void;
}

export function Suggestion({ words, onChange }: SuggestionProps) {
  return (
    <div class="suggestion">
      <p>
        <strong>Looks done:</strong> {words}
      </p>
      <Button icon="check" onClick={() => onChange({ status: "done", evidence: words })}>
        Complete
      </Button>
      <Button onClick={() => onChange({ notDone: true })}>Not Yet</Button>
    </div>
  );
}
