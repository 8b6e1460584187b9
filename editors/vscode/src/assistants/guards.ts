/** Calling what an editor may lack, or only pretend to have: whatever happens, nobody else suffers. */

export interface Disposable {
  dispose(): unknown;
}

export type Complain = (sentence: string) => void;

/** A function of an object that may be anything. */
export function functionOf(
  owner: unknown,
  name: string,
): ((...args: unknown[]) => unknown) | undefined {
  try {
    const found = (owner as Record<string, unknown> | null | undefined)?.[name];
    return typeof found === "function" ? found.bind(owner) : undefined;
  } catch {
    return undefined;
  }
}

/** What a call gives; undefined, with a word in the log, if it fails at once or later. */
export function attempt(what: string, call: () => unknown, complain: Complain): unknown {
  const fail = (error: unknown) => {
    complain(`This editor would not ${what}: ${error}`);
    return undefined;
  };
  try {
    const given = call();
    if (isPromise(given)) return given.then((value) => value, fail);
    return given;
  } catch (error) {
    return fail(error);
  }
}

/** What can be taken back, if that is what was given. */
export function disposable(given: unknown): Disposable | undefined {
  const dispose = functionOf(given, "dispose");
  return dispose && { dispose };
}

function isPromise(value: unknown): value is Promise<unknown> {
  return functionOf(value, "then") !== undefined;
}
