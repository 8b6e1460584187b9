/** Commits as pages that can only be read. */

import * as vscode from "vscode";
import { commitPage } from "./pages";
import type { Requests } from "./requests";

const SCHEME = "threadline-page";
const SHORT_SHA = 8;

export class CommitPages implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(
    SCHEME,
    this,
  );

  constructor(private readonly requests: Requests) {}

  /** Where an editor has no preview of Markdown, its text reads well enough. */
  async open(project: string, sha: string): Promise<void> {
    const uri = vscode.Uri.from({
      scheme: SCHEME,
      authority: "commit",
      path: `/${sha.slice(0, SHORT_SHA)}`,
      query: `${project}/${sha}`,
    });
    const document = await vscode.workspace.openTextDocument(uri);
    try {
      await vscode.commands.executeCommand("markdown.showPreview", uri);
    } catch {
      await vscode.window.showTextDocument(document, { preview: true });
    }
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const [project = "", sha = ""] = uri.query.split("/");
    try {
      const event = await this.requests.request("threadline/commits/get", { project, sha });
      return commitPage(event, new Date());
    } catch (error) {
      return `*It could not be read: ${error instanceof Error ? error.message : error}*`;
    }
  }

  dispose(): void {
    this.registration.dispose();
  }
}
