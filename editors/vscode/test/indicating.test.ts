import assert from "node:assert/strict";
import { test } from "node:test";
import type { CaptureState } from "../shared/protocol.generated";
import { indicate } from "../src/indicating";
import type { ProjectState, SidecarState } from "../src/states";
import { projectState, session } from "./given";

const RUNNING: SidecarState = { kind: "running" };
const FOREVER: CaptureState = { paused: true, duration: "forever", since: null, until: null };

function check(
  name: string,
  given: { state?: SidecarState; projects?: ProjectState[]; unread?: number; isMaking?: boolean },
  expected: { text: string; background?: string } | undefined,
): void {
  test(name, () => {
    const shown = indicate(given.state ?? RUNNING, given.projects ?? [], given);
    const { tooltip, ...rest } = shown ?? { tooltip: "", text: undefined };
    assert.deepEqual(rest, expected ?? { text: undefined });
    assert.equal(tooltip !== "", shown !== undefined);
  });
}

check("nothing is shown without a folder", { state: { kind: "idle" } }, undefined);
check(
  "a start is shown as such",
  { state: { kind: "starting" } },
  { text: "$(sync~spin) Threadline" },
);
check("no session is no number", { projects: [projectState()] }, { text: "$(pulse) Threadline" });
check(
  "an active session shows its events and length",
  { projects: [projectState({ active: session() })] },
  { text: "$(pulse) Threadline: 12 events · 1h 20m" },
);
check(
  "a pause is visibly different, also during a session",
  { projects: [projectState({ active: session(), capture: FOREVER })] },
  { text: "$(debug-pause) Threadline: Paused", background: "warning" },
);
check(
  "a window that captures anywhere does not claim to be paused",
  { projects: [projectState({ capture: FOREVER }), projectState()] },
  { text: "$(pulse) Threadline" },
);
check(
  "a sidecar that is missing is an error",
  { state: { kind: "missing", program: "threadline" } },
  { text: "$(error) Threadline: Not Running", background: "error" },
);
check(
  "a sidecar that failed is an error",
  { state: { kind: "failed", reason: "it ended" } },
  { text: "$(error) Threadline: Not Running", background: "error" },
);
check(
  "a machine without a sidecar is told as such, and is no error",
  { state: { kind: "absent" } },
  { text: "$(cloud-download) Threadline: Not Installed", background: "warning" },
);
check(
  "an installation is shown while it goes on",
  { state: { kind: "installing" } },
  { text: "$(sync~spin) Threadline: Installing" },
);
check(
  "a sidecar that does not fit is an error",
  { state: { kind: "outdated", reason: "too old" } },
  { text: "$(error) Threadline: Not Running", background: "error" },
);
check(
  "messages that wait are counted beside the session",
  { projects: [projectState({ active: session() })], unread: 2 },
  { text: "$(pulse) Threadline: 12 events · 1h 20m $(mail) 2" },
);
check(
  "messages are counted during a pause too",
  { projects: [projectState({ capture: FOREVER })], unread: 1 },
  { text: "$(debug-pause) Threadline: Paused $(mail) 1", background: "warning" },
);
check(
  "what does not run counts nothing",
  { state: { kind: "failed", reason: "it ended" }, unread: 1 },
  { text: "$(error) Threadline: Not Running", background: "error" },
);

check(
  "a wheel turns while memory is made, and unread messages are still counted",
  { projects: [projectState({ active: session() })], isMaking: true, unread: 2 },
  { text: "$(sync~spin) Threadline: 12 events · 1h 20m $(mail) 2" },
);
check(
  "a pause is still a pause while memory is made",
  { projects: [projectState({ capture: FOREVER })], isMaking: true },
  { text: "$(sync~spin) Threadline: Paused", background: "warning" },
);
