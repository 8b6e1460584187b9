import assert from "node:assert/strict";
import { test } from "node:test";
import type { RulesChange, RulesFile } from "../shared/protocol.generated";
import { openChat, pasteHint } from "../src/assistants/chats";
import { attempt, disposable, functionOf } from "../src/assistants/guards";
import { lengthOf, onOwnLines } from "../src/assistants/insertions";
import { isTarget, offered, ownPart, present, toldChanges } from "../src/assistants/rulesets";

test("a text stands on lines of its own at the cursor", () => {
  const cases: [string, string, string][] = [
    ["", "", "T\n"],
    ["  ", "\t", "T\n"],
    ["x = 1", "", "\n\nT\n"],
    ["", "x = 1", "T\n\n"],
    ["a", "b", "\n\nT\n\n"],
  ];
  for (const [before, after, expected] of cases) {
    assert.equal(onOwnLines("T\n\n", before, after), expected);
  }
  assert.equal(lengthOf("x".repeat(3412)), "3,412 characters");
});

test("a chat is opened in VS Code with the text unsent", async () => {
  const calls: unknown[] = [];
  const run = async (...call: unknown[]) => void calls.push(call);
  assert.equal(await openChat({ source: "vscode", isOff: false, run }, "T"), true);
  assert.deepEqual(calls, [
    ["workbench.action.chat.open", { query: "T\n\n", isPartialQuery: true }],
  ]);
});

test("where a chat is missing, off or another's, the text is to be pasted", async () => {
  const fails = [
    () => Promise.reject(new Error("command not found")),
    () => {
      throw new Error("no such thing");
    },
  ];
  for (const run of fails) {
    assert.equal(await openChat({ source: "vscode", isOff: false, run }, "T"), false);
  }
  const never = () => assert.fail("it must not be called");
  assert.equal(await openChat({ source: "vscode", isOff: true, run: never }, "T"), false);
  for (const source of ["cursor", "windsurf", "devin", "antigravity", "kiro", "other"]) {
    assert.equal(await openChat({ source, isOff: false, run: never }, "T"), false);
    assert.match(pasteHint(source), /^The context is on the clipboard\. Paste it into .+\.$/);
  }
  assert.match(pasteHint("cursor"), /Cursor's chat/);
});

const LIAR = {
  get trap(): never {
    throw new Error("it lies");
  },
};

test("a function is found only where there is one", () => {
  const owner = {
    value: 7,
    tell: () => 7,
    method(this: { value: number }) {
      return this.value;
    },
  };
  assert.equal(functionOf(owner, "tell")?.(), 7);
  assert.equal(functionOf(owner, "method")?.(), 7);
  for (const nothing of [undefined, null, 7, "text", owner, LIAR]) {
    assert.equal(functionOf(nothing, "trap"), undefined);
  }
});

test("a call that fails, now or later, is told and harms nobody", async () => {
  const said: string[] = [];
  const complain = (sentence: string) => void said.push(sentence);
  const fail = () => {
    throw new Error("no");
  };
  assert.equal(attempt("do it", fail, complain), undefined);
  assert.equal(await attempt("do it", async () => fail(), complain), undefined);
  assert.deepEqual(said, Array(2).fill("This editor would not do it: Error: no"));
  assert.equal(
    attempt("do it", () => 7, complain),
    7,
  );
  for (const given of [undefined, null, {}, 7, { dispose: "soon" }]) {
    assert.equal(disposable(given), undefined);
  }
});

function file(said: Partial<RulesFile> = {}): RulesFile {
  return { target: "agents", path: "/x", state: "absent", reason: null, chars: 0, ...said };
}

const FILES = [
  file(),
  file({ target: "cursor", state: "edited" }),
  file({ target: "windsurf", state: "refused", reason: "it is read-only" }),
];

test("each editor's own rules file is offered first, with its state", () => {
  const order = (source: string) => offered(FILES, source).map(({ value }) => value);
  assert.deepEqual(order("vscode"), ["agents", "cursor", "windsurf"]);
  assert.deepEqual(order("cursor"), ["cursor", "agents", "windsurf"]);
  assert.deepEqual(order("devin"), ["windsurf", "agents", "cursor"]);
  const [, cursor, windsurf] = offered(FILES, "vscode");
  assert.deepEqual([cursor?.description, windsurf?.detail], ["edited by hand", "it is read-only"]);
  assert.deepEqual(
    present(FILES).map(({ target }) => target),
    ["cursor"],
  );
});

test("a target is one of ours, and a part of it by a name", () => {
  assert.equal(ownPart("agents"), "Threadline's block in AGENTS.md");
  assert.equal(ownPart("cursor"), ".cursor/rules/threadline.mdc");
  assert.deepEqual(["agents", "cursor", "toString", "", 7, undefined].map(isTarget), [
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test("what became of rules files is told in one line", () => {
  const change = (target: RulesChange["target"], outcome: RulesChange["outcome"]) => ({
    ...file({ target }),
    outcome,
  });
  assert.equal(toldChanges([change("agents", "created")]), "Wrote AGENTS.md.");
  assert.equal(
    toldChanges([change("agents", "removed"), change("cursor", "removed")]),
    "Removed the block in AGENTS.md, .cursor/rules/threadline.mdc.",
  );
  assert.equal(
    toldChanges([
      change("agents", "updated"),
      change("cursor", "unchanged"),
      change("windsurf", "kept"),
    ]),
    "Refreshed AGENTS.md. Up to date: .cursor/rules/threadline.mdc.",
  );
  assert.equal(toldChanges([change("agents", "kept")]), "");
});
