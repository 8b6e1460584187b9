/** A mark at the end of a session's row: whether memory was made from it. */

import * as vscode from "vscode";
import { ENRICHMENTS } from "../../shared/jobs";
import type { Session } from "../../shared/protocol.generated";

const SCHEME = "threadline-session";

type Status = Session["enrichmentStatus"];

const BADGES: Readonly<Partial<Record<Status, readonly [string, string?]>>> = {
  pending: ["…"],
  processing: ["…"],
  completed: ["✓"],
  failed: ["!", "list.errorForeground"],
};

/** Names a session together with what is shown of it, so that nothing need be told anew. */
export function sessionUri({ sessionId, enrichmentStatus }: Session): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEME, path: `/${sessionId}`, query: enrichmentStatus });
}

export class Decorations implements vscode.FileDecorationProvider, vscode.Disposable {
  private readonly registration = vscode.window.registerFileDecorationProvider(this);

  provideFileDecoration({ scheme, query }: vscode.Uri): vscode.FileDecoration | undefined {
    const [badge, color] = (scheme === SCHEME && BADGES[query as Status]) || [];
    if (!badge) return undefined;
    const words = ENRICHMENTS[query as Status];
    return new vscode.FileDecoration(
      badge,
      words,
      color ? new vscode.ThemeColor(color) : undefined,
    );
  }

  dispose(): void {
    this.registration.dispose();
  }
}
