/** Which sidecars this machine has, in the order in which they are tried. */

import * as path from "node:path";
import { commandLine, findProgram, type Machine, namedPrograms } from "../locating";
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
  /** Whether what the user said is there, but in a folder that is open. */
  readonly isOpen: boolean;
}

const PROGRAM = "threadline";

/**
 * A command that was set; else our own, the one on the PATH and one beside an interpreter. Never one in a folder
 * that is open, except our own, which only this extension has written.
 */
export function search({ command, interpreters, own }: Wish, machine: Machine): Search {
  const [program, ...words] = commandLine(command);
  const isChosen = isSet(command);
  const named = findProgram(program, machine);
  const others = isChosen ? [] : interpreters.flatMap((one) => beside(one, machine));
  const found = [isChosen ? undefined : own, named, ...others].filter((one) => one !== undefined);
  const isOpen = isChosen && !named && namedPrograms(program, machine).length > 0;
  return { isChosen, program, found: [...new Set(found)].map((one) => [one, ...words]), isOpen };
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
