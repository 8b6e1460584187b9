import assert from "node:assert/strict";
import { test } from "node:test";
import { consider, type Decision, type Situation } from "../src/setup/considering";

function check(said: Partial<Situation>, expected: Decision): void {
  const situation = { kind: "running", isOwn: false, isBehind: false, ...said } as const;
  test(`the wish to install comes to “${expected}” with ${JSON.stringify(said)}`, () => {
    assert.equal(consider(situation), expected);
  });
}

check({}, "keep");
check({ kind: "starting" }, "keep");
check({ isOwn: true }, "ask");
check({ isOwn: true, isBehind: true }, "install");
for (const kind of ["idle", "absent", "outdated", "failed", "installing"] as const) {
  check({ kind }, "install");
}
