/** Showing a commit as the editor's own git shows it. */

import * as vscode from "vscode";
import { Registrations } from "./registrations";

interface Change {
  readonly uri: vscode.Uri;
  readonly originalUri: vscode.Uri;
  readonly renameUri: vscode.Uri | undefined;
}

interface Repository {
  getCommit(sha: string): Promise<{ readonly message: string; readonly parents: string[] }>;
  diffBetween(one: string, other: string): Promise<Change[]>;
}

interface GitApi {
  readonly repositories: readonly Repository[];
  toGitUri(uri: vscode.Uri, sha: string): vscode.Uri;
}

interface GitExtension {
  getAPI(version: 1): GitApi;
}

/** What git calls a tree without files. */
const NOTHING = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const SHA = /^[0-9a-f]{7,64}$/;
const SHORT = 10;

export class Commits extends Registrations {
  constructor() {
    super();
    this.register("threadline.openCommit", "open the commit", (sha) => openCommit(sha));
  }
}

async function openCommit(sha: unknown): Promise<void> {
  if (typeof sha !== "string" || !SHA.test(sha)) throw new Error("it has no name");
  const api = await gitApi();
  for (const repository of api.repositories) {
    const commit = await repository.getCommit(sha).catch(() => undefined);
    if (!commit) continue;
    const parent = commit.parents[0] ?? NOTHING;
    const changes = await repository.diffBetween(parent, sha);
    const sides = changes.map((change) => resources(api, change, { parent, sha }));
    const title = `${sha.slice(0, SHORT)} ${commit.message.split("\n")[0]}`;
    return void (await vscode.commands.executeCommand("vscode.changes", title, sides));
  }
  throw new Error(`no repository of this window has ${sha.slice(0, SHORT)}`);
}

async function gitApi(): Promise<GitApi> {
  const extension = vscode.extensions.getExtension<GitExtension>("vscode.git");
  if (!extension) throw new Error("this editor's own Git extension is turned off");
  const git = extension.isActive ? extension.exports : await extension.activate();
  return git.getAPI(1);
}

function resources(
  api: GitApi,
  { uri, originalUri, renameUri }: Change,
  { parent, sha }: { parent: string; sha: string },
): [vscode.Uri, vscode.Uri, vscode.Uri] {
  const now = renameUri ?? uri;
  return [now, api.toGitUri(originalUri, parent), api.toGitUri(now, sha)];
}
