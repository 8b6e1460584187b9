/** Which sidecars this machine has, in the order in which they are tried. */

import * as path from "node:path";
import { commandLine, findProgram, type Machine } from "../locating";
import type { Words } from "./running";

export interface Wish {
  /** What stands in the setting. */
  readonly command: unknown;
  /** Interpreters that the user has configured. */
  readonly interpreters: readonly string[];
  /** The program of our own environment. */
  readonly own: string | undefined;
}

export interface Search {
  /** Whether the user said what to start; then nothing else is. */
  readonly isChosen: boolean;
  readonly program: string;
  readonly found: readonly Words[];
}

const PROGRAM = "threadline";

/** A command that was set; else the one on the PATH, one beside an interpreter, and our own. */
export function search({ command, interpreters, own }: Wish, machine: Machine): Search {
  const [program, ...words] = commandLine(command);
  const isChosen = isSet(command);
  const first = findProgram(program, machine);
  const others = isChosen ? [] : [...interpreters.flatMap((one) => beside(one, machine)), own];
  const found = [first, ...others].filter((one) => one !== undefined);
  return { isChosen, program, found: [...new Set(found)].map((one) => [one, ...words]) };
}

/** The setting's value counts only where there is something in it. */
export function isSet(command: unknown): boolean {
  return [command].flat().some((word) => typeof word === "string" && word.trim() !== "");
}

/** Programs that were installed with an interpreter; what is named may also be its environment. */
function beside(interpreter: string, machine: Machine): string[] {
  const folder = path.dirname(interpreter);
  const folders = [folder, ...["Scripts", "../Scripts"].map((name) => path.join(folder, name))];
  folders.push(path.join(interpreter, "bin"), path.join(interpreter, "Scripts"));
  return folders.flatMap((one) => findProgram(path.join(one, PROGRAM), machine) ?? []);
}
