/** What keys mean: arrows in a row of things, others that are held while one clicks. */

/** The next, the previous, the first or the last; undefined for any other key. */
export function neighbour<T>(all: readonly T[], current: T, key: string): T | undefined {
  const at = all.indexOf(current);
  switch (key) {
    case "ArrowRight":
      return all[(at + 1) % all.length];
    case "ArrowLeft":
      return all.at(at - 1);
    case "Home":
      return all[0];
    case "End":
      return all.at(-1);
    default:
      return undefined;
  }
}

interface Click {
  readonly button: number;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
}

/** Whether a link is simply followed; with other keys a browser opens it elsewhere. */
export function isPlainClick({ button, ctrlKey, metaKey, shiftKey, altKey }: Click): boolean {
  return button === 0 && !(ctrlKey || metaKey || shiftKey || altKey);
}
