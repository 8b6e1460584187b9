/** Running the sidecar's command line, for what is no request. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Words } from "./setup/running";

const run = promisify(execFile);

/** Its output; what it complains about is the error's message. */
export async function runCommand(command: Words | undefined, words: string[]): Promise<string> {
  if (!command) throw new Error("the sidecar was not found yet");
  const [program, ...before] = command;
  try {
    return (await run(program, [...before, ...words], { timeout: 60_000 })).stdout;
  } catch (error) {
    throw new Error(complaint(error));
  }
}

function complaint(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  const last = stderr?.trim().split("\n").at(-1);
  return last ? last.replace(/^threadline: /, "") : message;
}
