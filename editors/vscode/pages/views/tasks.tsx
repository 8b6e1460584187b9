/** The board: what is to be done, by whom, and how far it is. */

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { count } from "../../shared/formats";
import type { ShownTask } from "../../shared/protocol.generated";
import { type Column, STATUS_NAMES } from "../../shared/tasks";
import { useAgents } from "../agents";
import { useAnswer } from "../asking";
import { useKept } from "../keeping";
import { Button, Empty, Waiting } from "../pieces";
import { useSettled } from "../timing";
import { Adder } from "./tasks/adding";
import { columns, moved } from "./tasks/boards";
import { TaskCard } from "./tasks/card";
import { type Change, useChanging } from "./tasks/changing";
import { AgentChoice } from "./tasks/choices";
import { TaskDetails } from "./tasks/details";

const PAUSE = 200;
const MOST = 200;
const DONE = 15;
const DRAGGED = "application/x-threadline-task";

export function TasksView({ id }: { readonly id: string | undefined }) {
  const [text, setText] = useKept("task words", "");
  const [agent, setAgent] = useKept("task agent", "");
  const [isAdding, setAdding] = useState(false);
  const [open, setOpen] = useState(id);
  const [done, setDone] = useState(DONE);
  const [said, say] = useState("");
  const labels = useAgents("tasks");
  const wanted = useSettled(text.trim(), PAUSE);
  const answer = useAnswer(
    "threadline/tasks/list",
    { text: wanted, assignedAgentId: agent || null, limit: MOST, suggest: true },
    ["tasks", "sessions"],
  );
  const { change, moves } = useChanging(answer.refresh);
  const tasks = moved(answer.result?.tasks ?? [], moves);
  const total = answer.result?.total ?? 0;
  const shown = tasks.find(({ taskId }) => taskId === open);
  const isNarrow = wanted !== "" || agent !== "";
  const focus = useFocus();
  const update = async (task: ShownTask, what: Change) => {
    if (what.status) focus(task.taskId);
    const isDone = await change(task, what);
    if (isDone && what.status) say(`${task.title} is ${STATUS_NAMES[what.status]} now.`);
    return isDone;
  };
  return (
    <>
      <div class="heading">
        <h2>Tasks</h2>
        <p class="muted">{answer.result && count(total, "task")}</p>
        <span class="heading-end board-tools">
          <input
            type="search"
            aria-label="Find tasks"
            placeholder="Find tasks"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <AgentChoice
            value={agent}
            name="Whose tasks"
            labels={labels}
            nobody="Everybody's"
            onChange={setAgent}
          />
          <Button icon="add" kind="primary" onClick={() => setAdding(true)}>
            New Task
          </Button>
        </span>
      </div>
      <p class="unseen" role="status">
        {said}
      </p>
      {isAdding && <Adder labels={labels} onEnd={() => setAdding(false)} />}
      <Waiting answer={answer} />
      {answer.result && open && !shown && !isNarrow && total <= MOST && (
        <p class="muted task-missing" role="status">
          There is no such task. It may belong to another project.
        </p>
      )}
      {answer.result && total === 0 && !isAdding && (
        <Empty title={isNarrow ? "No task is like that." : "No tasks yet."}>
          {isNarrow
            ? "Try other words, or look at everybody's."
            : "Write down what is to be done: agents see it when they begin, take it up, and tell you when it is done."}
        </Empty>
      )}
      {total > 0 && (
        <div class="board">
          {columns(tasks, total, done).map((column) => (
            <Lane
              key={column.status}
              column={column}
              onDrop={(taskId) => {
                const task = tasks.find((one) => one.taskId === taskId);
                if (task && task.status !== column.status)
                  void update(task, { status: column.status });
              }}
            >
              {(task) => (
                <TaskCard
                  task={task}
                  labels={labels}
                  onOpen={() => setOpen(task.taskId)}
                  onChange={(what) => void update(task, what)}
                />
              )}
            </Lane>
          ))}
        </div>
      )}
      {columns(tasks, total, done).some(
        ({ status, tasks }) => status === "done" && tasks.length === done,
      ) && <Button onClick={() => setDone(done + DONE)}>Show More That Is Done</Button>}
      {shown && (
        <TaskDetails
          key={shown.taskId}
          task={shown}
          all={tasks}
          labels={labels}
          onChange={(what) => update(shown, what)}
          onOpen={setOpen}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  );
}

interface LaneProps {
  readonly column: Column;
  readonly onDrop: (taskId: string) => void;
  readonly children: (task: ShownTask) => ComponentChildren;
}

function Lane({ column, onDrop, children }: LaneProps) {
  const [isOver, setOver] = useState(false);
  const { status, name, tasks, total } = column;
  return (
    <section
      class={`pile ${status} ${isOver ? "over" : ""}`}
      aria-label={`${name}, ${total}`}
      onDragOver={(event) => {
        if (!event.dataTransfer?.types.includes(DRAGGED)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const taskId = event.dataTransfer?.getData(DRAGGED);
        if (taskId) onDrop(taskId);
      }}
    >
      <h3>
        {name} <span class="muted">{total}</span>
      </h3>
      <ul>
        {tasks.map((task) => (
          <li key={task.taskId}>{children(task)}</li>
        ))}
      </ul>
    </section>
  );
}

/** A card that moves takes the cursor with it, wherever it is drawn anew. */
function useFocus(): (taskId: string) => void {
  const wanted = useRef<string | undefined>(undefined);
  useEffect(() => {
    const leave = () => {
      wanted.current = undefined;
    };
    addEventListener("pointerdown", leave);
    return () => removeEventListener("pointerdown", leave);
  }, []);
  useLayoutEffect(() => {
    const isLost = document.activeElement === document.body;
    if (isLost && wanted.current)
      document.querySelector<HTMLElement>(`[data-task="${wanted.current}"]`)?.focus();
  });
  return (taskId) => {
    wanted.current = taskId;
  };
}
