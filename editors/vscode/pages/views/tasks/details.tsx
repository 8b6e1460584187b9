/** All of a task: read, changed, noted, in a dialog over the board. */

import { useEffect, useRef, useState } from "preact/hooks";
import { agentName, type Labels } from "../../../shared/names";
import type { ShownTask } from "../../../shared/protocol.generated";
import { begin, changed, type Edit, insist, isChanged, rebased } from "../../drafts";
import { useKept } from "../../keeping";
import { Button, Moment } from "../../pieces";
import { Suggestion } from "./card";
import type { Change } from "./changing";
import { AgentChoice, PriorityChoice, StatusChoice } from "./choices";

interface Draft {
  readonly title: string;
  readonly description: string;
  readonly doneWhen: string;
}

interface DetailsProps {
  readonly task: ShownTask;
  readonly all: readonly ShownTask[];
  readonly labels: Labels;
  readonly onChange: (said: Change) => Promise<boolean>;
  readonly onOpen: (taskId: string) => void;
  readonly onClose: () => void;
}

export function TaskDetails(props: DetailsProps) {
  const { task, labels, onChange, onClose } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself.
    <dialog
      ref={dialog}
      class="task-dialog"
      aria-label={task.title}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <div class="task-sheet">
        <Words {...props} />
        <div class="task-row">
          <StatusChoice
            value={task.status}
            name="Status"
            onChange={(status) => void onChange({ status })}
          />
          <PriorityChoice
            value={task.priority}
            name="Priority"
            onChange={(priority) => void onChange({ priority })}
          />
          <AgentChoice
            value={task.assignedAgentId}
            name="Assigned to"
            labels={labels}
            onChange={(assignedAgentId) => void onChange({ assignedAgentId })}
          />
        </div>
        {task.suggestion && task.status !== "done" && (
          <Suggestion words={task.suggestion} onChange={(said) => void onChange(said)} />
        )}
        <Needs {...props} />
        {task.evidence && (
          <section>
            <h4>Evidence</h4>
            <p class="words">{task.evidence}</p>
          </section>
        )}
        <Notes {...props} />
        <p class="muted">
          Written down by {task.createdBy ? agentName(task.createdBy, labels) : "you"}{" "}
          <Moment at={task.createdAt} />
          {task.updatedAt !== task.createdAt && (
            <>
              , changed {task.updatedBy ? `by ${agentName(task.updatedBy, labels)} ` : ""}
              <Moment at={task.updatedAt} />
            </>
          )}
          .
        </p>
        <Button onClick={() => dialog.current?.close()}>Close</Button>
      </div>
    </dialog>
  );
}

/** Its texts, which become fields; what somebody else changes meanwhile is not lost. */
function Words({ task, onChange }: DetailsProps) {
  const { title, description, updatedAt } = task;
  const theirs: Draft = { title, description, doneWhen: task.doneWhen ?? "" };
  const [kept, setEdit] = useKept<Edit<Draft> | null>(`task ${task.taskId}`, null);
  const edit = kept ?? begin(theirs, updatedAt);
  const moved = edit.updatedAt === updatedAt ? edit : rebased(edit, theirs, updatedAt);
  const { draft } = moved ?? edit;
  const isNew = isChanged(moved ?? edit);
  const set = (some: Partial<Draft>) =>
    setEdit({ ...(moved ?? edit), draft: { ...draft, ...some } });
  const save = async () => {
    if (moved && (await onChange(changed(moved)))) setEdit(null);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && isNew) void save();
  };
  return (
    <form
      class="task-words"
      aria-label="Task"
      onKeyDown={press}
      onSubmit={(event) => event.preventDefault()}
    >
      {!moved && (
        <div class="clash" role="alert">
          <p>
            <strong>Somebody has changed this task meanwhile.</strong> It now says “{title}”
            {description ? `: ${description}` : "."}
          </p>
          <Button onClick={() => setEdit(insist(edit, theirs, updatedAt))}>Keep Mine</Button>
          <Button onClick={() => setEdit(null)}>Take Theirs</Button>
        </div>
      )}
      <label>
        Title
        <input
          class="task-name"
          maxLength={500}
          value={draft.title}
          onInput={(event) => set({ title: event.currentTarget.value })}
        />
      </label>
      <label>
        Description
        <textarea
          rows={Math.min(Math.max(draft.description.split("\n").length + 1, 3), 12)}
          maxLength={5000}
          value={draft.description}
          onInput={(event) => set({ description: event.currentTarget.value })}
        />
      </label>
      <label>
        Done when
        <input
          maxLength={1000}
          placeholder="path exists: docs/release.md"
          value={draft.doneWhen}
          onInput={(event) => set({ doneWhen: event.currentTarget.value })}
        />
      </label>
      {isNew && (
        <div class="task-row">
          <Button kind="primary" isOff={!moved || !draft.title.trim()} onClick={() => void save()}>
            Save
          </Button>
          <Button onClick={() => setEdit(null)}>Undo</Button>
          <span class="muted hint">Ctrl+Enter saves</span>
        </div>
      )}
    </form>
  );
}

function Needs({ task, all, onChange, onOpen }: DetailsProps) {
  const known = new Set([task.taskId, ...task.dependsOn]);
  const others = all.filter(({ taskId, status }) => !known.has(taskId) && status !== "done");
  return (
    <section>
      <h4>Waits for</h4>
      <ul class="needs">
        {task.needs.map(({ taskId, title, status }) => (
          <li key={taskId}>
            <button type="button" class="link" onClick={() => onOpen(taskId)}>
              {status === "done" ? <s>{title}</s> : title}
            </button>
            <Button
              icon="close"
              label={`Do not wait for ${title}`}
              onClick={() =>
                void onChange({ dependsOn: task.dependsOn.filter((id) => id !== taskId) })
              }
            />
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <select
          aria-label="Wait for another task"
          value=""
          onChange={(event) => {
            const { value } = event.currentTarget;
            if (value) void onChange({ dependsOn: [...task.dependsOn, value] });
          }}
        >
          <option value="">Wait for another task …</option>
          {others.map(({ taskId, title }) => (
            <option key={taskId} value={taskId}>
              {title}
            </option>
          ))}
        </select>
      )}
    </section>
  );
}

function Notes({ task, labels, onChange }: DetailsProps) {
  const [text, setText] = useState("");
  const add = async () => {
    if (text.trim() && (await onChange({ note: text.trim() }))) setText("");
  };
  return (
    <section>
      <h4>Notes</h4>
      <ul class="notes">
        {task.notes.map((note) => (
          <li key={note.at}>
            <p class="words">{note.text}</p>
            <p class="muted">
              {note.agentId ? agentName(note.agentId, labels) : "You"}, <Moment at={note.at} />
            </p>
          </li>
        ))}
      </ul>
      <div class="task-row">
        <input
          class="wide"
          aria-label="New note"
          placeholder="Add a note"
          maxLength={5000}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") void add();
          }}
        />
        <Button isOff={!text.trim()} onClick={() => void add()}>
          Add
        </Button>
      </div>
    </section>
  );
}
