/** What a search found, as one who typed the words expects it. */

import type { Found, Memory } from "./protocol.generated";

export interface Finding {
  /** What says it, the clearest first. */
  readonly direct: readonly Memory[];
  /** What has to do with that, such as by its files. */
  readonly related: readonly Memory[];
}

const NEAR = 0.3;
/** Below it a meaning or common files are chance: all memories have that much to do with any words. */
const FLOOR = 0.2;

/** An assistant wants the best company, too; a person wants first what says the words. */
export function divide(found: readonly Found[]): Finding {
  const direct = found
    .filter(({ why }) => (why.words ?? 0) > 0 || (why.meaning ?? 0) >= NEAR)
    .sort((one, other) => directness(other) - directness(one));
  const known = new Set(direct);
  const related = found.filter((one) => !known.has(one) && isRelated(one, direct.length > 0));
  return { direct: direct.map(memoryOf), related: related.map(memoryOf) };
}

/** Company is that of what says the words: without any it means nothing. */
function isRelated({ why }: Found, hasCompany: boolean): boolean {
  return (why.meaning ?? 0) >= FLOOR || (hasCompany && (why.company ?? 0) >= FLOOR);
}

function directness({ why }: Found): number {
  return (why.words ?? 0) + (why.meaning ?? 0);
}

function memoryOf({ memory }: Found): Memory {
  return memory;
}
