import assert from "node:assert/strict";
import { test } from "node:test";
import { isConflict, Pending, Wish } from "../pages/hosts";
import { ErrorCode } from "../shared/protocol.generated";

test("a wish waits for somebody to heed it, and is heeded once", () => {
  const wish = new Wish();
  let heeded = 0;
  wish.make();
  const end = wish.heed(() => heeded++);
  assert.equal(heeded, 1);
  wish.make();
  assert.equal(heeded, 2);
  end();
  wish.make();
  assert.equal(heeded, 2);
  wish.heed(() => heeded++);
  assert.equal(heeded, 3);
});

test("a refusal tells whether somebody else was faster", async () => {
  const pending = new Pending();
  const refused = async (code: number) => {
    let id = 0;
    const answer = pending.begin(
      {},
      (number) => {
        id = number;
      },
      () => undefined,
    );
    pending.fail(id, "no", code);
    return answer.then(() => undefined, isConflict);
  };
  assert.equal(await refused(ErrorCode.CONFLICT), true);
  assert.equal(await refused(ErrorCode.NOT_FOUND), false);
  assert.equal(isConflict(new Error("no")), false);
});
