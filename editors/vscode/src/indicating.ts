/** What the status bar says. */

import { clock, count, length } from "../shared/formats";
import type { CaptureState, Session } from "../shared/protocol.generated";
import {
  activeSessions,
  isCapturing,
  isPaused,
  type ProjectState,
  type SidecarState,
} from "./states";

export interface Indicator {
  readonly text: string;
  readonly tooltip: string;
  readonly background?: "warning" | "error";
}

/** What the status bar adds to what is recorded. */
export interface News {
  readonly unread?: number;
  readonly isMaking?: boolean;
}

const NOTHING_RECORDED = "nothing is recorded";

export function indicate(
  state: SidecarState,
  projects: readonly ProjectState[],
  { unread = 0, isMaking = false }: News = {},
): Indicator | undefined {
  switch (state.kind) {
    case "idle":
      return undefined;
    case "starting":
      return { text: "$(sync~spin) Threadline", tooltip: "Threadline is starting" };
    case "installing":
      return {
        text: "$(sync~spin) Threadline: Installing",
        tooltip: "Threadline is installing its sidecar",
      };
    case "absent":
      return {
        text: "$(cloud-download) Threadline: Not Installed",
        tooltip: `Threadline's sidecar is not installed on this machine, so ${NOTHING_RECORDED}`,
        background: "warning",
      };
    case "missing":
    case "outdated":
    case "failed":
      return broken(state);
    case "running":
      return withPost(
        withWork(
          isPaused(projects) && !isCapturing(projects) ? paused(projects) : recording(projects),
          isMaking,
        ),
        unread,
      );
  }
}

/** A wheel turns while memory is made, instead of the usual sign. */
function withWork(indicator: Indicator, isMaking: boolean): Indicator {
  if (!isMaking) return indicator;
  const { text, tooltip } = indicator;
  return {
    ...indicator,
    text: text.replace("$(pulse)", "$(sync~spin)").replace("$(debug-pause)", "$(sync~spin)"),
    tooltip: `${tooltip}; memory is being made`,
  };
}

function withPost(indicator: Indicator, unread: number): Indicator {
  if (unread === 0) return indicator;
  const { text, tooltip } = indicator;
  return {
    ...indicator,
    text: `${text} $(mail) ${unread}`,
    tooltip: `${tooltip}; ${count(unread, "unread message")}`,
  };
}

function broken(state: SidecarState & { kind: "missing" | "outdated" | "failed" }): Indicator {
  const why = state.kind === "missing" ? `${state.program} was not found` : state.reason;
  return {
    text: "$(error) Threadline: Not Running",
    tooltip: `Threadline does not run, so ${NOTHING_RECORDED}: ${why}`,
    background: "error",
  };
}

function paused(projects: readonly ProjectState[]): Indicator {
  const ends = projects.map(({ capture }) => pauseEnd(capture));
  return {
    text: "$(debug-pause) Threadline: Paused",
    tooltip: `Capture is paused ${ends[0]}; ${NOTHING_RECORDED}`,
    background: "warning",
  };
}

function recording(projects: readonly ProjectState[]): Indicator {
  const [session] = activeSessions(projects);
  if (!session) {
    return {
      text: "$(pulse) Threadline",
      tooltip: "Threadline is ready: the next save or commit opens a session",
    };
  }
  return {
    text: `$(pulse) Threadline: ${glance(session)}`,
    tooltip: `The session since ${clock(session.startedAt)} is active`,
  };
}

function glance(session: Session): string {
  return `${count(session.messageCount, "event")} · ${length(session)}`;
}

export function pauseEnd(capture: CaptureState): string {
  if (capture.until) return `until ${clock(capture.until)}`;
  return capture.duration === "restart" ? "until the sidecar restarts" : "until you resume it";
}
