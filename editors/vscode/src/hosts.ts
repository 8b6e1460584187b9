/** Which editor we run in, as the source that our events carry. */

const FORKS = ["cursor", "windsurf", "devin", "antigravity", "kiro"] as const;

const NAMES: Readonly<Record<string, string>> = {
  vscode: "VS Code",
  cursor: "Cursor",
  windsurf: "Windsurf",
  devin: "Devin",
  antigravity: "Antigravity",
  kiro: "Kiro",
  "claude-code": "Claude Code",
  "cli-scan": "Git history",
};

/** The product's name decides before its address scheme: some forks kept the scheme of another. */
export function hostSource(appName: string, uriScheme: string): string {
  return forkIn(appName) ?? forkIn(uriScheme) ?? "vscode";
}

/** A source's name for people; one that we do not know stands for itself. */
export function sourceName(source: string): string {
  return NAMES[source] ?? source;
}

export function isEditor(source: string): boolean {
  return source === "vscode" || FORKS.some((fork) => fork === source);
}

function forkIn(text: string): string | undefined {
  const words = text.toLowerCase().split(/[^a-z]+/);
  return FORKS.find((fork) => words.includes(fork));
}
