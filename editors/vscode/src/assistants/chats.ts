/** Opening an editor's chat with a text in it: where that is not known to work, the text is pasted by hand. */

const OPEN = "workbench.action.chat.open";

const PLACES: Readonly<Record<string, string>> = {
  cursor: "Cursor's chat (Ctrl+L, or ⌘L on a Mac)",
  windsurf: "Cascade (Ctrl+L, or ⌘L on a Mac)",
  devin: "Devin's chat (Ctrl+L, or ⌘L on a Mac)",
  antigravity: "the agent panel (Ctrl+L, or ⌘L on a Mac)",
  kiro: "Kiro's chat (Ctrl+L, or ⌘L on a Mac)",
};

export interface Chat {
  /** Which editor this is. */
  readonly source: string;
  /** Whether its user has turned such features off. */
  readonly isOff: boolean;
  readonly run: (command: string, argument: unknown) => PromiseLike<unknown>;
}

/** Put a text into the chat's input, unsent and with room for a question below it; false where there is no chat to put it in. */
export async function openChat(chat: Chat, text: string): Promise<boolean> {
  if (chat.source !== "vscode" || chat.isOff) return false;
  try {
    await chat.run(OPEN, { query: `${text}\n\n`, isPartialQuery: true });
    return true;
  } catch {
    return false;
  }
}

export function pasteHint(source: string): string {
  return `The context is on the clipboard. Paste it into ${PLACES[source] ?? "your assistant's chat"}.`;
}
