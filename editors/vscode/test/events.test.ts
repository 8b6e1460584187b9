import assert from "node:assert/strict";
import { test } from "node:test";
import { headline, rest } from "../shared/events";
import { sourceKind } from "../shared/hosts";
import { sides } from "../src/changes";
import { event } from "./given";

const COMMIT = { sha: "a".repeat(40), authoredAt: "2026-11-16T12:00:00Z" };

test("an event is told in a line, and the rest where there is more", () => {
  const told = [
    event({ text: "Ask Ada\n\nabout locks " }),
    event({ kind: "commit", commit: { ...COMMIT, subject: "Weave", body: "\nTighter.\n" } }),
    event({ kind: "commit", commit: COMMIT }),
    event({ kind: "save", files: [{ path: "a.py" }, { path: "b.py" }] }),
  ];
  assert.deepEqual(
    told.map((one) => [headline(one), rest(one)]),
    [
      ["Ask Ada", "about locks"],
      ["Weave", "Tighter."],
      ["commit", ""],
      ["Saved 2 files", ""],
    ],
  );
});

test("a file that came has no before, one that went no after", () => {
  const [added, deleted, modified, renamed] = [1, 6, 5, 3].map(sides);
  assert.deepEqual(added, { hasBefore: false, hasAfter: true });
  assert.deepEqual(deleted, { hasBefore: true, hasAfter: false });
  assert.deepEqual([modified, renamed], Array(2).fill({ hasBefore: true, hasAfter: true }));
});

test("a source is an editor, the history, or an agent", () => {
  assert.deepEqual(["cursor", "neovim", "cli-scan", "codex"].map(sourceKind), [
    "editor",
    "editor",
    "history",
    "agent",
  ]);
});
