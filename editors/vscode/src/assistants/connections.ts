/** Which assistants are set up to use this memory, as `threadline connect --all --dry-run --json` tells it. */

import type { Change } from "./servers";

interface Plan {
  readonly connections: readonly {
    readonly agent: string;
    readonly label: string;
    readonly refusal: string | null;
  }[];
  readonly files: readonly (Change & { readonly agents: readonly string[] })[];
}

/** An assistant that is installed on this machine. */
export interface Assistant {
  readonly agent: string;
  readonly label: string;
  readonly isConnected: boolean;
}

/** What its user wants to be different. */
export interface Wishes {
  readonly connect: readonly Assistant[];
  readonly disconnect: readonly Assistant[];
}

/** An assistant is connected where connecting it would change nothing. */
export function installed(output: string): Assistant[] {
  const { connections, files } = JSON.parse(output) as Plan;
  return connections
    .filter(({ refusal }) => !refusal)
    .map(({ agent, label }) => {
      const own = files.filter(({ agents }) => agents.includes(agent));
      const isConnected = own.length > 0 && own.every(({ action }) => action === "unchanged");
      return { agent, label, isConnected };
    });
}

/** Compare what is ticked with what is so. */
export function wishes(assistants: readonly Assistant[], ticked: readonly string[]): Wishes {
  const isWanted = ({ agent }: Assistant) => ticked.includes(agent);
  return {
    connect: assistants.filter((one) => isWanted(one) && !one.isConnected),
    disconnect: assistants.filter((one) => !isWanted(one) && one.isConnected),
  };
}

export function names(assistants: readonly Assistant[]): string {
  return assistants.map(({ label }) => label).join(", ");
}
