/** How a session reads in a row of a narrow view; all of it is told when one points at the row. */

import { basename } from "node:path";
import { clock, count, cut, fileCount, length } from "../../shared/formats";
import { sourceName } from "../../shared/hosts";
import type { Session } from "../../shared/protocol.generated";
import { title } from "../../shared/stories";

/** In a side bar of the usual width, this leaves room for what is counted. */
const MOST = 24;

/** What was done, else a file by its name alone, and how many more there are: `weaving.py +3`. */
export function shortTitle(session: Session): string {
  const [first] = session.filesModified;
  if (session.summary || !first) return cut(title(session), MOST);
  const more = fileCount(session) - 1;
  return [cut(basename(first), MOST), more > 0 && `+${more}`].filter(Boolean).join(" ");
}

/** The most telling first, since the rest may not be seen. */
export function shortFacts(session: Session): string {
  const { messageCount, source, startedAt } = session;
  const parts = [count(messageCount, "event"), length(session), sourceName(source)];
  return [...parts, clock(startedAt)].join(" · ");
}
