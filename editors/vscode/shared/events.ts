/** How what happened reads to people. */

import { count, firstLine } from "./formats";
import type { Event } from "./protocol.generated";

export const KIND_NAMES: Readonly<Record<Event["kind"], string>> = {
  commit: "Commits",
  save: "Saves",
  capture: "Notes",
};

export function headline({ kind, commit, text, files }: Event): string {
  if (kind === "save") return `Saved ${count(files.length, "file")}`;
  return firstLine(commit?.subject || text || "") || kind;
}

/** What there is to read beyond the headline. */
export function rest({ commit, text }: Event): string {
  if (commit) return (commit.body ?? "").trim();
  const said = (text ?? "").trim();
  const first = firstLine(said);
  return said === first ? "" : said.slice(first.length).trim();
}
