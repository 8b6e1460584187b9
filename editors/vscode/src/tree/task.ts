/** A task; a click opens all that is known of it. */

import { MarkdownString, ThemeColor, ThemeIcon, TreeItem } from "vscode";
import { moment } from "../../shared/formats";
import { agentName, type Labels, priorityName } from "../../shared/names";
import type { ShownTask } from "../../shared/protocol.generated";
import { facts, STATUS_NAMES, type TaskStatus } from "../../shared/tasks";
import type { TreeNode } from "./node";

const SHOWN = 400;

const ICONS: Readonly<Record<TaskStatus, string>> = {
  in_progress: "play-circle",
  todo: "circle-large-outline",
  blocked: "circle-slash",
  backlog: "inbox",
  done: "pass",
};

interface Place {
  readonly labels: Labels;
  readonly obstacles: readonly string[];
  /** Named where the window holds more than one. */
  readonly project: string;
}

export function statusIcon(status: TaskStatus): string {
  return ICONS[status];
}

export class TaskNode implements TreeNode {
  constructor(
    readonly task: ShownTask,
    private readonly place: Place,
  ) {}

  item(): TreeItem {
    const { task, place } = this;
    const item = new TreeItem(task.title);
    const said = facts(task, place.labels);
    const when = task.completedAt && moment(task.completedAt, new Date());
    item.id = task.taskId;
    item.description = [said, place.project, when].filter(Boolean).join(" · ");
    item.iconPath = new ThemeIcon(statusIcon(task.status), color(task));
    item.contextValue = `task.${task.status}`;
    item.tooltip = this.tooltip();
    item.accessibilityInformation = {
      label: [`${STATUS_NAMES[task.status]} task: ${task.title}`, said].filter(Boolean).join(", "),
    };
    item.command = { command: "threadline.openTask", title: "Open", arguments: [this] };
    return item;
  }

  children(): TreeNode[] {
    return [];
  }

  private tooltip(): MarkdownString {
    const { task, place } = this;
    const text = new MarkdownString(undefined, true);
    const line = (icon: string, said: string | null) => {
      if (said) text.appendMarkdown(`\n\n$(${icon}) `).appendText(clipped(said));
    };
    text.appendMarkdown("**").appendText(task.title).appendMarkdown("**");
    if (task.description) text.appendMarkdown("\n\n").appendText(clipped(task.description));
    line(statusIcon(task.status), state(task, place.labels));
    line("watch", place.obstacles.length > 0 ? `waits for ${place.obstacles.join("; ")}` : null);
    line("checklist", task.doneWhen && `done when ${task.doneWhen}`);
    line("verified", task.evidence);
    line("note", task.notes.at(-1)?.text ?? null);
    return text;
  }
}

function state({ status, priority, assignedAgentId, autoCompleted }: ShownTask, labels: Labels) {
  return [
    STATUS_NAMES[status],
    priorityName(priority),
    `for ${agentName(assignedAgentId, labels)}`,
    autoCompleted && "completed by itself",
  ]
    .filter(Boolean)
    .join(" · ");
}

function color({ status, priority }: ShownTask): ThemeColor | undefined {
  if (status === "done") return new ThemeColor("charts.green");
  if (status === "blocked") return new ThemeColor("list.errorForeground");
  if (priority >= 4) return new ThemeColor("list.warningForeground");
  return status === "in_progress" ? new ThemeColor("charts.blue") : undefined;
}

function clipped(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
