/** Rules files: which one comes first here, and how their states and changes are told. */

import type { RulesChange, RulesFile } from "../../shared/protocol.generated";

export type Target = RulesFile["target"];

const NAMES: Readonly<Record<Target, string>> = {
  agents: "AGENTS.md",
  cursor: ".cursor/rules/threadline.mdc",
  windsurf: ".windsurf/rules/threadline.md",
};
const READERS: Readonly<Record<Target, string>> = {
  agents: "A marked block, read by Codex, Copilot, Cursor and many others",
  cursor: "Read by Cursor in every conversation",
  windsurf: "Read by Windsurf and Devin in every conversation",
};
const STATES: Readonly<Record<RulesFile["state"], string>> = {
  absent: "",
  written: "written",
  edited: "edited by hand",
  refused: "cannot be written",
};
const FIRST: Readonly<Record<string, Target>> = {
  cursor: "cursor",
  windsurf: "windsurf",
  devin: "windsurf",
};

/** What of a file is ours, by a name. */
export function ownPart(target: Target): string {
  return target === "agents" ? "Threadline's block in AGENTS.md" : NAMES[target];
}

export function isTarget(value: unknown): value is Target {
  return typeof value === "string" && Object.hasOwn(NAMES, value);
}

/** The file that this editor reads first, then the others. */
export function offered(files: readonly RulesFile[], source: string) {
  const first = FIRST[source] ?? "agents";
  return files
    .toSorted((a, b) => Number(b.target === first) - Number(a.target === first))
    .map(({ target, state, reason }) => ({
      label: NAMES[target],
      description: STATES[state],
      detail: state === "refused" ? (reason ?? "") : READERS[target],
      value: target,
    }));
}

/** Those that have words of ours. */
export function present(files: readonly RulesFile[]): RulesFile[] {
  return files.filter(({ state }) => state === "written" || state === "edited");
}

/** What happened, in a sentence. */
export function toldChanges(changes: readonly RulesChange[]): string {
  const verbs = {
    created: "Wrote",
    updated: "Refreshed",
    unchanged: "Up to date:",
    removed: "Removed",
  };
  const parts = Object.entries(verbs).flatMap(([outcome, verb]) => {
    const names = changes
      .filter((one) => one.outcome === outcome)
      .map(({ target }) =>
        outcome === "removed" && target === "agents" ? "the block in AGENTS.md" : NAMES[target],
      );
    return names.length > 0 ? [`${verb} ${names.join(", ")}.`] : [];
  });
  return parts.join(" ");
}
