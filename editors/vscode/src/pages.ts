/** Threads, tasks and commits as Markdown to read; what others wrote in them stays within its quotation. */

import { moment } from "../shared/formats";
import { agentName, type Labels, priorityName } from "../shared/names";
import type {
  Event,
  FileChange,
  Handling,
  ShownMessage,
  ShownTask,
  Thread,
} from "../shared/protocol.generated";
import { STATUS_NAMES } from "../shared/tasks";
import { headline } from "./team/messages";

const GAP = "\u200b";
const TAG = /<(?=[a-z][a-z0-9-]*(?:[\s/]|$)|(?:style|script|svg|math)\b)/gim;
const IMAGE = /!(?=\[)/g;

export function threadPage(thread: Thread, labels: Labels, now: Date): string {
  const [first] = thread.messages;
  const vanished =
    thread.missing.length > 0 ? ["*An earlier message of this thread vanished.*"] : [];
  const parts = thread.messages.map((message) => messagePart(message, labels, now));
  return paragraphs([`# ${first ? plain(headline(first)) : "Messages"}`, ...vanished, ...parts]);
}

export function taskPage(
  task: ShownTask,
  { labels, obstacles, now }: { labels: Labels; obstacles: readonly string[]; now: Date },
): string {
  const name = (id: string | null) => plain(agentName(id ?? "user", labels));
  const times = `Written down by ${name(task.createdBy)}, ${moment(task.createdAt, now)}`;
  return paragraphs([
    `# ${plain(task.title)}`,
    [
      `**${STATUS_NAMES[task.status]}**`,
      priorityName(task.priority),
      `for ${name(task.assignedAgentId)}`,
    ]
      .filter(Boolean)
      .join(" · "),
    task.description && quoted(task.description),
    section("Waits for", obstacles.map((title) => `- ${plain(title)}`).join("\n")),
    section("Done when", task.doneWhen && quoted(task.doneWhen)),
    section("Evidence", task.evidence && quoted(task.evidence)),
    section("Notes", task.notes.map((note) => remark(note, name, now)).join("\n\n")),
    section(
      "Linked with",
      task.links.map(({ type, title }) => `- ${type}: ${plain(title)}`).join("\n"),
    ),
    `*${times}*`,
  ]);
}

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

function messagePart(message: ShownMessage, labels: Labels, now: Date): string {
  const name = (id: string) => plain(agentName(id, labels));
  const facts = [
    `**${capital(name(message.senderId))}** to ${name(message.targetId)}`,
    moment(message.createdAt, now),
    message.category !== "info" && plain(message.category),
    priorityName(message.priority),
  ];
  const receipts = Object.entries(message.handlings).map(([id, one]) =>
    handled(name(id), one, now),
  );
  return paragraphs([
    facts.filter(Boolean).join(" · "),
    quoted(message.content),
    receipts.length > 0 && `*${receipts.join(" · ")}*`,
  ]);
}

function handled(name: string, { deliveredAt, acknowledgedAt }: Handling, now: Date): string {
  return acknowledgedAt
    ? `acknowledged by ${name}, ${moment(acknowledgedAt, now)}`
    : `read by ${name}, ${moment(deliveredAt, now)}`;
}

function remark(
  { agentId, at, text }: ShownTask["notes"][number],
  name: (id: string | null) => string,
  now: Date,
): string {
  return `${capital(name(agentId))}, ${moment(at, now)}\n\n${quoted(text)}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function section(title: string, text: string | null): string {
  return text ? `## ${title}\n\n${text}` : "";
}

function paragraphs(parts: readonly (string | false | null)[]): string {
  return parts.filter(Boolean).join("\n\n");
}
