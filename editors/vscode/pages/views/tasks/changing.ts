/** Changing tasks: shown at once, refused where somebody was faster. */

import { useRef, useState } from "preact/hooks";
import type { ShownTask, UpdateTaskParams } from "../../../shared/protocol.generated";
import { useScene } from "../../asking";
import { isLater } from "../../drafts";
import { isConflict } from "../../hosts";
import type { Move } from "./boards";

export type Change = Omit<UpdateTaskParams, "taskId" | "project">;

export interface Changing {
  /** Change a task as it was seen; tells whether that is done. */
  readonly change: (task: ShownTask, said: Change) => Promise<boolean>;
  /** Where tasks are about to be. */
  readonly moves: ReadonlyMap<string, Move>;
}

export function useChanging(refresh: () => void): Changing {
  const { host, project, tell } = useScene();
  const [moves, setMoves] = useState<ReadonlyMap<string, Move>>(new Map());
  /** What we wrote last of each task: to change that again is no conflict. */
  const own = useRef(new Map<string, string>());
  const turn = useRef<Promise<unknown>>(Promise.resolve());
  const move = (taskId: string, status: Change["status"]) =>
    setMoves((before) => (status ? new Map(before).set(taskId, { status }) : before));
  /** The last move of a task has ended: with a version of it, or in vain. */
  const end = (taskId: string, status: Change["status"], until?: string) =>
    setMoves((before) => {
      const known = before.get(taskId);
      if (!status || known?.status !== status) return before;
      const after = new Map(before);
      if (until) after.set(taskId, { status, until });
      else after.delete(taskId);
      return after;
    });
  const write = async (task: ShownTask, said: Change): Promise<boolean> => {
    const { taskId, updatedAt } = task;
    const last = own.current.get(taskId);
    const expectedUpdatedAt = last && isLater(last, updatedAt) ? last : updatedAt;
    try {
      const params = { project, taskId, expectedUpdatedAt, ...said };
      const { tasks, warnings } = await host.request("threadline/tasks/update", params);
      if (tasks[0]) own.current.set(taskId, tasks[0].updatedAt);
      end(taskId, said.status, tasks[0]?.updatedAt);
      if (warnings[0]) tell(warnings[0].text);
      return true;
    } catch (error) {
      end(taskId, said.status);
      tell(reason(task, error));
      return false;
    } finally {
      refresh();
    }
  };
  const change = (task: ShownTask, said: Change): Promise<boolean> => {
    move(task.taskId, said.status);
    const done = turn.current.then(() => write(task, said));
    turn.current = done;
    return done;
  };
  return { change, moves };
}

function reason({ title }: ShownTask, error: unknown): string {
  if (isConflict(error))
    return `Somebody was faster: “${title}” has changed. Look at it and try again.`;
  return error instanceof Error ? error.message : String(error);
}
