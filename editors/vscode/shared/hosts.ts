/** Which editor we run in, as the source that our events carry. */

import { HOST_LABELS } from "./hosts.generated";

/** The words by which a fork is known, and the source it is; Windsurf became Devin Desktop. */
const FORKS: Readonly<Record<string, string>> = {
  cursor: "cursor",
  windsurf: "windsurf",
  devin: "windsurf",
  antigravity: "antigravity",
  kiro: "kiro",
};

const NAMES: Readonly<Record<string, string>> = {
  ...HOST_LABELS,
  kiro: "Kiro",
  neovim: "Neovim",
  lsp: "Editor",
  mcp: "MCP",
  "cli-scan": "Git history",
  "cli-auto": "Command line",
};

/** The product's name decides before its address scheme: some forks kept the scheme of another. */
export function hostSource(appName: string, uriScheme: string): string {
  return forkIn(appName) ?? forkIn(uriScheme) ?? "vscode";
}

/** A source's name for people; one that we do not know stands for itself. */
export function sourceName(source: string): string {
  return NAMES[source] ?? source;
}

/** Who is behind a source: an editor, the git history, or an agent. */
export function sourceKind(source: string): "editor" | "history" | "agent" {
  if (isEditor(source) || source === "neovim" || source === "lsp") return "editor";
  return source.startsWith("cli") ? "history" : "agent";
}

export function isEditor(source: string): boolean {
  return source === "vscode" || Object.values(FORKS).includes(source);
}

function forkIn(text: string): string | undefined {
  const words = text.toLowerCase().split(/[^a-z]+/);
  return Object.entries(FORKS).find(([word]) => words.includes(word))?.[1];
}
