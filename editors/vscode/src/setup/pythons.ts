/** The Pythons of this machine, and which of them can make an environment for the sidecar. */

import { realpathSync } from "node:fs";
import { findPrograms, type Machine } from "../locating";
import type { Run, Words } from "./running";
import { compare } from "./versions";

export const OLDEST = "3.11";

export interface Python {
  readonly path: string;
  readonly version: string;
  /** Debian ships Python without the module that environments are made with. */
  readonly hasVenv: boolean;
}

/** What Pythons are called, in the order in which they are tried. */
export const NAMES = [
  "python3",
  "python",
  "py",
  "python3.14",
  "python3.13",
  "python3.12",
  "python3.11",
];
/** Milliseconds after which what does not answer counts as none; the first start on a machine is slow. */
const PATIENCE = 20_000;
const QUESTION = `
import sys
try:
    from importlib.util import find_spec
    has = find_spec("venv") is not None and find_spec("ensurepip") is not None
except ImportError:
    has = False
print("%s\\n%s\\n%d" % (".".join(map(str, sys.version_info[:3])), sys.executable, has))
`;

/** Every Python of these names and paths that answers, each once. */
export async function findPythons(
  names: readonly string[],
  machine: Machine,
  run: Run,
): Promise<Python[]> {
  const found: Python[] = [];
  const seen = new Set<string>();
  for (const program of programs(names, machine)) {
    const python = await inspect(program, run);
    if (!python || seen.has(real(python.path))) continue;
    seen.add(real(python.path));
    found.push(python);
  }
  return found;
}

/** What a Python says of itself; undefined for what is none, or too old to be asked. */
export async function inspect(
  program: string,
  run: Run,
  patience = PATIENCE,
): Promise<Python | undefined> {
  const signal = AbortSignal.timeout(patience);
  const { code, lines } = await run([program, "-I", "-c", QUESTION], { signal });
  const [version, executable, has] = lines.slice(-3);
  if (code !== 0 || !version || !executable) return undefined;
  return { path: executable, version, hasVenv: has === "1" };
}

export function isNew({ version }: Python): boolean {
  return compare(version, OLDEST) >= 0;
}

export function isFit(python: Python): boolean {
  return isNew(python) && python.hasVenv;
}

/** The words that let a Python run a module of its own, whatever lies around it. */
export function module({ path }: Pick<Python, "path">, ...words: Words): Words {
  return [path, "-I", "-m", ...words];
}

function programs(names: readonly string[], machine: Machine): string[] {
  return [...new Set(names.flatMap((name) => findPrograms(name, machine)))];
}

function real(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
