/** What came of an import of what was committed before anybody watched. */

import { count } from "./formats";
import type { ScanResult } from "./protocol.generated";

export function importOutcome({ found, imported, sessions, author }: ScanResult): string {
  if (found === 0) return author === null ? "Nothing was committed here yet." : NONE;
  if (imported === 0) return "Everything was imported before.";
  return `${count(imported, "commit")} imported into ${count(sessions, "session")}.`;
}

const NONE = "None of the commits here are yours: import everyone's.";
