/** A file that starts the sidecar's command line: its own folder holds a Python, too, which nobody asked for. */

import type { Words } from "./setup/running";

export interface Shim {
  readonly name: string;
  readonly text: string;
}

export function shim(command: Words, platform: NodeJS.Platform): Shim {
  if (platform === "win32") {
    const words = command.map((word) => `"${word.replaceAll("%", "%%")}"`).join(" ");
    return { name: "threadline.cmd", text: `@${words} %*\r\n` };
  }
  const words = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  return { name: "threadline", text: `#!/bin/sh\nexec ${words} "$@"\n` };
}
