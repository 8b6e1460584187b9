/** What a page keeps while it is hidden: a search, a draft. */

import { useCallback, useState } from "preact/hooks";
import { useScene } from "./asking";

/** Like a state, but there again when the page is; of this project alone. */
export function useKept<T>(name: string, initial: T): [T, (value: T) => void] {
  const { host, project } = useScene();
  const key = `${project} ${name}`;
  const [value, setValue] = useState<T>(() => (host.kept(key) as T | undefined) ?? initial);
  const set = useCallback(
    (next: T) => {
      host.keep(key, next);
      setValue(next);
    },
    [host, key],
  );
  return [value, set];
}
