/** What a person does with tasks: write down, begin, finish, assign, read. */

import * as vscode from "vscode";
import { ANYONE, priorityName, USER } from "../../shared/names";
import type { ShownTask, UpdateTaskParams } from "../../shared/protocol.generated";
import { columns, facts, STATUS_NAMES, type TaskStatus } from "../../shared/tasks";
import { askText, choose, chooseAgent, chooseProject } from "../choosing";
import type { Show } from "../panels/visiting";
import { Registrations } from "../registrations";
import type { Requests } from "../requests";
import { statusIcon, TaskNode } from "../tree/task";
import type { Board } from "./board";

const TITLE = 500;
const DESCRIPTION = 5_000;
const USUAL = 3;
const PRIORITIES = [5, 4, 3, 2, 1] as const;

export class TaskCommands extends Registrations {
  constructor(
    private readonly requests: Requests,
    private readonly board: Board,
    private readonly show: Show,
  ) {
    super();
    this.register("threadline.showTasks", "show the tasks", showTasks);
    this.register("threadline.createTask", "write down the task", () => this.create());
    this.register("threadline.openTask", "open the task", (given) => this.open(given));
    this.register("threadline.startTask", "start the task", (given, all) =>
      this.change(given, all, async () => ({ status: "in_progress" })),
    );
    this.register("threadline.completeTask", "complete the task", (given, all) =>
      this.change(given, all, async () => ({ status: "done" })),
    );
    this.register("threadline.setTaskStatus", "change the task's status", (given, all) =>
      this.change(given, all, chooseStatus),
    );
    this.register("threadline.setTaskPriority", "change the task's priority", (given, all) =>
      this.change(given, all, choosePriority),
    );
    this.register("threadline.assignTask", "assign the task", (given, all) =>
      this.change(given, all, (task) => this.chooseAssignee(task)),
    );
  }

  private async create(): Promise<void> {
    const projects = (this.board.all ?? []).map(({ project }) => project);
    const project = await chooseProject("Create a Task in Which Project?", projects);
    if (!project) return;
    const title = await askText("New Task (1/3)", {
      placeHolder: "What is to be done?",
      most: TITLE,
    });
    if (!title) return;
    const description = await askText("New Task (2/3)", {
      placeHolder: "More about it (optional)",
      most: DESCRIPTION,
      mayBeEmpty: true,
    });
    if (description === undefined) return;
    const chosen = await choosePriority({ priority: USUAL }, "New Task (3/3)");
    if (!chosen) return;
    const tasks = [{ title, description, priority: chosen.priority }];
    await this.requests.request("threadline/tasks/create", { project: project.projectId, tasks });
    this.board.refresh();
  }

  private async open(given: unknown): Promise<void> {
    const task = await this.task(given);
    if (task) this.show({ page: "tasks", id: task.taskId, project: task.projectId });
  }

  /** Change what is selected, or the task that is picked where a command comes from the palette. */
  private async change(
    given: unknown,
    all: unknown,
    decide: (task: ShownTask) => Promise<Omit<UpdateTaskParams, "taskId"> | undefined>,
  ): Promise<void> {
    const selected = Array.isArray(all) ? all.filter((one) => one instanceof TaskNode) : [];
    const task = await this.task(given);
    const change = task && (await decide(task));
    if (!change) return;
    const tasks = selected.length > 1 ? selected.map((node) => node.task) : [task];
    await Promise.all(
      tasks.map(({ projectId, taskId }) =>
        this.requests.request("threadline/tasks/update", { project: projectId, taskId, ...change }),
      ),
    );
    this.board.refresh();
  }

  private async chooseAssignee({ projectId }: ShownTask) {
    const assignedAgentId = await chooseAgent(this.requests, "Assign to…", {
      project: projectId,
      others: [
        { label: "$(account) Me", description: USER, value: USER },
        { label: "$(organization) Anyone", description: ANYONE, value: ANYONE },
      ],
    });
    return assignedAgentId ? { assignedAgentId } : undefined;
  }

  private async task(given: unknown): Promise<ShownTask | undefined> {
    if (given instanceof TaskNode) return given.task;
    const plans = this.board.all ?? [];
    const choices = columns(plans).flatMap(({ status, name, tasks }) =>
      tasks.map((value) => ({
        label: `$(${statusIcon(status)}) ${value.title}`,
        description: [name, facts(value, new Map())].filter(Boolean).join(" · "),
        value,
      })),
    );
    if (choices.length > 0) return choose("Which Task?", choices);
    void vscode.window.showInformationMessage("There are no tasks yet.");
    return undefined;
  }
}

async function chooseStatus({ status }: ShownTask) {
  const entries = Object.entries(STATUS_NAMES) as [TaskStatus, string][];
  const choices = entries.map(([value, name]) => ({
    label: `$(${statusIcon(value)}) ${name}`,
    description: value === status ? "now" : "",
    value,
  }));
  const chosen = await choose("Set Status", choices);
  return chosen && { status: chosen };
}

async function choosePriority({ priority }: Pick<ShownTask, "priority">, title = "Set Priority") {
  const usual = PRIORITIES.toSorted((a, b) => Number(b === priority) - Number(a === priority));
  const choices = usual.map((value) => ({
    label: String(value),
    description: priorityName(value) || "as most",
    value,
  }));
  const chosen = await choose(title, choices);
  return chosen && { priority: chosen };
}

async function showTasks(): Promise<void> {
  await vscode.commands.executeCommand("threadline.tasks.focus");
}
