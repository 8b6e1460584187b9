/** One at a time, among all windows of this machine; whoever dies or sleeps loses its turn. */

import { mkdir, open, rm, stat, utimes } from "node:fs/promises";
import * as path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const BEAT = 1000;
const SILENCE = 10 * BEAT;
const PAUSE = 200;

/**
 * Do something while holding a lock. Two may hold it if one of them stood still for long, so it only
 * saves work: what is done under it must be safe by itself.
 */
export async function holding<T>(
  file: string,
  { signal, onWait }: { signal: AbortSignal; onWait: () => void },
  action: () => Promise<T>,
): Promise<T> {
  await mkdir(path.dirname(file), { recursive: true });
  for (let tries = 0; !(await take(file)); tries++) {
    if (tries === 0) onWait();
    if (await isAbandoned(file)) await rm(file, { force: true });
    await delay(PAUSE, undefined, { signal });
  }
  const beating = setInterval(() => beat(file), BEAT);
  try {
    return await action();
  } finally {
    clearInterval(beating);
    await rm(file, { force: true });
  }
}

async function take(file: string): Promise<boolean> {
  try {
    await (await open(file, "wx")).close();
    return true;
  } catch (error) {
    if (isExisting(error)) return false;
    throw error;
  }
}

async function isAbandoned(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > SILENCE;
}

function beat(file: string): void {
  const now = new Date();
  utimes(file, now, now).catch(() => {});
}

function isExisting(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EEXIST";
}
