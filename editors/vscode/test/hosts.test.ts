import assert from "node:assert/strict";
import { test } from "node:test";
import { hostSource, isEditor, sourceName } from "../shared/hosts";

function check(appName: string, uriScheme: string, expected: string): void {
  test(`${appName} (${uriScheme}) is ${expected}`, () => {
    assert.equal(hostSource(appName, uriScheme), expected);
  });
}

check("Visual Studio Code", "vscode", "vscode");
check("Visual Studio Code - Insiders", "vscode-insiders", "vscode");
check("VSCodium", "vscodium", "vscode");
check("code-server", "code-oss", "vscode");
check("Cursor", "cursor", "cursor");
check("Cursor Nightly", "cursor-nightly", "cursor");
check("Windsurf", "windsurf", "windsurf");
check("Windsurf - Next", "windsurf-next", "windsurf");
check("Devin", "windsurf", "windsurf");
check("Devin", "devin", "windsurf");
check("Devin - Next", "devin-next", "windsurf");
check("Antigravity IDE", "antigravity", "antigravity");
check("Kiro", "kiro", "kiro");
check("Some Rebrand", "cursor", "cursor");
check("Precursor", "precursor", "vscode");
check("", "", "vscode");

test("a source reads as its product's name, an unknown one as itself", () => {
  assert.deepEqual(["cursor", "cli-scan", "my-agent"].map(sourceName), [
    "Cursor",
    "Git history",
    "my-agent",
  ]);
});

test("an agent is no editor", () => {
  assert.deepEqual(["vscode", "kiro", "claude-code"].map(isEditor), [true, true, false]);
});
