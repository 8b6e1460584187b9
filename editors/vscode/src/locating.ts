/** Finding the program to start, and the file that an event speaks of. */

import { accessSync, constants, readlinkSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import * as path from "node:path";

export interface Machine {
  readonly home: string;
  /** The entries of PATH, and where programs lie that a desktop's PATH does not name. */
  readonly searched: readonly string[];
  readonly isProgram: (file: string) => boolean;
  /** Whether a file lies in a folder that is open: what is in there was perhaps written by a stranger. */
  readonly isOpen: (file: string) => boolean;
}

export function thisMachine(open: readonly string[]): Machine {
  const named = (process.env.PATH ?? "").split(path.delimiter);
  const isOpen = (file: string) => isInside(file, open);
  return { home: homedir(), searched: [...named, ...usual()], isProgram, isOpen };
}

/** The program and its arguments, from whatever stands in the setting. */
export function commandLine(setting: unknown): readonly [string, ...string[]] {
  const words = (Array.isArray(setting) ? setting : [setting]).filter(isWord);
  const [program = "threadline", ...rest] = words;
  return [program, ...rest];
}

/** A program's full path; only absolute entries of PATH count, lest an opened folder provide it. */
export function findProgram(program: string, machine: Machine): string | undefined {
  return findPrograms(program, machine)[0];
}

/** All programs of a name outside of open folders, in the order in which they are preferred. */
export function findPrograms(program: string, machine: Machine): string[] {
  return namedPrograms(program, machine).filter((file) => !machine.isOpen(file));
}

/** All programs of a name, wherever they are. */
export function namedPrograms(program: string, machine: Machine): string[] {
  const expanded = program.replace(/^~(?=[/\\])/, machine.home);
  const isPath = /[/\\]/.test(expanded);
  const folders = isPath ? [""] : machine.searched.filter((folder) => path.isAbsolute(folder));
  return folders
    .flatMap((folder) => ["", ".exe"].map((ending) => path.join(folder, expanded + ending)))
    .filter(machine.isProgram);
}

/**
 * Whether a file lies in one of these folders, or a link on the way to it does: an interpreter in there that leads
 * to one elsewhere still runs with what lies around it.
 */
export function isInside(file: string, folders: readonly string[]): boolean {
  const real = folders.map(realPath);
  return hops(file).some((hop) => real.some((folder) => holds(folder, hop)));
}

/** The places that a file is found at, link by link, each with its real folder. */
function hops(file: string): string[] {
  const found: string[] = [];
  let next: string | undefined = path.resolve(file);
  while (next !== undefined) {
    const hop: string = path.join(realPath(path.dirname(next)), path.basename(next));
    if (found.includes(hop)) break;
    found.push(hop);
    next = linkOf(hop);
  }
  return found;
}

function linkOf(file: string): string | undefined {
  try {
    return path.resolve(path.dirname(file), readlinkSync(file));
  } catch {
    return undefined;
  }
}

function realPath(file: string): string {
  try {
    return realpathSync.native(file);
  } catch {
    return path.resolve(file);
  }
}

/**
 * Where a project's files may lie, best guess first: its own folders that are open, then open
 * folders that belong to no known project (such as a linked worktree), then the rest of its own.
 */
export function fileRoots(
  own: readonly string[],
  others: readonly string[],
  open: readonly string[],
): string[] {
  const [mine, foreign] = [own.map(workingTree), others.map(workingTree)];
  const isOpen = (root: string) =>
    open.some((folder) => holds(root, folder) || holds(folder, root));
  const isKnown = (folder: string) => [...mine, ...foreign].some((root) => holds(root, folder));
  const strangers = open.filter((folder) => !isKnown(folder));
  return [...new Set([...mine.filter(isOpen), ...strangers, ...mine])];
}

function usual(): string[] {
  if (process.platform === "win32") return [];
  return [path.join(homedir(), ".local/bin"), "/usr/local/bin", "/opt/homebrew/bin", "/usr/bin"];
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The folder with the files, of git's own folder in it or of any other. */
export function workingTree(folder: string): string {
  return path.basename(folder) === ".git" ? path.dirname(folder) : folder;
}

export function holds(outer: string, inner: string): boolean {
  const way = path.relative(outer, inner);
  return !way.startsWith("..") && !path.isAbsolute(way);
}

function isWord(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}
