/** Messages as notifications: answered, acknowledged or opened where they appear. */

import * as vscode from "vscode";
import type { Labels } from "../../shared/names";
import type { ShownMessage } from "../../shared/protocol.generated";
import { type Notice, notices } from "./messages";

const ACTIONS = {
  Reply: "threadline.replyMessage",
  Acknowledge: "threadline.acknowledgeMessage",
  Open: "threadline.openMessage",
  "Open Inbox": "threadline.openInbox",
} as const;

type Action = keyof typeof ACTIONS;

export function tellMessages(fresh: readonly ShownMessage[], labels: Labels): void {
  for (const notice of notices(fresh, labels)) void tell(notice);
}

async function tell({ text, isUrgent, message }: Notice): Promise<void> {
  const actions: Action[] = message ? ["Reply", "Acknowledge", "Open"] : ["Open Inbox"];
  const chosen = await (isUrgent
    ? vscode.window.showWarningMessage(text, ...actions)
    : vscode.window.showInformationMessage(text, ...actions));
  if (chosen) await vscode.commands.executeCommand(ACTIONS[chosen], message);
}
