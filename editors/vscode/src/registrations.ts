/** Commands that tell what went wrong instead of failing in silence. */

import * as vscode from "vscode";
import { tellError } from "./notices";

export abstract class Registrations implements vscode.Disposable {
  private readonly registered: vscode.Disposable[] = [];

  dispose(): void {
    for (const registration of this.registered) registration.dispose();
  }

  protected register(id: string, wish: string, run: (...args: unknown[]) => unknown): void {
    const heed = async (...args: unknown[]) => {
      try {
        await run(...args);
      } catch (error) {
        void tellError(wish, error);
      }
    };
    this.registered.push(vscode.commands.registerCommand(id, heed));
  }
}
