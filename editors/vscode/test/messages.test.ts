import assert from "node:assert/strict";
import { test } from "node:test";
import type { ShownMessage } from "../shared/protocol.generated";
import { headline, merged, notices, senderLine, unreadTotal } from "../src/team/messages";
import { message, post } from "./given";

const LABELS = new Map([["codex-2", "Codex (tests)"]]);

function check(name: string, fresh: Partial<ShownMessage>[], expected: [string, boolean][]): void {
  test(name, () => {
    const told = notices(fresh.map(message), LABELS);
    assert.deepEqual(
      told.map(({ text, isUrgent }) => [text, isUrgent]),
      expected,
    );
    if (fresh.length <= 3) assert.ok(told.every((notice) => notice.message));
  });
}

check("nothing new is no notification", [], []);
check(
  "a message is told with its sender, subject and first line",
  [{ subject: "Schema", senderId: "codex-2" }],
  [["Codex (tests): Schema – The schema is ready.", false]],
);
check(
  "without a subject its first line says what it is about",
  [{}],
  [["Claude Code: The schema is ready.", false]],
);
for (const urgent of [
  { category: "alert" },
  { category: "error" },
  { priority: 4 },
  { priority: 5 },
]) {
  check(
    `${JSON.stringify(urgent)} is a warning`,
    [urgent],
    [["Claude Code: The schema is ready.", true]],
  );
}
check(
  "nobody can put a command into a notification",
  [{ subject: "[Update](command:workbench.action.quit)", senderId: "[x](command:y)" }],
  [["[x] (command:y): [Update] (command:workbench.action.quit) – The schema is ready.", false]],
);
check("what agents tell each other is not told", [{ targetId: "*" }], []);
check(
  "unless it is urgent",
  [{ targetId: "*", category: "alert" }],
  [["Claude Code: The schema is ready.", true]],
);
check(
  "many are told in one sentence",
  [{}, { senderId: "codex-2" }, {}, { priority: 5 }],
  [["4 messages from Claude Code and Codex (tests), 1 of them urgent.", true]],
);
check(
  "many senders are counted",
  ["a", "b", "c", "d"].map((senderId) => ({ senderId })),
  [["4 messages from 4 agents.", false]],
);

test("a long first line is cut", () => {
  const line = headline(message({ content: "word ".repeat(100) }));
  assert.ok(line.length <= 120 && line.endsWith("word…"), line);
});

test("a blank subject is none", () => {
  assert.equal(headline(message({ subject: "  " })), "The schema is ready.");
});

test("a row says how pressing it is, who sent it and to whom else", () => {
  assert.equal(senderLine(message(), LABELS), "Claude Code");
  const broadcast = message({ senderId: "codex-2", targetId: "*", priority: 5 });
  assert.equal(senderLine(broadcast, LABELS), "urgent · Codex (tests) · to all agents");
});

test("what waits in several projects is sorted by urgency, what is over by its age", () => {
  const at = (hour: number) => `2026-11-16T${hour}:00:00Z`;
  const one = [
    message({ messageId: "a", priority: 3, createdAt: at(10) }),
    message({ messageId: "b", priority: 1, createdAt: at(12) }),
  ];
  const two = [
    message({ messageId: "c", priority: 5, createdAt: at(13) }),
    message({ messageId: "d", priority: 3, createdAt: at(11) }),
  ];
  const posts = [post({ unread: one, sent: one }), post({ unread: two, sent: two })];
  assert.deepEqual(
    merged(posts, "unread").map(({ messageId }) => messageId),
    ["c", "a", "d", "b"],
  );
  assert.deepEqual(
    merged(posts, "sent").map(({ messageId }) => messageId),
    ["c", "b", "d", "a"],
  );
});

test("what is unread is counted beyond what is listed", () => {
  const totals = { unread: 120, acknowledged: 3, sent: 4 };
  assert.equal(unreadTotal([post({ totals }), post({ totals })]), 240);
  assert.equal(unreadTotal([]), 0);
});
