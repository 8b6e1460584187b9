import assert from "node:assert/strict";
import { test } from "node:test";
import { addressee, company, conversations, isNew, isOpen } from "../pages/views/inbox/threads";
import { receipts } from "../shared/receipts";
import { message } from "./given";

const labels = new Map([["codex", "Codex"]]);
const handling = { deliveredAt: "2026-11-16T12:05:00Z", acknowledgedAt: null };
const dealt = { ...handling, acknowledgedAt: "2026-11-16T12:06:00Z" };
const at = (minute: number) => ({ createdAt: `2026-11-16T12:${minute}:00Z` });

test("messages that answer each other are one conversation, told once", () => {
  const first = message({ messageId: "1", subject: "Dye", status: "acknowledged", ...at(10) });
  const answer = message({ messageId: "2", threadId: "1", senderId: "user", ...at(20) });
  const [only, ...others] = conversations([answer, first, answer]);
  assert.deepEqual(others, []);
  assert.deepEqual(
    only?.messages.map(({ messageId }) => messageId),
    ["1", "2"],
  );
  assert.deepEqual([only?.subject, only?.latest.messageId, only?.open], ["Dye", "2", []]);
});

test("what waits comes first, then the newest", () => {
  const all = conversations([
    message({ messageId: "old", ...at(10) }),
    message({ messageId: "done", status: "acknowledged", ...at(50) }),
    message({ messageId: "sent", senderId: "user", targetId: "codex", ...at(55) }),
    message({ messageId: "new", ...at(20) }),
  ]);
  assert.deepEqual(
    all.map(({ id }) => id),
    ["new", "old", "sent", "done"],
  );
});

test("a message is open until it is dealt with, and new until it was shown", () => {
  const states = [
    message({ status: "pending" }),
    message({ targetId: "*", handlings: { user: handling } }),
    message({ status: "acknowledged", handlings: { user: dealt } }),
    message({ senderId: "user", targetId: "codex", status: "pending" }),
    message({ targetId: "codex", status: "pending" }),
  ];
  assert.deepEqual(states.map(isOpen), [true, true, false, false, false]);
  assert.deepEqual(states.map(isNew), [true, false, false, false, false]);
});

test("an answer goes to who wrote last, else to whom one wrote", () => {
  const mine = message({ senderId: "user", targetId: "codex" });
  assert.equal(addressee([message({ senderId: "cursor" }), mine]), "cursor");
  assert.equal(addressee([mine]), "codex");
});

test("receipts say who has read and who has dealt with it", () => {
  const mine = message({ senderId: "user", targetId: "*" });
  assert.equal(receipts(mine, labels), "Not read yet");
  assert.equal(receipts({ ...mine, handlings: { codex: handling } }, labels), "Read by Codex");
  assert.equal(
    receipts({ ...mine, handlings: { codex: handling, cursor: dealt } }, labels),
    "Acknowledged by Cursor, read by Codex",
  );
  assert.equal(receipts(message({ handlings: { user: dealt } }), labels), "");
});

test("a conversation is named after the others", () => {
  const named = (...all: Parameters<typeof message>[0][]) => {
    const [only] = conversations(
      all.map((said, place) =>
        message({
          ...at(10 + place),
          ...said,
          messageId: String(place),
          threadId: place ? "0" : null,
        }),
      ),
    );
    return only && company(only, labels);
  };
  assert.equal(named({ senderId: "codex" }), "Codex");
  assert.equal(named({ senderId: "codex", targetId: "*" }), "Codex to all agents");
  assert.equal(named({ senderId: "user", targetId: "codex" }), "To Codex");
  assert.equal(named({ senderId: "codex" }, { senderId: "cursor" }), "Codex and Cursor");
});
