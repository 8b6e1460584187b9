/** What is put in at a cursor. */

/** A text on lines of its own, between what stands before and after the cursor on its line. */
export function onOwnLines(text: string, before: string, after: string): string {
  const head = before.trim() === "" ? "" : "\n\n";
  const tail = after.trim() === "" ? "\n" : "\n\n";
  return head + text.trimEnd() + tail;
}

/** How long a text is, in words for people. */
export function lengthOf(text: string): string {
  return `${text.length.toLocaleString("en")} characters`;
}
