/** What a browser calls a tab, so that one finds it again among others. */

import { useEffect } from "preact/hooks";

const PRODUCT = "Threadline";

/** Name the page after what it shows, once that is known. */
export function useTitle(name: string | undefined): void {
  useEffect(() => {
    if (name) document.title = `${name} – ${PRODUCT}`;
  }, [name]);
}
