/** Opening a commit: what it changed, through the editor's own git extension. */

import { setTimeout as delay } from "node:timers/promises";
import * as vscode from "vscode";
import { sides } from "./changes";
import { firstLine } from "./formats";

const PATIENCE = 10_000;
const SHORT_SHA = 8;
/** What git calls a tree without files: the first commit is compared with it. */
const NOTHING = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/** What we use of the git extension's interface. */
interface Git {
  getRepository(uri: vscode.Uri): Repository | null;
  openRepository?(uri: vscode.Uri): Promise<Repository | null>;
  toGitUri(uri: vscode.Uri, ref: string): vscode.Uri;
}

interface Repository {
  getCommit(sha: string): Promise<{ readonly message: string; readonly parents: string[] }>;
  diffBetween(one: string, other: string): Promise<Change[]>;
}

interface Change {
  readonly uri: vscode.Uri;
  readonly originalUri: vscode.Uri;
  readonly renameUri?: vscode.Uri;
  readonly status: number;
}

/** Show what a commit changed, from one of these folders; false where the editor cannot. */
export async function openCommit(sha: string, folders: readonly string[]): Promise<boolean> {
  try {
    return await Promise.race([show(sha, folders), delay(PATIENCE, false)]);
  } catch {
    // The extension is another's: absent, disabled, or not what it was.
    return false;
  }
}

async function show(sha: string, folders: readonly string[]): Promise<boolean> {
  const extension = vscode.extensions.getExtension<{ getAPI(version: 1): Git }>("vscode.git");
  const git = (await extension?.activate())?.getAPI(1);
  if (!git) return false;
  for (const folder of folders) {
    const uri = vscode.Uri.file(folder);
    const repository = git.getRepository(uri) ?? (await git.openRepository?.(uri));
    if (repository && (await showIn(repository, git, sha))) return true;
  }
  return false;
}

async function showIn(repository: Repository, git: Git, sha: string): Promise<boolean> {
  const { message, parents } = await repository.getCommit(sha);
  const before = parents[0] ?? NOTHING;
  const changes = await repository.diffBetween(before, sha);
  if (changes.length === 0) return false;
  const title = `${sha.slice(0, SHORT_SHA)} ${firstLine(message)}`;
  await vscode.commands.executeCommand(
    "vscode.changes",
    title,
    changes.map(({ uri, originalUri, renameUri, status }) => {
      const now = renameUri ?? uri;
      const { hasBefore, hasAfter } = sides(status);
      return [
        now,
        hasBefore ? git.toGitUri(originalUri, before) : undefined,
        hasAfter ? git.toGitUri(now, sha) : undefined,
      ];
    }),
  );
  return true;
}
