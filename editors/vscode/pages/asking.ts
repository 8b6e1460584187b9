/** Asking the sidecar from a view: answers stay true while the view is open. */

import { createContext } from "preact";
import { useCallback, useContext, useEffect, useRef, useState } from "preact/hooks";
import { Coalescer } from "../shared/coalescing";
import type { Change, Methods } from "../shared/protocol.generated";
import { type Host, isMissing } from "./hosts";

const DELAY = 60;

export interface Scene {
  readonly host: Host;
  /** The id of the project that is looked at. */
  readonly project: string;
  /** Tell the person in one sentence what went wrong, or well. */
  readonly tell: (sentence: string, isGood?: boolean) => void;
}

export const SceneContext = createContext<Scene | null>(null);

export function useScene(): Scene {
  const scene = useContext(SceneContext);
  if (!scene) throw new Error("a view stands in a scene");
  return scene;
}

export interface Answer<T> {
  /** The latest; that of an earlier question until the next is answered. */
  readonly result: T | undefined;
  readonly problem: string | undefined;
  /** Whether the problem is that there is no such thing. */
  readonly isMissing: boolean;
  readonly isAsking: boolean;
  readonly refresh: () => void;
}

/**
 * Ask, and ask again when something of these kinds has changed in the project, or the sidecar is
 * back. Without params nothing is asked.
 */
export function useAnswer<M extends keyof Methods>(
  method: M,
  params: Methods[M]["params"] | null,
  subjects: readonly Change["what"][] = [],
): Answer<Methods[M]["result"]> {
  const { host, project } = useScene();
  return useLive(
    host,
    method,
    params && { project, ...params },
    (change) => change.projectId === project && subjects.includes(change.what),
  );
}

/** The same for what does not stand in a scene yet. */
export function useLive<M extends keyof Methods>(
  host: Host,
  method: M,
  params: Methods[M]["params"] | null,
  concerns: (change: Change) => boolean,
): Answer<Methods[M]["result"]> {
  const [state, setState] = useState<Known<Methods[M]["result"]>>({});
  const [isAsking, setAsking] = useState(params !== null);
  const question = JSON.stringify(params);
  const latest = useRef({ question, concerns });
  latest.current = { question, concerns };
  const turns = useRef({ asked: 0, answered: 0 });

  const ask = useCallback(async () => {
    const asked = latest.current.question;
    const params = JSON.parse(asked) as Methods[M]["params"] | null;
    if (params === null || !host.isLive) return;
    setAsking(true);
    const turn = ++turns.current.asked;
    const next = await host.request(method, params).then(
      (result) => ({ result }),
      (error: Error) => ({ problem: error.message, isMissing: isMissing(error) }),
    );
    // Somebody has asked something else since, or was answered sooner.
    if (asked !== latest.current.question || turn < turns.current.answered) return;
    turns.current.answered = turn;
    setState((before) => ({ ...before, problem: undefined, isMissing: false, ...next }));
    setAsking(false);
  }, [host, method]);

  const [coalescer] = useState(() => new Coalescer(ask, DELAY));
  const refresh = useCallback(() => coalescer.request(), [coalescer]);

  useEffect(() => void ask(), [ask, question]);
  useEffect(() => {
    const ends = [
      host.changes.add((change) => latest.current.concerns(change) && refresh()),
      host.links.add((isLive) => isLive && refresh()),
    ];
    return () => {
      for (const end of ends) end();
    };
  }, [host, refresh]);
  useEffect(() => () => coalescer.dispose(), [coalescer]);

  const { result, problem, isMissing: isGone = false } = state;
  return { result, problem, isMissing: isGone, isAsking, refresh };
}

interface Known<T> {
  readonly result?: T;
  readonly problem?: string | undefined;
  readonly isMissing?: boolean;
}

export interface Acting {
  /** Do something, once at a time; what goes wrong is told. */
  readonly act: (deed: () => Promise<unknown>) => Promise<void>;
  readonly isBusy: boolean;
}

export function useActing(): Acting {
  const { tell } = useScene();
  const [isBusy, setBusy] = useState(false);
  const act = async (deed: () => Promise<unknown>) => {
    if (isBusy) return;
    setBusy(true);
    try {
      await deed();
    } catch (error) {
      tell(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return { act, isBusy };
}
