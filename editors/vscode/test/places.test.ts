import assert from "node:assert/strict";
import { test } from "node:test";
import { first, HOME, PAGES, type Place, read, write } from "../shared/places";

test("every place is read as it was written", () => {
  for (const page of PAGES) {
    for (const id of [undefined, "01ABC", "a/b?c#d e%"]) {
      const place: Place = { page, id, project: id && "0123456789abcdef0123" };
      assert.deepEqual(read(write(place)), { page, id, project: place.project });
    }
  }
});

test("what cannot be read leads home", () => {
  for (const hash of ["", "#", "#/nowhere", "#main", "sessions", "#/session/"]) {
    assert.deepEqual(read(hash), HOME);
  }
  assert.deepEqual(read("#/session/%E0%A4%A"), {
    page: "session",
    id: undefined,
    project: undefined,
  });
});

test("a page that was hidden goes on where it had got to", () => {
  const [asked, kept] = [write({ page: "sessions" }), write({ page: "session", id: "01ABC" })];
  assert.equal(first(kept, asked).page, "session");
  assert.equal(first(undefined, asked).page, "sessions");
  assert.deepEqual(first(undefined, undefined), HOME);
});
