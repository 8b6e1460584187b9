/**
 * The sidecar's own environments. Each is made once, in a folder of its own, and never changed; a link
 * called `current` leads to the one that is used, and is set only when that one is known to run.
 */

import { randomBytes } from "node:crypto";
import { accessSync, constants, readFileSync } from "node:fs";
import {
  mkdir,
  readdir,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import * as path from "node:path";

export interface Environment {
  readonly folder: string;
  readonly program: string;
  readonly version: string;
  /** Of what was carried when it was made. */
  readonly key: string;
}

const CURRENT = "current";
const MADE = "made.json";
const IS_WINDOWS = process.platform === "win32";
const PROGRAMS = IS_WINDOWS ? "Scripts" : "bin";
const ENDING = IS_WINDOWS ? ".exe" : "";
const HOUR = 3600_000;
/** Windows and agents that began with an environment may go on with it for that long. */
const KEPT = 14 * 24 * HOUR;

export function pythonIn(folder: string): string {
  return path.join(folder, PROGRAMS, `python${ENDING}`);
}

export function programIn(folder: string): string {
  return path.join(folder, PROGRAMS, `threadline${ENDING}`);
}

/** The program of whichever environment is in use when it is started. */
export function lastingProgram(root: string): string {
  return programIn(path.join(root, CURRENT));
}

/** The environment in use; undefined where there is none, or where its Python has gone. */
export async function findEnvironment(root: string): Promise<Environment | undefined> {
  try {
    const folder = await realpath(path.join(root, CURRENT));
    for (const file of [pythonIn(folder), programIn(folder)]) accessSync(file, constants.X_OK);
    const { version, key } = JSON.parse(readFileSync(path.join(folder, MADE), "utf8"));
    return { folder, program: programIn(folder), version, key };
  } catch {
    return undefined;
  }
}

/** A folder that nobody else uses; what is made in it counts only once it is `adopted`. */
export async function newFolder(root: string, version: string): Promise<string> {
  const folder = path.join(root, `${version}-${randomBytes(4).toString("hex")}`);
  await mkdir(folder, { recursive: true });
  return folder;
}

/** Use a finished environment from now on; whoever looks sees the one before or this one. */
export async function adopt(root: string, { folder, version, key }: Environment): Promise<void> {
  await writeFile(path.join(folder, MADE), JSON.stringify({ version, key }));
  const link = path.join(root, `${CURRENT}-${randomBytes(4).toString("hex")}`);
  await symlink(folder, link, "junction");
  // Windows replaces no folder, nor a link to one.
  if (IS_WINDOWS) await rm(path.join(root, CURRENT), { force: true, recursive: true });
  await rename(link, path.join(root, CURRENT));
}

/** Note that an environment is used. */
export async function touch({ folder }: Pick<Environment, "folder">): Promise<void> {
  const now = new Date();
  await utimes(path.join(folder, MADE), now, now);
}

/** Remove what has not been used for long, and what was never finished. */
export async function clear(root: string, now = Date.now()): Promise<void> {
  const used = await findEnvironment(root);
  // What is used is named by its real path, while a link may lead to the root.
  const place = await realpath(root);
  for (const name of await readdir(place)) {
    const folder = path.join(place, name);
    if (!/^\d/.test(name) || folder === used?.folder) continue;
    if (await isForgotten(folder, now))
      await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

async function isForgotten(folder: string, now: number): Promise<boolean> {
  const made = await stat(path.join(folder, MADE)).catch(() => undefined);
  if (made) return now - made.mtimeMs > KEPT;
  return now - (await stat(folder)).mtimeMs > HOUR;
}
