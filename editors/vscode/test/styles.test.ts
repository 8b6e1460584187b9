import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const FOLDER = "pages/views";
/** What all views share, and each adds to by a class of its own. */
const SHARED = new Set(["card", "frame"]);

test("no two views style the same thing", () => {
  const owners = new Map<string, string>();
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".css"))) {
    for (const name of classes(readFileSync(`${FOLDER}/${file}`, "utf8"))) {
      assert.equal(owners.get(name) ?? file, file, `.${name}`);
      owners.set(name, file);
    }
  }
  assert.ok(owners.size > 50);
});

/** The classes that selectors begin with. */
function classes(style: string): Set<string> {
  const selectors = style
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .matchAll(/(?<=^|[{},])\s*[a-z]*\.([a-z][\w-]*)(?=[^{}]*\{)/g);
  return new Set([...selectors].map(([, name = ""]) => name).filter((name) => !SHARED.has(name)));
}
