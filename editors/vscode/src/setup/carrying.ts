/** The sidecar that the extension carries: a wheel, and the versions that it was tested with. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import * as path from "node:path";

export interface Carried {
  readonly wheel: string;
  readonly constraints: string;
  readonly version: string;
  /** Differs as soon as anything does that would be installed. */
  readonly key: string;
}

const WHEEL = /^threadline-([^-]+)-.*\.whl$/;
const KEY_LENGTH = 16;

/** Undefined where it carries none, as when it is run from its sources. */
export function findCarried(folder: string): Carried | undefined {
  try {
    return describe(folder);
  } catch {
    return undefined;
  }
}

function describe(folder: string): Carried | undefined {
  const name = readdirSync(folder).find((one) => WHEEL.test(one));
  const version = name && WHEEL.exec(name)?.[1];
  if (!name || !version) return undefined;
  const [wheel, constraints] = [path.join(folder, name), path.join(folder, "constraints.txt")];
  const hash = createHash("sha256");
  for (const file of [wheel, constraints]) hash.update(readFileSync(file));
  return { wheel, constraints, version, key: hash.digest("hex").slice(0, KEY_LENGTH) };
}
