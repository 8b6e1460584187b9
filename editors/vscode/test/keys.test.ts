import assert from "node:assert/strict";
import { test } from "node:test";
import { isPlainClick } from "../pages/keys";

const PLAIN = { button: 0, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false };

test("a click with a modifier is left to the browser", () => {
  const cases: [Partial<typeof PLAIN>, boolean][] = [
    [{}, true],
    [{ ctrlKey: true }, false],
    [{ metaKey: true }, false],
    [{ shiftKey: true }, false],
    [{ altKey: true }, false],
    [{ button: 1 }, false],
  ];
  for (const [keys, expected] of cases) assert.equal(isPlainClick({ ...PLAIN, ...keys }), expected);
});
