/** What comes of the wish to install the sidecar where one may run already. */

import type { SidecarState } from "../states";

export interface Situation {
  readonly kind: SidecarState["kind"];
  /** Whether the one that runs is our own. */
  readonly isOwn: boolean;
  /** Whether it was made from something else than what is carried. */
  readonly isBehind: boolean;
}

/** `install` it, `keep` the one that runs, or `ask` first whether that one is to be made anew. */
export type Decision = "install" | "keep" | "ask";

export function consider({ kind, isOwn, isBehind }: Situation): Decision {
  if (kind !== "running" && kind !== "starting") return "install";
  if (!isOwn) return "keep";
  return isBehind ? "install" : "ask";
}
