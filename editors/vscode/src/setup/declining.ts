/** That the user does not want the sidecar installed: known to all windows of this machine. */

import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import * as path from "node:path";

export function hasDeclined(root: string): boolean {
  return existsSync(mark(root));
}

export function decline(root: string): void {
  mkdirSync(root, { recursive: true });
  writeFileSync(mark(root), "");
}

export function accept(root: string): void {
  rmSync(mark(root), { force: true });
}

function mark(root: string): string {
  return path.join(root, "declined");
}
