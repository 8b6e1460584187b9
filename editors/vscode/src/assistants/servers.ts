/** How assistants in an editor get to know our MCP server: the editor's name decides, since functions may only pretend. */

import { attempt, type Complain, type Disposable, disposable, functionOf } from "./guards";

/** `provider`: VS Code's own way. `cursor`: Cursor's. `connect`: its configuration file. `manual`: by hand. */
export type Way = "provider" | "cursor" | "connect" | "manual";

export interface ServerCommand {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

export const NAME = "threadline";
/** As package.json announces it. */
const PROVIDER = "threadline.mcp";
const PROVIDE = "registerMcpServerDefinitionProvider";

/** Editors that `threadline connect` knows by the same name. */
const CONNECTED = ["windsurf", "devin", "antigravity"];

/** The parts of an editor's API that may know of servers. */
export interface Apis {
  readonly lm: unknown;
  readonly cursor: unknown;
}

export function wayFor(source: string, { lm, cursor }: Apis): Way {
  if (source === "vscode") return functionOf(lm, PROVIDE) ? "provider" : "connect";
  if (source === "cursor") return registry(cursor) ? "cursor" : "connect";
  return CONNECTED.includes(source) ? "connect" : "manual";
}

/** Make a server known; undefined where the editor does not take it after all. */
export function announce(
  way: Way,
  apis: Apis,
  server: { readonly command: ServerCommand; readonly provide: () => unknown[] },
  complain: Complain,
): Disposable | undefined {
  if (way === "provider") {
    const provider = { provideMcpServerDefinitions: server.provide };
    const register = () => functionOf(apis.lm, PROVIDE)?.(PROVIDER, provider);
    return disposable(attempt("take an MCP server", register, complain));
  }
  const known = way === "cursor" ? registry(apis.cursor) : undefined;
  if (!known) return undefined;
  let isTaken = true;
  const note = (sentence: string) => {
    isTaken = false;
    complain(sentence);
  };
  const config = { name: NAME, server: server.command };
  attempt("take an MCP server", () => known.register(config), note);
  const forget = () => attempt("forget our MCP server", () => known.unregister(NAME), complain);
  return isTaken ? { dispose: forget } : undefined;
}

/** Cursor's own list of servers, if the object that should have it does. */
function registry(cursor: unknown) {
  let servers: unknown;
  try {
    servers = (cursor as { mcp?: unknown } | undefined)?.mcp;
  } catch {
    return undefined;
  }
  const register = functionOf(servers, "registerServer");
  const unregister = functionOf(servers, "unregisterServer");
  return register && unregister && { register, unregister };
}

/** How the server is started, from how the sidecar is. */
export function serverCommand([program, ...words]: readonly [string, ...string[]]): ServerCommand {
  return { command: program, args: [...words, "mcp"], env: {} };
}

/** What a person pastes into an editor's list of servers. */
export function serverEntry({ command, args }: ServerCommand): string {
  return JSON.stringify({ mcpServers: { [NAME]: { command, args } } }, null, 2);
}

export interface Change {
  readonly path: string;
  readonly action: string;
  readonly reason: string | null;
  readonly diff: string;
}

/** What `threadline connect --dry-run --json` says would change. */
export function plannedChanges(output: string): Change[] {
  const { files } = JSON.parse(output) as { files: Change[] };
  return files.filter(({ action }) => action !== "unchanged");
}

/** The same as a text to read before it is done. */
export function planText(changes: readonly Change[]): string {
  return changes
    .map(({ path, action, reason, diff }) =>
      action === "refused" ? `# ${path} stays as it is: ${reason}\n` : diff.trimEnd(),
    )
    .join("\n\n");
}
