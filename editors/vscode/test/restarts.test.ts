import assert from "node:assert/strict";
import { test } from "node:test";
import { RestartBudget } from "../src/restarts";

test("five restarts within three minutes are the end", () => {
  const budget = new RestartBudget();
  const granted = [0, 1, 2, 3, 4, 5].map((second) => budget.spend(second * 1000));
  assert.deepEqual(granted, [true, true, true, true, true, false]);
});

test("restarts of long ago do not count", () => {
  const budget = new RestartBudget();
  const granted = [0, 1, 2, 3, 4, 5].map((minute) => budget.spend(minute * 60_000));
  assert.deepEqual(granted, [true, true, true, true, true, true]);
});

test("a restart by hand renews the budget", () => {
  const budget = new RestartBudget();
  for (let second = 0; second < 6; second++) budget.spend(second);
  budget.renew();
  assert.equal(budget.spend(7), true);
});
