import assert from "node:assert/strict";
import { test } from "node:test";
import type { Change, Methods } from "../shared/protocol.generated";
import { isRenamed, ownTitle, pageTitle } from "../src/panels/titles";
import type { Requests } from "../src/requests";
import { memory, session } from "./given";

/** A sidecar that knows one session and one memory. */
const requests: Requests = {
  async request<M extends keyof Methods>(method: M, params: Methods[M]["params"]) {
    const asked = JSON.stringify(params);
    if (!asked.includes("known")) throw new Error("there is none");
    const summary = "Weave the hem before the sleeves are sewn on. Then press it.";
    const answers: Partial<Record<keyof Methods, unknown>> = {
      "threadline/sessions/get": session({ summary }),
      "threadline/memories/read": { memories: [memory()], missing: [] },
    };
    return answers[method] as Methods[M]["result"];
  },
};

test("a tab is called by what it shows, not longer than tabs are", async () => {
  const named = (page: "session" | "memory" | "tasks", id?: string) =>
    ownTitle(requests, { page, id, project: "p1" });
  assert.equal(await named("session", "known"), "Session: Weave the hem before the sleeves are…");
  assert.equal(await named("memory", "known"), "Memory: Weave by hand");
  assert.equal(await named("memory"), undefined);
  assert.equal(await named("tasks", "known"), undefined);
  assert.equal(await named("session", "gone"), undefined);
});

test("a page without a name of its own is called by its kind", () => {
  assert.equal(pageTitle({ page: "injection" }), "Threadline: Context");
});

test("only what a tab is called by renames it", () => {
  const place = { page: "session", id: "s1" } as const;
  const change = (said: Partial<Change>): Change => ({
    what: "sessions",
    projectId: "p1",
    ids: [],
    ...said,
  });
  const isMeant = (said: Partial<Change>) => isRenamed(place, change(said));
  assert.deepEqual(
    [{}, { ids: ["s1"] }, { ids: ["s2"] }, { what: "memories" as const }].map(isMeant),
    [true, true, false, false],
  );
  assert.equal(isRenamed({ page: "session" }, change({})), false);
});
