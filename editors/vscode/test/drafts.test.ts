import assert from "node:assert/strict";
import { test } from "node:test";
import { begin, changed, insist, isChanged, isLater, rebased } from "../pages/drafts";
import { changes, draftOf, flaw, tagsOf, written } from "../pages/views/memory/drafts";
import { memory } from "./given";

const [EARLY, LATE] = ["2026-11-16T12:00:00Z", "2026-11-16T12:00:00.000001Z"];
const base = { title: "one", content: "two", importance: 3 };
const edit = { ...begin(base, EARLY), draft: { ...base, title: "mine" } };

test("only what is different is saved", () => {
  assert.equal(isChanged(begin(base, EARLY)), false);
  assert.deepEqual(changed(edit), { title: "mine" });
});

test("what others change elsewhere is taken over, and mine stays", () => {
  const theirs = { ...base, content: "theirs", importance: 5 };
  const moved = rebased(edit, theirs, LATE);
  assert.deepEqual(moved, { draft: { ...theirs, title: "mine" }, base: theirs, updatedAt: LATE });
  assert.deepEqual(moved && changed(moved), { title: "mine" });
});

test("what both change is for a person to decide", () => {
  const theirs = { ...base, title: "theirs" };
  assert.equal(rebased(edit, theirs, LATE), undefined);
  assert.deepEqual(changed(insist(edit, theirs, LATE)), { title: "mine" });
});

test("what both say alike is no clash, and no change any more", () => {
  const moved = rebased(edit, { ...base, title: "mine" }, LATE);
  assert.equal(moved && isChanged(moved), false);
});

test("moments within one millisecond have an order", () => {
  assert.equal(isLater("2026-11-16T12:00:00.123456Z", "2026-11-16T12:00:00.123450Z"), true);
  assert.equal(isLater(EARLY, EARLY), false);
  assert.equal(isLater("2026-11-16T12:00:01Z", "2026-11-16T12:00:00.5Z"), true);
});

test("tags are typed as words and sent as a list", () => {
  assert.deepEqual(tagsOf(" api, #storage ,, api"), ["api", "storage"]);
  const begun = begin(draftOf(memory({ tags: ["api"] })), EARLY);
  assert.equal(begun.draft.tags, "api");
  const typed = { ...begun, draft: { ...begun.draft, tags: "api, web", importance: 5 } };
  assert.deepEqual(changes(typed), { importance: 5, tags: ["api", "web"] });
  assert.deepEqual(written(typed.draft).tags, ["api", "web"]);
});

test("a memory without words, or with too many, is not saved", () => {
  const draft = draftOf(memory());
  assert.equal(flaw(draft), undefined);
  assert.match(flaw({ ...draft, title: " " }) ?? "", /title/);
  assert.match(flaw({ ...draft, content: "" }) ?? "", /remembered/);
  assert.match(flaw({ ...draft, title: "x".repeat(201) }) ?? "", /200/);
});
