import assert from "node:assert/strict";
import { test } from "node:test";
import { commandLine, fileRoots, findProgram } from "../src/locating";

function checkCommand(setting: unknown, expected: string[]): void {
  test(`the setting ${JSON.stringify(setting)} starts ${expected.join(" ")}`, () => {
    assert.deepEqual(commandLine(setting), expected);
  });
}

checkCommand("", ["threadline"]);
checkCommand([], ["threadline"]);
checkCommand(undefined, ["threadline"]);
checkCommand("/opt/my tools/threadline", ["/opt/my tools/threadline"]);
checkCommand(["uvx", "threadline"], ["uvx", "threadline"]);
checkCommand([42, "", "x"], ["x"]);

function checkProgram(name: string, programs: string[], expected: string | undefined): void {
  test(`${name} with ${programs.join(", ") || "nothing"} there is ${expected}`, () => {
    const isProgram = (file: string) => programs.includes(file);
    const searched = ["", ".", "venv/bin", "/usr/local/bin", "/usr/bin"];
    assert.equal(findProgram(name, { home: "/home/me", searched, isProgram }), expected);
  });
}

checkProgram("threadline", ["/usr/bin/threadline"], "/usr/bin/threadline");
checkProgram(
  "threadline",
  ["/usr/bin/threadline", "/usr/local/bin/threadline"],
  "/usr/local/bin/threadline",
);
checkProgram("threadline", ["/usr/bin/threadline.exe"], "/usr/bin/threadline.exe");
checkProgram("threadline", ["threadline", "venv/bin/threadline"], undefined);
checkProgram("~/bin/threadline", ["/home/me/bin/threadline"], "/home/me/bin/threadline");
checkProgram("/opt/threadline", ["/opt/threadline"], "/opt/threadline");
checkProgram("/opt/threadline", [], undefined);

test("a project's open working tree comes before all else", () => {
  assert.deepEqual(fileRoots(["/old/demo/.git", "/demo/.git"], [], ["/demo/src"]), [
    "/demo",
    "/old/demo",
  ]);
});

test("a linked worktree comes before the main one that is not open", () => {
  assert.deepEqual(fileRoots(["/demo/.git"], [], ["/tree"]), ["/tree", "/demo"]);
});

test("a folder of another project is never looked at", () => {
  assert.deepEqual(fileRoots(["/demo/.git"], ["/other/.git"], ["/other", "/demo"]), ["/demo"]);
});
