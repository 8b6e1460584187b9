import assert from "node:assert/strict";
import { test } from "node:test";
import { Coalescer } from "../shared/coalescing";

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("many wishes within the delay are one run", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let runs = 0;
  const coalescer = new Coalescer(async () => void runs++, 50);
  for (let wish = 0; wish < 10; wish++) coalescer.request();
  t.mock.timers.tick(50);
  await settled();
  assert.equal(runs, 1);
});

test("wishes during a run are one more run after it, never beside it", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const ends: (() => void)[] = [];
  const coalescer = new Coalescer(() => new Promise((end) => void ends.push(end)), 50);
  coalescer.request();
  t.mock.timers.tick(50);
  coalescer.request();
  coalescer.request();
  t.mock.timers.tick(500);
  assert.equal(ends.length, 1);
  ends[0]?.();
  await settled();
  t.mock.timers.tick(50);
  assert.equal(ends.length, 2);
});

test("nothing runs once it is disposed of", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let runs = 0;
  const coalescer = new Coalescer(async () => void runs++, 50);
  coalescer.request();
  coalescer.dispose();
  t.mock.timers.tick(500);
  await settled();
  assert.equal(runs, 0);
});
