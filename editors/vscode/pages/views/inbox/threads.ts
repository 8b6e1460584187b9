/** Messages that answer each other, put together, and what is to be said of them. */

import { firstLine } from "../../../shared/formats";
import { agentName, EVERYONE, type Labels, listed, USER } from "../../../shared/names";
import type { ShownMessage } from "../../../shared/protocol.generated";

export interface Conversation {
  /** The message that began it, which may have vanished. */
  readonly id: string;
  /** The oldest first; only those that are known here. */
  readonly messages: readonly ShownMessage[];
  readonly latest: ShownMessage;
  /** Those that the person has not dealt with. */
  readonly open: readonly ShownMessage[];
  readonly subject: string;
}

/** What waits comes first, then the newest. */
export function conversations(messages: readonly ShownMessage[]): Conversation[] {
  const threads = new Map<string, Map<string, ShownMessage>>();
  for (const message of messages) {
    const id = message.threadId ?? message.messageId;
    const thread = threads.get(id) ?? new Map<string, ShownMessage>();
    threads.set(id, thread.set(message.messageId, message));
  }
  const all = [...threads].map(([id, thread]) => conversation(id, [...thread.values()]));
  const isOpen = ({ open }: Conversation) => Number(open.length > 0);
  return all.sort((a, b) => isOpen(b) - isOpen(a) || age(b.latest) - age(a.latest));
}

/** Whether the person is one of those it was sent to and has not dealt with it. */
export function isOpen(message: ShownMessage): boolean {
  if (message.senderId === USER || message.status === "acknowledged") return false;
  return message.targetId === USER || message.targetId === EVERYONE;
}

/** Whether nobody has shown it to the person yet. */
export function isNew(message: ShownMessage): boolean {
  return isOpen(message) && !message.handlings[USER];
}

/** Whom an answer goes to: who wrote last, or whom one has written to oneself. */
export function addressee(messages: readonly ShownMessage[]): string {
  const other = messages.findLast(({ senderId }) => senderId !== USER);
  return other?.senderId ?? messages.at(-1)?.targetId ?? "";
}

/** With whom it is, oneself not counted. */
export function company({ messages }: Conversation, labels: Labels): string {
  const names = (ids: string[]) => {
    const others = [...new Set(ids)].filter((id) => id !== USER);
    return listed(others.map((id) => agentName(id, labels)));
  };
  const senders = names(messages.map(({ senderId }) => senderId));
  const isForAll = messages.some(({ targetId }) => targetId === EVERYONE);
  if (!senders) return `To ${names(messages.map(({ targetId }) => targetId))}`;
  return isForAll ? `${senders} to all agents` : senders;
}

function conversation(id: string, some: ShownMessage[]): Conversation {
  const messages = some.sort((a, b) => age(a) - age(b));
  const latest = messages.at(-1) as ShownMessage;
  const named = messages.find(({ subject }) => subject?.trim());
  const subject = named?.subject?.trim() || firstLine(latest.content);
  return { id, messages, latest, open: messages.filter(isOpen), subject };
}

function age({ createdAt }: ShownMessage): number {
  return Date.parse(createdAt);
}
