/** Long work that a person sees and can stop. */

import * as vscode from "vscode";
import type { Following } from "./requests";

/** Show how far it is until its end; undefined where the person has stopped it. */
export async function follow<T>(
  title: string,
  begin: (way: Following) => Promise<T>,
): Promise<T | undefined> {
  const place = { location: vscode.ProgressLocation.Notification, cancellable: true };
  return vscode.window.withProgress({ ...place, title }, async (progress, token) => {
    let share = 0;
    const onProgress: Following["onProgress"] = ({ message, percentage = share }) => {
      progress.report({ message: message ?? "", increment: percentage - share });
      share = percentage;
    };
    return begin({ token, onProgress }).catch((error) => {
      if (token.isCancellationRequested) return undefined;
      throw error;
    });
  });
}
