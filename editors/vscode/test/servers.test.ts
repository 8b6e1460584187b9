import assert from "node:assert/strict";
import { test } from "node:test";
import {
  announce,
  plannedChanges,
  planText,
  serverCommand,
  serverEntry,
  type Way,
  wayFor,
} from "../src/assistants/servers";

const LM = { registerMcpServerDefinitionProvider: () => ({ dispose: () => {} }) };
const CURSOR = { mcp: { registerServer: () => {}, unregisterServer: () => {} } };
const LIAR = {
  get mcp(): never {
    throw new Error("it lies");
  },
  get registerMcpServerDefinitionProvider(): never {
    throw new Error("it lies");
  },
};
const COMMAND = serverCommand(["/bin/threadline", "-x"]);

function check(source: string, lm: unknown, cursor: unknown, expected: Way): void {
  test(`${source} hears of the server by ${expected}`, () => {
    assert.equal(wayFor(source, { lm, cursor }), expected);
  });
}

check("vscode", LM, undefined, "provider");
check("vscode", undefined, undefined, "connect");
check("vscode", LIAR, CURSOR, "connect");
check("cursor", LM, CURSOR, "cursor");
check("cursor", LM, undefined, "connect");
check("cursor", LM, { mcp: { registerServer: () => {} } }, "connect");
check("cursor", LM, LIAR, "connect");
check("windsurf", LM, CURSOR, "connect");
check("devin", LM, CURSOR, "connect");
check("antigravity", LM, CURSOR, "connect");
check("kiro", LM, CURSOR, "manual");

function announced(way: Way, lm: unknown, cursor: unknown) {
  const said: string[] = [];
  const server = { command: COMMAND, provide: () => ["server"] };
  const found = announce(way, { lm, cursor }, server, (sentence) => void said.push(sentence));
  return { found, said };
}

test("VS Code is given a provider, which can be taken back", () => {
  const calls: unknown[] = [];
  const lm = {
    registerMcpServerDefinitionProvider(
      id: string,
      provider: { provideMcpServerDefinitions: () => unknown },
    ) {
      calls.push(id, provider.provideMcpServerDefinitions());
      return { dispose: () => void calls.push("disposed") };
    },
  };
  const { found, said } = announced("provider", lm, undefined);
  found?.dispose();
  assert.deepEqual([calls, said], [["threadline.mcp", ["server"], "disposed"], []]);
});

test("Cursor is told the command, and told to forget it", () => {
  const calls: unknown[] = [];
  const mcp = {
    registerServer: (config: unknown) => void calls.push(config),
    unregisterServer: (name: unknown) => void calls.push(name),
  };
  const { found } = announced("cursor", undefined, { mcp });
  found?.dispose();
  const server = { command: "/bin/threadline", args: ["-x", "mcp"], env: {} };
  assert.deepEqual(calls, [{ name: "threadline", server }, "threadline"]);
});

test("an editor that throws, answers nothing or lacks it has no server, and nothing breaks", () => {
  const fail = () => {
    throw new Error("not supported");
  };
  const cases: [Way, unknown, unknown, number][] = [
    ["provider", { registerMcpServerDefinitionProvider: fail }, undefined, 1],
    ["provider", { registerMcpServerDefinitionProvider: () => undefined }, undefined, 0],
    ["provider", {}, undefined, 0],
    ["provider", LIAR, undefined, 0],
    ["cursor", LM, { mcp: { registerServer: fail, unregisterServer: fail } }, 1],
    ["cursor", LM, {}, 0],
    ["cursor", LM, LIAR, 0],
    ["connect", LM, CURSOR, 0],
    ["manual", LM, CURSOR, 0],
  ];
  for (const [way, lm, cursor, complaints] of cases) {
    const { found, said } = announced(way, lm, cursor);
    assert.deepEqual([found, said.length], [undefined, complaints]);
  }
});

test("a server that Cursor refuses later is told, and none that it cannot forget", async () => {
  const reject = () => Promise.reject(new Error("later"));
  const mcp = { registerServer: reject, unregisterServer: reject };
  const { found, said } = announced("cursor", undefined, { mcp });
  await found?.dispose();
  assert.deepEqual(said, [
    "This editor would not take an MCP server: Error: later",
    "This editor would not forget our MCP server: Error: later",
  ]);
});

test("an entry to paste names the program and its words", () => {
  assert.deepEqual(JSON.parse(serverEntry(COMMAND)), {
    mcpServers: { threadline: { command: "/bin/threadline", args: ["-x", "mcp"] } },
  });
});

test("a plan shows what would change and why something would not", () => {
  const file = (action: string, diff = "") => ({
    path: `/${action}`,
    action,
    diff,
    reason: "not ours",
  });
  const files = [file("create", "+one\n"), file("unchanged"), file("refused")];
  const changes = plannedChanges(JSON.stringify({ files }));
  assert.equal(planText(changes), "+one\n\n# /refused stays as it is: not ours\n");
});
