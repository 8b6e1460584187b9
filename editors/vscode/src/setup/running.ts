/** Running programs: their lines as they come, how they end, and how to stop all that they started. */

import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

export type Words = readonly [string, ...string[]];

export interface Ran {
  /** Null for a program that could not be started, or was stopped. */
  readonly code: number | null;
  readonly lines: readonly string[];
}

export interface Running {
  readonly signal?: AbortSignal;
  readonly environment?: NodeJS.ProcessEnv;
  readonly onLine?: (line: string) => void;
}

export type Run = (words: Words, running?: Running) => Promise<Ran>;

const IS_WINDOWS = process.platform === "win32";
const KEPT = 500;

/** Both streams count, in the order in which they come; of very many lines the last are kept. */
export const run: Run = ([program, ...args], { signal, environment, onLine } = {}) =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve({ code: null, lines: [] });
    const lines: string[] = [];
    const hear = (line: string) => {
      lines.push(line);
      if (lines.length > KEPT) lines.shift();
      onLine?.(line);
    };
    const child = spawn(program, args, {
      env: environment,
      stdio: ["ignore", "pipe", "pipe"],
      // A group of its own can be ended as one.
      detached: !IS_WINDOWS,
      windowsHide: true,
    });
    const stop = () => endAll(child);
    const end = (code: number | null) => {
      signal?.removeEventListener("abort", stop);
      resolve({ code, lines });
    };
    for (const stream of [child.stdout, child.stderr]) createInterface(stream).on("line", hear);
    child.on("error", (error) => {
      hear(error.message);
      end(null);
    });
    child.on("close", end);
    signal?.addEventListener("abort", stop);
  });

function endAll({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    if (IS_WINDOWS) spawn("taskkill", ["/T", "/F", "/PID", String(pid)], { windowsHide: true });
    else process.kill(-pid, "SIGTERM");
  } catch {
    // It has ended by itself.
  }
}
