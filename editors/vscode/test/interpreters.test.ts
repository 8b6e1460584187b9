import assert from "node:assert/strict";
import { test } from "node:test";
import type { Inspected } from "../src/settings";
import { chosenCommand, chosenPython, configuredInterpreters } from "../src/setup/interpreters";

const WORKSPACE: Inspected = { workspaceValue: "/code/.venv/bin/python" };

function inspecting(known: Readonly<Record<string, Inspected>>) {
  return (section: string, key: string) => known[`${section}.${key}`];
}

test("a workspace chooses neither a command nor a Python", () => {
  const inspect = inspecting({
    "threadline.command": WORKSPACE,
    "threadline.python": WORKSPACE,
    "python.defaultInterpreterPath": WORKSPACE,
  });
  assert.equal(chosenCommand(inspect), undefined);
  assert.equal(chosenPython(inspect), undefined);
  assert.deepEqual(configuredInterpreters(inspect), []);
});

test("what the user set counts, whatever a workspace says", () => {
  const inspect = inspecting({
    "threadline.command": { ...WORKSPACE, globalValue: ["/x", "-v"] },
    "threadline.python": { ...WORKSPACE, globalValue: " /usr/bin/python3 " },
    "python.defaultInterpreterPath": { ...WORKSPACE, globalValue: "/env/bin/python" },
  });
  assert.deepEqual(chosenCommand(inspect), ["/x", "-v"]);
  assert.equal(chosenPython(inspect), "/usr/bin/python3");
  assert.deepEqual(configuredInterpreters(inspect), ["/usr/bin/python3", "/env/bin/python"]);
});

test("only a full path names an interpreter", () => {
  for (const globalValue of ["python", "./python", `\${workspaceFolder}/.venv/bin/python`, 5]) {
    const inspect = inspecting({ "python.defaultInterpreterPath": { globalValue } });
    assert.deepEqual(configuredInterpreters(inspect), []);
  }
});
