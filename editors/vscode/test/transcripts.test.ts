import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import schema from "../../../protocol/schema.json";
import { summary } from "../shared/formats";
import type { Methods } from "../shared/protocol.generated";
import { indicate } from "../src/indicating";
import type { Requests } from "../src/requests";
import { ordered } from "../src/states";
import { projectState } from "./given";

const FOLDER = "../../protocol/transcripts";
const NOW = "2026-11-16T12:00:00Z";

interface Message {
  id?: number | string;
  method?: string;
  result?: unknown;
  error?: { code: number; message: string };
}

interface Line {
  from: "client" | "server";
  message: Message;
}

function read(name: string): Message[] {
  const [, ...lines] = readFileSync(`${FOLDER}/${name}`, "utf8").trim().split("\n");
  return lines.map((line) => (JSON.parse(line.replaceAll("<time>", NOW)) as Line).message);
}

/** A sidecar that says what it said in a transcript, each answer once and in its order. */
function replay(name: string): Requests {
  const messages = read(name);
  const asked = messages.filter(({ id, method }) => id !== undefined && method);
  return {
    async request<M extends keyof Methods>(method: M): Promise<Methods[M]["result"]> {
      const at = asked.findIndex((message) => message.method === method);
      const [question] = at < 0 ? [] : asked.splice(at, 1);
      const answer = messages.find(({ id, method: own }) => id === question?.id && !own);
      if (!answer || answer.error) throw new Error(answer?.error?.message ?? `no ${method}`);
      return answer.result as Methods[M]["result"];
    },
  };
}

test("every method of a transcript is one of the protocol", () => {
  const known = new Set(
    [...schema.methods, ...schema["x-notifications"]].map((method) => method.name),
  );
  const said = readdirSync(FOLDER).flatMap((name) => read(name).map(({ method }) => method ?? ""));
  const ours = said.filter((method) => method.startsWith("threadline/"));
  assert.ok(ours.length > 0);
  assert.deepEqual(
    ours.filter((method) => !known.has(method) && method !== "threadline/nothing"),
    [],
  );
});

test("sessions that a sidecar told are shown as people read them", async () => {
  const page = await replay("sessions.jsonl").request("threadline/sessions/list", {});
  assert.deepEqual(ordered(page.sessions).map(summary), ["2 events · 1 file · <1m · Claude Code"]);
  const project = projectState({ page, active: page.sessions[0] ?? null });
  assert.equal(
    indicate({ kind: "running" }, [project])?.text,
    "$(pulse) Threadline: 2 events · <1m",
  );
});

test("a pause that a sidecar told is shown", async () => {
  const capture = await replay("capture.jsonl").request("threadline/capture/pause", {});
  const shown = indicate({ kind: "running" }, [projectState({ capture })]);
  assert.equal(shown?.text, "$(debug-pause) Threadline: Paused");
});

test("a refusal that a sidecar told is an error with its words", async () => {
  const sidecar = replay("errors.jsonl");
  await assert.rejects(
    sidecar.request("threadline/sessions/list", {}),
    /Expected `int`, got `str` - at `\$\.limit`/,
  );
});
