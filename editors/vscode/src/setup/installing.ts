/** Installing the sidecar that the extension carries, into an environment of its own. */

import { rm } from "node:fs/promises";
import * as path from "node:path";
import type { Machine } from "../locating";
import type { Carried } from "./carrying";
import {
  adopt,
  clear,
  type Environment,
  findEnvironment,
  newFolder,
  programIn,
  pythonIn,
} from "./environments";
import { holding } from "./locks";
import { findPythons, isFit, module, NAMES, OLDEST, type Python } from "./pythons";
import {
  type Refusal,
  refuseEnvironment,
  refusePackages,
  refuseProgram,
  refusePythons,
  refuseUnknown,
} from "./refusals";
import type { Ran, Run, Words } from "./running";

export interface Wish {
  readonly carried: Carried;
  /** Where environments are kept. */
  readonly root: string;
  /** The Python that the user chose. */
  readonly python?: string | undefined;
  /** Others that are worth a look before those on the PATH. */
  readonly interpreters?: readonly string[];
  /** Also where one is there that was made from the same. */
  readonly anew?: boolean;
}

export interface Surroundings {
  readonly run: Run;
  readonly machine: Machine;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** What is being done now, for whoever waits. */
  readonly tell: (step: string) => void;
  readonly log: (line: string) => void;
}

export type Outcome =
  | { readonly kind: "installed"; readonly environment: Environment }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  | { readonly kind: "cancelled" };

const MISLEADING = ["PIP_CONSTRAINT", "PIP_PREFIX", "PIP_TARGET", "PYTHONHOME", "PYTHONPATH"];
const PACKAGE = /^\s*(?:Collecting|Downloading|Using cached) ([A-Za-z0-9._]+)/;
const QUIET = ["--disable-pip-version-check", "--no-input", "--no-color", "--progress-bar", "off"];
/** Each try that fails is told, so that one can tell a network that is down from an index that lacks something. */
const TRIES = ["--retries", "2"];

/** Whatever goes wrong, and whenever it is stopped, the environment that was used before still is. */
export async function install(wish: Wish, around: Surroundings): Promise<Outcome> {
  try {
    const lock = path.join(wish.root, "installing.lock");
    const onWait = () => around.tell("Waiting for another window that is installing it…");
    return await holding(lock, { signal: around.signal, onWait }, () => make(wish, around));
  } catch (error) {
    if (around.signal.aborted) return { kind: "cancelled" };
    around.log(String(error));
    return { kind: "refused", refusal: refuseUnknown(error) };
  }
}

async function make(wish: Wish, around: Surroundings): Promise<Outcome> {
  const known = await findEnvironment(wish.root);
  if (known?.key === wish.carried.key && !wish.anew) {
    return { kind: "installed", environment: known };
  }
  around.tell(`Looking for Python ${OLDEST} or newer…`);
  const python = await choosePython(wish, around);
  if (around.signal.aborted) return { kind: "cancelled" };
  if ("sentence" in python) return { kind: "refused", refusal: python };
  const folder = await newFolder(wish.root, wish.carried.version);
  const outcome = await fill(folder, python, { wish, around });
  if (outcome.kind === "installed") await adopt(wish.root, outcome.environment);
  else await rm(folder, { recursive: true, force: true }).catch(() => {});
  await clear(wish.root).catch((error) => around.log(`Nothing was cleared: ${error}`));
  return outcome;
}

async function choosePython(
  { python, interpreters = [] }: Wish,
  { machine, run, signal }: Surroundings,
): Promise<Python | Refusal> {
  const names = python ? [python] : [...interpreters, ...NAMES];
  const ask: Run = (words, running = {}) => {
    const signals = running.signal ? [signal, running.signal] : [signal];
    return run(words, { ...running, signal: AbortSignal.any(signals) });
  };
  const found = await findPythons(names, machine, ask);
  return found.find(isFit) ?? refusePythons(found, python);
}

async function fill(
  folder: string,
  python: Python,
  { wish: { carried }, around }: { wish: Wish; around: Surroundings },
): Promise<Outcome> {
  const own = { path: pythonIn(folder) };
  const { wheel, constraints, version, key } = carried;
  const pip = ["install", ...QUIET, ...TRIES, "--no-user", "--constraint", constraints, wheel];
  const steps: readonly [string, Words, (lines: readonly string[]) => Refusal][] = [
    [
      `Making an environment with Python ${python.version}…`,
      module(python, "venv", folder),
      refuseEnvironment,
    ],
    ["Installing…", module(own, "pip", ...pip), refusePackages],
    ["Trying it out…", [programIn(folder), "--version"], refuseProgram],
  ];
  for (const [step, words, refuse] of steps) {
    around.tell(step);
    const { code, lines } = await follow(words, around);
    if (around.signal.aborted) return { kind: "cancelled" };
    if (code !== 0) return { kind: "refused", refusal: refuse(lines) };
  }
  return {
    kind: "installed",
    environment: { folder, program: programIn(folder), version, key },
  };
}

function follow(words: Words, { run, log, tell, signal, environment }: Surroundings): Promise<Ran> {
  log(`> ${words.join(" ")}`);
  const onLine = (line: string) => {
    log(line);
    const name = PACKAGE.exec(line)?.[1];
    if (name) tell(`Installing ${name}…`);
  };
  return run(words, { signal, onLine, environment: harmless(environment) });
}

/** The environment without what would lead pip elsewhere; where packages come from stays the user's choice. */
function harmless(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(environment).filter(([name]) => !MISLEADING.includes(name));
  return { ...Object.fromEntries(kept), PIP_USER: "0" };
}
