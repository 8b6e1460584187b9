/** What the user has set, where no project can: how to start the sidecar, and which Pythons there are. */

import * as path from "node:path";
import type { Inspected } from "../settings";

/** Tells what is set at each level. */
export type Inspect = (section: string, key: string) => Inspected | undefined;

/** How the user wants the sidecar to be started. */
export function chosenCommand(inspect: Inspect): unknown {
  return inspect("threadline", "command")?.globalValue;
}

/** The Python that the user chose for us. */
export function chosenPython(inspect: Inspect): string | undefined {
  const chosen = inspect("threadline", "python")?.globalValue;
  return typeof chosen === "string" && chosen.trim() ? chosen.trim() : undefined;
}

/**
 * Full paths only: what is looked up in a folder that is open could be anything. What the Python extension has
 * selected for a folder does not count, since the folder's own settings and contents decide that.
 */
export function configuredInterpreters(inspect: Inspect): string[] {
  const usual = inspect("python", "defaultInterpreterPath")?.globalValue;
  const named = [chosenPython(inspect), usual].filter((one) => typeof one === "string");
  return [...new Set(named.filter(path.isAbsolute))];
}
