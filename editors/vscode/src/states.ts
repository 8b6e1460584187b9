/** What is known of the sidecar and of the projects in this window, and what follows from it. */

import type { CaptureState, Project, Session, SessionPage } from "../shared/protocol.generated";

export type SidecarState =
  | { readonly kind: "idle" }
  | { readonly kind: "starting" }
  | { readonly kind: "running" }
  /** What the user set is not there. */
  | { readonly kind: "missing"; readonly program: string }
  /** There is none on this machine, and none was set. */
  | { readonly kind: "absent" }
  | { readonly kind: "installing" }
  /** `isOwn` where it is the one that we installed. */
  | ({ readonly kind: "outdated"; readonly isOwn?: boolean } & Trouble)
  | ({ readonly kind: "failed" } & Trouble);

interface Trouble {
  readonly reason: string;
  /** Whether the user set what to start, so that nothing else is. */
  readonly isChosen?: boolean;
}

/** What is told where nothing runs: what is wrong with our own, which can be renewed, or else with the first. */
export function foremost<T extends SidecarState>(troubles: readonly T[]): T | undefined {
  return troubles.find((one) => one.kind === "outdated" && one.isOwn) ?? troubles[0];
}

export interface ProjectState {
  readonly project: Project;
  readonly capture: CaptureState;
  readonly active: Session | null;
  readonly page: SessionPage;
}

/** The active session first, then the newest. */
export function ordered(sessions: readonly Session[]): Session[] {
  const rank = (session: Session) => (session.status === "active" ? 1 : 0);
  return [...sessions].sort(
    (a, b) => rank(b) - rank(a) || Date.parse(b.startedAt) - Date.parse(a.startedAt),
  );
}

export function activeSessions(projects: readonly ProjectState[]): Session[] {
  const sessions = projects.flatMap(({ active }) => active ?? []);
  return sessions.sort((a, b) => Date.parse(b.lastEventAt) - Date.parse(a.lastEventAt));
}

export function isPaused(projects: readonly ProjectState[]): boolean {
  return projects.some(({ capture }) => capture.paused);
}

export function isCapturing(projects: readonly ProjectState[]): boolean {
  return projects.some(({ capture }) => !capture.paused);
}

export function hasSessions(projects: readonly ProjectState[]): boolean {
  return projects.some(({ page }) => page.sessions.length > 0);
}
