/** Changing tasks: shown at once, refused where somebody was faster. */

import { useRef, useState } from "preact/hooks";
import type { ShownTask, UpdateTaskParams } from "../../../src/protocol.generated";
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
  const mark = (taskId: string, move?: Move) =>
    setMoves((before) => {
      const after = new Map(before);
      if (move) after.set(taskId, move);
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
      if (warnings[0]) tell(warnings[0].text);
      return true;
    } catch (error) {
      mark(taskId);
      tell(reason(task, error));
      return false;
    } finally {
      refresh();
    }
  };
  const change = (task: ShownTask, said: Change): Promise<boolean> => {
    if (said.status) mark(task.taskId, { status: said.status, from: task.updatedAt });
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
