import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bySection,
  occasion,
  reason,
  signals,
  signed,
  standing,
} from "../pages/views/injection/words";
import type { Receipt } from "../shared/protocol.generated";

test("reasons come the strongest first, for better or worse", () => {
  const why = { recency: 0.2, words: 0.1, feedback: -0.5, standing: 0.9, files: 0.001 };
  assert.deepEqual(signals({ why }), [
    { name: "what was said of it", value: -0.5 },
    { name: "it is recent", value: 0.2 },
    { name: "its words", value: 0.1 },
  ]);
});

test("sections stand in the order in which they are read, unknown ones last", () => {
  const items = ["later", "documents", "constraints", "documents"].map((section) => ({ section }));
  assert.deepEqual(
    bySection(items).map(({ title, items }) => [title, items.length]),
    [
      ["Constraints", 1],
      ["Documents", 2],
      ["later", 1],
    ],
  );
});

test("why something was left out is said in words", () => {
  assert.equal(reason({ reason: "cap" }), "there was no room");
  assert.equal(reason({ reason: "a new one" }), "a new one");
});

test("figures and opinions read well", () => {
  assert.deepEqual([signed(0.256), signed(-1)], ["+0.26", "−1.00"]);
  assert.deepEqual([-1, -0.5, 0, 0.25].map(standing), [
    "said to be wrong",
    "counts less",
    "",
    "counts more",
  ]);
  assert.equal(occasion({ occasion: "compact" } as Receipt), "after a compaction");
});
