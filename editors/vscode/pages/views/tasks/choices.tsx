/** Who does a task, how pressing it is, and how it stands: chosen from a few. */

import { ANYONE, agentName, type Labels, priorityName, USER } from "../../../shared/names";
import { STATUS_NAMES, type TaskStatus } from "../../../shared/tasks";
import { ORDER } from "./boards";

const PRIORITIES = [5, 4, 3, 2, 1] as const;

interface ChoiceProps<T> {
  readonly value: T;
  readonly name: string;
  readonly isOff?: boolean;
  readonly onChange: (value: T) => void;
}

export function StatusChoice({ value, name, isOff, onChange }: ChoiceProps<TaskStatus>) {
  return (
    <select
      aria-label={name}
      value={value}
      disabled={isOff}
      onChange={(event) => onChange(event.currentTarget.value as TaskStatus)}
    >
      {ORDER.map((status) => (
        <option key={status} value={status}>
          {STATUS_NAMES[status]}
        </option>
      ))}
    </select>
  );
}

export function PriorityChoice({ value, name, isOff, onChange }: ChoiceProps<number>) {
  return (
    <select
      aria-label={name}
      value={value}
      disabled={isOff}
      onChange={(event) => onChange(Number(event.currentTarget.value))}
    >
      {PRIORITIES.map((priority) => (
        <option key={priority} value={priority}>
          {priority} · {priorityName(priority) || "normal"}
        </option>
      ))}
    </select>
  );
}

export function AgentChoice({
  value,
  name,
  isOff,
  labels,
  nobody,
  onChange,
}: ChoiceProps<string> & { readonly labels: Labels; readonly nobody?: string }) {
  const known = [ANYONE, USER, ...labels.keys()];
  const all = value && !known.includes(value) ? [...known, value] : known;
  return (
    <select
      aria-label={name}
      value={value}
      disabled={isOff}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {nobody && <option value="">{nobody}</option>}
      {[...new Set(all)].map((id) => (
        <option key={id} value={id}>
          {id === USER ? "Me" : id === ANYONE ? "Anyone" : agentName(id, labels)}
        </option>
      ))}
    </select>
  );
}
