import assert from "node:assert/strict";
import { test } from "node:test";
import { installed, names, wishes } from "../src/assistants/connections";
import { shim } from "../src/shims";

const change = { path: "/x", reason: null, diff: "" };
const OUTPUT = JSON.stringify({
  connections: [
    { agent: "claude-code", label: "Claude Code", refusal: null },
    { agent: "cursor", label: "Cursor", refusal: null },
    { agent: "odd", label: "Odd", refusal: "not here" },
  ],
  files: [
    { ...change, agents: ["claude-code"], action: "unchanged" },
    { ...change, agents: ["cursor"], action: "unchanged" },
    { ...change, agents: ["cursor"], action: "create" },
  ],
  applied: false,
});

test("an assistant is connected where connecting it changes nothing", () => {
  assert.deepEqual(installed(OUTPUT), [
    { agent: "claude-code", label: "Claude Code", isConnected: true },
    { agent: "cursor", label: "Cursor", isConnected: false },
  ]);
});

test("only what is different from now is wished for", () => {
  const known = installed(OUTPUT);
  const { connect, disconnect } = wishes(known, ["cursor"]);
  assert.equal(names(connect), "Cursor");
  assert.equal(names(disconnect), "Claude Code");
  assert.deepEqual(wishes(known, ["claude-code"]), { connect: [], disconnect: [] });
});

test("a shim starts the program with its words, whatever is in them", () => {
  const words = ["/a b/it's/python", "-m", "x"] as const;
  assert.deepEqual(shim(words, "linux"), {
    name: "threadline",
    text: "#!/bin/sh\nexec '/a b/it'\\''s/python' '-m' 'x' \"$@\"\n",
  });
  assert.deepEqual(shim(["C:\\a b\\100%\\t.exe"], "win32"), {
    name: "threadline.cmd",
    text: '@"C:\\a b\\100%%\\t.exe" %*\r\n',
  });
});
