/** The sidecar's command line in the integrated terminal: a folder with nothing but `threadline`, at the end of PATH. */

import { chmod, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type * as vscode from "vscode";
import { type Shim, shim } from "./shims";
import type { Sidecar } from "./sidecar";

/** Keep it true to the sidecar that runs; what the user has installed comes first. */
export function offerInTerminals(
  sidecar: Sidecar,
  variables: vscode.EnvironmentVariableCollection,
  folder: string,
  log: Pick<vscode.LogOutputChannel, "warn">,
): vscode.Disposable {
  const offer = async () => {
    if (sidecar.state.kind !== "running" || !sidecar.command) return;
    await write(folder, shim(sidecar.command, process.platform));
    variables.description = "Adds the command threadline";
    variables.append("PATH", `${delimiter}${folder}`);
  };
  return sidecar.onDidChangeState(() => {
    offer().catch((error) => log.warn(`Terminals do not know threadline: ${error}`));
  });
}

async function write(folder: string, { name, text }: Shim): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), text);
  await chmod(join(folder, name), 0o755);
}
