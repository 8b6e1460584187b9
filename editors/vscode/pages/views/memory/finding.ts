/** What a search found, as one who typed the words expects it. */

import type { Found, Memory } from "../../../src/protocol.generated";

export interface Finding {
  /** What says it, the clearest first. */
  readonly direct: readonly Memory[];
  /** What has to do with that, such as by its files. */
  readonly related: readonly Memory[];
}

const NEAR = 0.3;

/** An assistant wants the best company, too; a person wants first what says the words. */
export function divide(found: readonly Found[]): Finding {
  const direct = found
    .filter(({ why }) => (why.words ?? 0) > 0 || (why.meaning ?? 0) >= NEAR)
    .sort((one, other) => directness(other) - directness(one));
  const known = new Set(direct);
  const related = found.filter((one) => !known.has(one));
  return { direct: direct.map(memoryOf), related: related.map(memoryOf) };
}

function directness({ why }: Found): number {
  return (why.words ?? 0) + (why.meaning ?? 0);
}

function memoryOf({ memory }: Found): Memory {
  return memory;
}
