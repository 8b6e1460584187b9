import assert from "node:assert/strict";
import { test } from "node:test";
import { excerpt, pieces, terms } from "../pages/marking";

function marked(text: string, query: string): string[] {
  return pieces(text, query)
    .filter(({ isMatch }) => isMatch)
    .map((piece) => piece.text);
}

test("words are marked where they stand, also in another form", () => {
  for (const [text, query, expected] of [
    ["Keep orjson optional", "orjson", ["orjson"]],
    ["Expose it for imports", "import", ["imports"]],
    ["One approval, two approvals", "approvals", ["approval", "approvals"]],
    ["A cat is no catalogue", "cat", ["cat", "catalogue"]],
    ["The catalogue", "cataract", []],
    ["Größe der Übergabe", "größe", ["Größe"]],
    ["nothing of it", "", []],
    ["why is it so", "how is the loom", []],
    ["a.b(c) [x]", "(c) [x", ["c", "x"]],
  ] as const)
    assert.deepEqual(marked(text, query), expected, `${query} in ${text}`);
});

test("the pieces are the whole text", () => {
  const text = "  The loom, <b>the</b> loom & the weft\n";
  const whole = pieces(text, "loom weft").map((piece) => piece.text);
  assert.equal(whole.join(""), text);
});

test("words that say nothing count only where there are no others", () => {
  assert.deepEqual(terms("What is the loom?"), ["loom"]);
  assert.deepEqual(terms("what is it"), ["what", "is", "it"]);
});

test("an excerpt shows the first match, within its room", () => {
  const text = `${"weft ".repeat(100)}loom ${"warp ".repeat(100)}`;
  const shown = excerpt(text, "loom", 120);
  assert.match(shown, /loom/);
  assert.ok(shown.length <= 125, shown);
  assert.equal(excerpt("short", "loom", 120), "short");
  assert.match(excerpt(text, "", 120), /^weft .* …$/);
  assert.match(excerpt(text, "zebra", 120), /^weft .* …$/);
});
