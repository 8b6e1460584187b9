/** What a person is told: which messages wait, how each reads in a line, and which are worth a notification. */

import { count, firstLine } from "../../shared/formats";
import { agentName, type Labels, listed, priorityName, USER } from "../../shared/names";
import type { Project, ShownMessage } from "../../shared/protocol.generated";

/** The person's messages in one project. */
export interface Post {
  readonly project: Project;
  readonly labels: Labels;
  /** What was shown and is not acknowledged yet, the most urgent first. */
  readonly unread: readonly ShownMessage[];
  readonly acknowledged: readonly ShownMessage[];
  readonly sent: readonly ShownMessage[];
  readonly totals: Readonly<Record<Box, number>>;
}

export type Box = "unread" | "acknowledged" | "sent";

export interface Notice {
  readonly text: string;
  readonly isUrgent: boolean;
  /** The one message it is about; absent where it is about many. */
  readonly message?: ShownMessage;
}

const MOST_NOTICES = 3;
const LINE = 120;
const URGENT = 4;

export function isUrgent({ priority, category }: ShownMessage): boolean {
  return priority >= URGENT || category === "alert" || category === "error";
}

export function headline({ subject, content }: ShownMessage): string {
  return oneLine(subject?.trim() || firstLine(content));
}

/** How pressing it is, who sent it, and whom else it went to. */
export function senderLine(message: ShownMessage, labels: Labels): string {
  const isForAll = message.targetId !== USER;
  return [
    priorityName(message.priority),
    agentName(message.senderId, labels),
    isForAll && `to ${agentName(message.targetId, labels)}`,
  ]
    .filter(Boolean)
    .join(" · ");
}

export function unreadTotal(posts: readonly Post[]): number {
  return posts.reduce((sum, { totals }) => sum + totals.unread, 0);
}

/** One box of all projects; what waits is sorted by urgency, what is over by its age. */
export function merged(posts: readonly Post[], box: Box): ShownMessage[] {
  const all = posts.flatMap((post) => post[box]);
  const age = (a: ShownMessage, b: ShownMessage) =>
    Date.parse(a.createdAt) - Date.parse(b.createdAt);
  if (box === "unread") return all.sort((a, b) => b.priority - a.priority || age(a, b));
  return all.sort((a, b) => age(b, a));
}

/** A few messages are told one by one, many in one sentence; what agents tell each other only where it is urgent. */
export function notices(fresh: readonly ShownMessage[], labels: Labels): Notice[] {
  const told = fresh.filter((message) => message.targetId === USER || isUrgent(message));
  return told.length > MOST_NOTICES
    ? [summary(told, labels)]
    : told.map((message) => notice(message, labels));
}

function notice(message: ShownMessage, labels: Labels): Notice {
  const { subject, content } = message;
  const words = [subject?.trim(), firstLine(content)].filter(Boolean).join(" – ");
  const text = oneLine(`${agentName(message.senderId, labels)}: ${words}`);
  return { text, isUrgent: isUrgent(message), message };
}

function summary(told: readonly ShownMessage[], labels: Labels): Notice {
  const urgent = told.filter(isUrgent).length;
  const senders = new Set(told.map(({ senderId }) => agentName(senderId, labels)));
  const from = senders.size > MOST_NOTICES ? count(senders.size, "agent") : listed([...senders]);
  const tail = urgent > 0 ? `, ${urgent} of them urgent` : "";
  const text = oneLine(`${count(told.length, "message")} from ${from}${tail}.`);
  return { text, isUrgent: urgent > 0 };
}

/** As one line in which nothing can be clicked: notifications make commands of links. */
function oneLine(text: string): string {
  const plain = text.replaceAll("](", "] (");
  return plain.length > LINE ? `${plain.slice(0, LINE - 1).trimEnd()}…` : plain;
}
