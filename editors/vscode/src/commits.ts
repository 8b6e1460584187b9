/** Showing a commit as the editor's own git shows it, or else as it is remembered. */

import { setTimeout as delay } from "node:timers/promises";
import * as vscode from "vscode";
import { firstLine } from "../shared/formats";
import { sides } from "./changes";
import { projectRoots } from "./opening";
import type { Overview } from "./overview";
import type { CommitPages } from "./reading";
import { Registrations } from "./registrations";

/** What we use of the git extension's interface. */
interface Git {
  readonly repositories: readonly Repository[];
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
  readonly renameUri: vscode.Uri | undefined;
  readonly status: number;
}

/** What git calls a tree without files: the first commit is compared with it. */
const NOTHING = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const SHA = /^[0-9a-f]{7,64}$/;
const SHORT = 10;
const PATIENCE = 10_000;

export class Commits extends Registrations {
  constructor(
    private readonly overview: Overview,
    private readonly pages: CommitPages,
  ) {
    super();
    this.register("threadline.openCommit", "open the commit", (sha, project) =>
      this.open(sha, project),
    );
  }

  /** Of a project where that is known; links know only the commit. */
  private async open(sha: unknown, project: unknown): Promise<void> {
    if (typeof sha !== "string" || !SHA.test(sha)) throw new Error("it has no name");
    const projects = this.overview.projects ?? [];
    const own = typeof project === "string" ? project : projects[0]?.project.projectId;
    const folders = own ? projectRoots(projects, own) : [];
    if (await canShow(sha, folders)) return;
    if (!own) throw new Error(`no repository of this window has ${sha.slice(0, SHORT)}`);
    await this.pages.open(own, sha);
  }
}

/** Let the git extension show it; it is another's: absent, turned off, or not what it was. */
async function canShow(sha: string, folders: readonly string[]): Promise<boolean> {
  try {
    return await Promise.race([show(sha, folders), delay(PATIENCE, false)]);
  } catch {
    return false;
  }
}

async function show(sha: string, folders: readonly string[]): Promise<boolean> {
  const extension = vscode.extensions.getExtension<{ getAPI(version: 1): Git }>("vscode.git");
  const git = (await extension?.activate())?.getAPI(1);
  if (!git) return false;
  for (const repository of git.repositories) {
    if (await showIn(repository, git, sha)) return true;
  }
  for (const folder of folders) {
    const repository = await git.openRepository?.(vscode.Uri.file(folder));
    if (repository && (await showIn(repository, git, sha))) return true;
  }
  return false;
}

async function showIn(repository: Repository, git: Git, sha: string): Promise<boolean> {
  const commit = await repository.getCommit(sha).catch(() => undefined);
  if (!commit) return false;
  const before = commit.parents[0] ?? NOTHING;
  const changes = await repository.diffBetween(before, sha);
  if (changes.length === 0) return false;
  const title = `${sha.slice(0, SHORT)} ${firstLine(commit.message)}`;
  const compared = changes.map((change) => resources(git, change, { before, sha }));
  await vscode.commands.executeCommand("vscode.changes", title, compared);
  return true;
}

/** The file, as it was before and as it is after; undefined where it was not or is no more. */
function resources(
  git: Git,
  { status, uri, originalUri, renameUri }: Change,
  { before, sha }: { before: string; sha: string },
): [vscode.Uri, vscode.Uri | undefined, vscode.Uri | undefined] {
  const now = renameUri ?? uri;
  const { hasBefore, hasAfter } = sides(status);
  return [
    now,
    hasBefore ? git.toGitUri(originalUri, before) : undefined,
    hasAfter ? git.toGitUri(now, sha) : undefined,
  ];
}
