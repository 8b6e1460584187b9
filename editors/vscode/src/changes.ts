/** What the git extension says of a file between two commits. */

const ADDED: readonly number[] = [1, 4, 7, 9];
const DELETED: readonly number[] = [2, 6];

/** On which sides of a comparison there is a file to show. */
export function sides(status: number): { hasBefore: boolean; hasAfter: boolean } {
  return { hasBefore: !ADDED.includes(status), hasAfter: !DELETED.includes(status) };
}
