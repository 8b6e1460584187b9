import assert from "node:assert/strict";
import { test } from "node:test";
import { Pending } from "../pages/hosts";

function begin(pending: Pending): { readonly id: number; readonly answer: Promise<unknown> } {
  const ids: number[] = [];
  const answer = pending.begin(
    {},
    (id) => ids.push(id),
    () => {},
  );
  return { id: ids[0] ?? Number.NaN, answer };
}

test("a page that is made anew takes no answer to what the one before has asked", async () => {
  const [before, anew] = [new Pending(), new Pending()];
  const [old, own] = [begin(before), begin(anew)];
  anew.answer(old.id, "of another question");
  anew.answer(own.id, "of this one");
  assert.equal(await own.answer, "of this one");
  assert.ok(Number.isSafeInteger(own.id));
});
