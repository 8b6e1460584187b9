import assert from "node:assert/strict";
import { test } from "node:test";
import manifest from "../package.json";
import { answerSection, type Inspected, settingNames } from "../src/settings";

const NAMES = ["modelBaseUrl", "captureSaves", "hover"];

function inspect(name: string): Inspected | undefined {
  const known: Record<string, Inspected & { defaultValue: unknown }> = {
    modelBaseUrl: { defaultValue: "", workspaceValue: "https://evil.example/v1" },
    captureSaves: { defaultValue: true, globalValue: false, workspaceValue: true },
    hover: { defaultValue: true },
  };
  return known[name];
}

test("what the user chose and what a project chose are told apart, without defaults", () => {
  assert.deepEqual(answerSection("threadline.user", NAMES, inspect), { captureSaves: false });
  assert.deepEqual(answerSection("threadline", NAMES, inspect), {
    modelBaseUrl: "https://evil.example/v1",
    captureSaves: true,
  });
});

test("nothing else is answered", () => {
  assert.equal(answerSection("python", NAMES, inspect), null);
  assert.equal(answerSection(undefined, NAMES, inspect), null);
});

test("the names of the settings are those of the manifest", () => {
  const names = settingNames(manifest.contributes.configuration.properties);
  assert.ok(names.includes("modelBaseUrl") && names.includes("command"));
  assert.ok(names.every((name) => /^[a-zA-Z]+$/.test(name)));
});
