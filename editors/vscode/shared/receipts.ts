/** How far a message has come. */

import { agentName, type Labels, listed, USER } from "./names";
import type { ShownMessage } from "./protocol.generated";

/** Who has read it and who has dealt with it, of the others. */
export function receipts({ handlings, senderId }: ShownMessage, labels: Labels): string {
  const others = Object.entries(handlings).filter(([id]) => id !== USER);
  if (others.length === 0) return senderId === USER ? "Not read yet" : "";
  const done = others.filter(([, { acknowledgedAt }]) => acknowledgedAt);
  const read = others.filter(([, { acknowledgedAt }]) => !acknowledgedAt);
  const names = (some: typeof others) => listed(some.map(([id]) => agentName(id, labels)));
  const parts = [
    done.length > 0 && `Acknowledged by ${names(done)}`,
    read.length > 0 && `${done.length > 0 ? "read" : "Read"} by ${names(read)}`,
  ];
  return parts.filter(Boolean).join(", ");
}
