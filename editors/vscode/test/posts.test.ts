import assert from "node:assert/strict";
import { test } from "node:test";
import type { ListTasksParams, Methods, ReadMessagesParams } from "../shared/protocol.generated";
import type { Requests } from "../src/requests";
import { readPlan } from "../src/team/plans";
import { readPost } from "../src/team/posts";
import { message, project, task } from "./given";

/** A sidecar that answers by table, and notes what it was asked. */
function sidecar(answers: Record<string, (params: never) => unknown>) {
  const asked: [string, unknown][] = [];
  const requests: Requests = {
    async request<M extends keyof Methods>(method: M, params: Methods[M]["params"]) {
      asked.push([method, params]);
      return answers[method]?.(params as never) as Methods[M]["result"];
    },
  };
  return { asked, requests };
}

const AGENTS = () => ({ agents: [{ agentId: "codex-2", label: "Codex (tests)" }], total: 1 });

test("what waits is taken before anything else is read, and told once with its sender's name", async () => {
  const waiting = [message({ senderId: "codex-2", status: "pending" })];
  const told: string[] = [];
  const { asked, requests } = sidecar({
    "threadline/agents/list": AGENTS,
    "threadline/messages/read": ({ status, sent }: ReadMessagesParams) => {
      if (status !== "pending" && !sent) assert.equal(told.length, 1);
      const found = status === "pending" ? waiting.splice(0) : [];
      return { messages: found, total: status === "acknowledged" ? 7 : found.length };
    },
  });
  const tell: Parameters<typeof readPost>[2] = (fresh, labels) =>
    void told.push(...fresh.map(({ senderId }) => labels.get(senderId) ?? ""));
  const found = await readPost(requests, project(), tell);
  await readPost(requests, project(), tell);
  assert.deepEqual(told, ["Codex (tests)"]);
  assert.deepEqual(found.totals, { unread: 0, acknowledged: 7, sent: 0 });
  const reads = asked.filter(([method]) => method === "threadline/messages/read");
  assert.ok(reads.every(([, params]) => (params as ReadMessagesParams).agentId === "user"));
  const takes = reads.filter(([, params]) => {
    const { preview, sent } = params as ReadMessagesParams;
    return !preview && !sent;
  });
  assert.equal(takes.length, 2);
});

test("what waits beyond the first hundred counts as unread", async () => {
  const { requests } = sidecar({
    "threadline/agents/list": AGENTS,
    "threadline/messages/read": ({ status }: ReadMessagesParams) => {
      if (status === "pending") return { messages: Array(100).fill(message()), total: 130 };
      return { messages: [], total: status === "delivered" ? 100 : 0 };
    },
  });
  const found = await readPost(requests, project(), () => {});
  assert.equal(found.totals.unread, 130);
});

test("all that is open is read, page by page, and the latest of what is done", async () => {
  const open = Array.from({ length: 450 }, (_, number) => task({ taskId: String(number) }));
  const { asked, requests } = sidecar({
    "threadline/agents/list": AGENTS,
    "threadline/tasks/list": ({ statuses, limit = 0, offset = 0 }: ListTasksParams) =>
      statuses?.includes("done")
        ? { tasks: [], total: 12 }
        : { tasks: open.slice(offset, offset + limit), total: open.length },
  });
  const found = await readPlan(requests, project(), 20);
  assert.equal(new Set(found.open.map(({ taskId }) => taskId)).size, 450);
  assert.deepEqual(found.totals, { open: 450, done: 12 });
  assert.equal(asked.filter(([method]) => method === "threadline/tasks/list").length, 4);
});
