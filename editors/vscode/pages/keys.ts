/** What arrow keys mean in a row of things. */

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
