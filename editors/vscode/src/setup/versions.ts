/** Versions, and whether a sidecar can speak with us. */

export type Fit = "fits" | "older" | "newer";

/**
 * The extension is made with a sidecar of its own version. A later one of the same line answers all
 * that an earlier one did; before 1.0 each minor version may be asked something new.
 */
export function fit(sidecar: string, extension: string): Fit {
  const [theirs, ours] = [numbers(sidecar), numbers(extension)];
  if (theirs[0] !== ours[0]) return theirs[0] < ours[0] ? "older" : "newer";
  return theirs[1] < ours[1] ? "older" : "fits";
}

/** The numbers of a version such as `3.11.0rc1`; what is missing is zero. */
export function numbers(version: string): readonly [number, number, number] {
  const [major = 0, minor = 0, patch = 0] = version
    .split(".")
    .map((part) => Number.parseInt(part, 10));
  return [major || 0, minor || 0, patch || 0];
}

/** Less than zero where the first is older. */
export function compare(one: string, other: string): number {
  const [mine, theirs] = [numbers(one), numbers(other)];
  return mine[0] - theirs[0] || mine[1] - theirs[1] || mine[2] - theirs[2];
}
