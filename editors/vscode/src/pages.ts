/** A commit as Markdown; what its author wrote stays within its quotation. */

import { moment } from "../shared/formats";
import type { Event, FileChange } from "../shared/protocol.generated";

const GAP = "\u200b";
const TAG = /<(?=[a-z][a-z0-9-]*(?:[\s/]|$)|(?:style|script|svg|math)\b)/gim;
const IMAGE = /!(?=\[)/g;

export function commitPage({ commit, files, occurredAt }: Event, now: Date): string {
  if (!commit) return "";
  const facts = [
    commit.authorName && `**${plain(commit.authorName)}**`,
    moment(occurredAt, now),
    commit.branch && `on ${plain(commit.branch)}`,
    `\`${commit.sha}\``,
    commit.dropped && "no branch holds it any more",
  ];
  return paragraphs([
    `# ${plain(commit.subject || commit.sha)}`,
    facts.filter(Boolean).join(" · "),
    commit.body ? quoted(commit.body) : null,
    section("Files", files.map(fileLine).join("\n")),
  ]);
}

/** Text of others: nothing in it loads from elsewhere, none of it can pass for ours. */
export function quoted(text: string): string {
  const hasImages = /\]\s*[([:]/.test(text);
  const tamed = text.replace(TAG, `<${GAP}`).replace(IMAGE, hasImages ? `!${GAP}` : "!");
  return tamed
    .split("\n")
    .map((line) => `> ${line.trimEnd()}`)
    .join("\n");
}

/** Words that stand for themselves. */
export function plain(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\\`*_{}[\]<>()#+\-.!|~&]/g, "\\$&");
}

function fileLine({ path, status, previousPath, addedLines, deletedLines }: FileChange): string {
  const from = previousPath ? `${plain(previousPath)} → ` : "";
  const isCounted = typeof addedLines === "number" || typeof deletedLines === "number";
  const lines = isCounted ? ` (+${addedLines ?? 0} −${deletedLines ?? 0})` : "";
  return `- ${status ?? "modified"}: ${from}${plain(path)}${lines}`;
}

function section(title: string, text: string | null): string {
  return text ? `## ${title}\n\n${text}` : "";
}

function paragraphs(parts: readonly (string | false | null)[]): string {
  return parts.filter(Boolean).join("\n\n");
}
