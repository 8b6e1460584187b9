/** Reading a project's tasks from the sidecar. */

import { labels } from "../../shared/names";
import type {
  ListTasksParams,
  Project,
  ShownTask,
  TaskPage,
} from "../../shared/protocol.generated";
import { OPEN, type Plan } from "../../shared/tasks";
import type { Requests } from "../requests";

/** The most that the sidecar gives at once. */
export const PAGE = 200;
const MOST = 1000;
const YEAR = 365;
const AGENTS = 100;

export async function readPlan(requests: Requests, project: Project, done: number): Promise<Plan> {
  const of = { project: project.projectId };
  const list = (params: ListTasksParams) =>
    requests.request("threadline/tasks/list", { ...of, ...params });
  const [{ agents }, open, finished] = await Promise.all([
    requests.request("threadline/agents/list", { ...of, daysBack: YEAR, limit: AGENTS }),
    readOpen(list),
    list({ statuses: ["done"], limit: done }),
  ]);
  return {
    project,
    labels: labels(agents),
    open: open.tasks,
    done: finished.tasks,
    totals: { open: open.total, done: finished.total },
  };
}

async function readOpen(list: (params: ListTasksParams) => Promise<TaskPage>): Promise<TaskPage> {
  const tasks: ShownTask[] = [];
  for (;;) {
    const page = await list({ statuses: [...OPEN], limit: PAGE, offset: tasks.length });
    tasks.push(...page.tasks);
    const isLast = page.tasks.length === 0 || tasks.length >= Math.min(page.total, MOST);
    if (isLast) return { tasks, total: page.total };
  }
}
