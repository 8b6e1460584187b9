/** Writing down a task, or several at once. */

import { useEffect, useRef, useState } from "preact/hooks";
import { count } from "../../../shared/formats";
import { ANYONE, type Labels } from "../../../shared/names";
import type { TaskStatus } from "../../../shared/tasks";
import { useActing, useScene } from "../../asking";
import { useKept } from "../../keeping";
import { Button } from "../../pieces";
import { planOf } from "./boards";
import { AgentChoice, PriorityChoice, StatusChoice } from "./choices";

interface AdderProps {
  readonly labels: Labels;
  readonly onEnd: () => void;
}

export function Adder({ labels, onEnd }: AdderProps) {
  const { host, project, tell } = useScene();
  const { act, isBusy } = useActing();
  const [text, setText] = useKept("new tasks", "");
  const [status, setStatus] = useState<TaskStatus>("todo");
  const [priority, setPriority] = useState(3);
  const [assignedAgentId, setAgent] = useState<string>(ANYONE);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const plan = planOf(text);
  const save = () =>
    act(async () => {
      const tasks = plan.map((task) => ({ ...task, status, priority, assignedAgentId }));
      const written = await host.request("threadline/tasks/create", { project, tasks });
      const [warning] = written.warnings;
      tell(warning?.text ?? `${count(written.tasks.length, "task")} written down.`, !warning);
      setText("");
      onEnd();
    });
  const press = (event: KeyboardEvent) => {
    if (event.key === "Escape") onEnd();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && plan.length > 0) void save();
  };
  return (
    <form
      class="card adder"
      aria-label="New tasks"
      onKeyDown={press}
      onSubmit={(event) => event.preventDefault()}
    >
      <label>
        What is to be done, one task a line
        <textarea
          ref={field}
          rows={Math.min(Math.max(text.split("\n").length + 1, 3), 12)}
          value={text}
          placeholder={"Write the release notes\n  indented lines say more about it"}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <div class="adder-row">
        <StatusChoice value={status} name="Status" onChange={setStatus} />
        <PriorityChoice value={priority} name="Priority" onChange={setPriority} />
        <AgentChoice value={assignedAgentId} name="Assign to" labels={labels} onChange={setAgent} />
        <Button kind="primary" isOff={isBusy || plan.length === 0} onClick={() => void save()}>
          {plan.length > 1 ? `Create ${plan.length} Tasks` : "Create Task"}
        </Button>
        <Button onClick={onEnd}>Cancel</Button>
      </div>
    </form>
  );
}
