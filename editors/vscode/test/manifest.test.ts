import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import schema from "../../../protocol/schema.json";
import manifest from "../package.json";

interface Setting {
  default?: unknown;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  pattern?: string;
  scope?: string;
}

/** Which of the editor's levels a setting may be set at, by who may choose it. */
const SCOPES: Readonly<Record<string, string | undefined>> = {
  machine: "machine",
  user: "application",
  project: undefined,
};

/** Commands whose names are agreed, and whose code may come later than what leads to them. */
const COMING = [
  "generateMemory",
  "searchMemory",
  "insertContext",
  "copyContext",
  "openContextInChat",
  "openInjection",
  "openTimeline",
].map((name) => `threadline.${name}`);
const OWN = ["threadline.command", "threadline.python"];

function essence({ default: value, enum: choices, minimum, maximum, pattern }: Setting): Setting {
  return { default: value, enum: choices?.toSorted(), minimum, maximum, pattern } as Setting;
}

function source(folder: string): string {
  return readdirSync(folder, { withFileTypes: true })
    .map((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? source(path) : readFileSync(path, "utf8");
    })
    .join("\n");
}

test("the settings are those of the protocol, with its defaults and limits", () => {
  const offered: Record<string, Setting> = manifest.contributes.configuration.properties;
  const known: Record<string, Setting> = schema.components.schemas.Settings.properties;
  const ours = Object.entries(offered).filter(([key]) => !OWN.includes(key));
  assert.deepEqual(
    Object.fromEntries(ours.map(([key, setting]) => [key, essence(setting)])),
    Object.fromEntries(
      Object.entries(known).map(([key, setting]) => [`threadline.${key}`, essence(setting)]),
    ),
  );
});

test("a setting's scope is what the protocol trusts it to", () => {
  const offered: Record<string, Setting> = manifest.contributes.configuration.properties;
  const levels = Object.entries(schema.components.schemas.Settings.properties).map(
    ([key, known]) => [`threadline.${key}`, SCOPES[known["x-trust"]]] as const,
  );
  const expected = [...levels, ...OWN.map((key) => [key, "machine"] as const)];
  assert.deepEqual(
    Object.fromEntries(Object.entries(offered).map(([key, { scope }]) => [key, scope])),
    Object.fromEntries(expected),
  );
});

test("every command that is offered is registered, and the other way round", () => {
  const registered = [...source("src").matchAll(/this\.register\(\s*"([^"]+)"/g)];
  assert.deepEqual(
    registered.map(([, id]) => id).sort(),
    manifest.contributes.commands.map(({ command }) => command).sort(),
  );
});

test("no command bears the name of a method, which the sidecar offers itself", () => {
  const methods = source("shared").matchAll(/"(threadline\/[^"]+)": \{ params/g);
  const taken = new Set([...methods].map(([, name]) => name?.replaceAll("/", ".")));
  assert.ok(taken.size > 0);
  assert.deepEqual(
    manifest.contributes.commands.filter(({ command }) => taken.has(command)),
    [],
  );
});

test("the context keys that are read are those that are set", () => {
  const said = source("src").matchAll(/(?:set|pulse)\("([^"]+)"/g);
  const keys = new Set([...said].map(([, key]) => key));
  const clauses =
    JSON.stringify(manifest.contributes).match(
      /"(?:when|enablement)":"[^"]+"|"onContext:[^"]+"/g,
    ) ?? [];
  const views = new Set(manifest.contributes.views.threadline.map(({ id }) => id));
  const used = clauses
    .flatMap((clause) => clause.match(/threadline\.\w+/g) ?? [])
    .filter((name) => !views.has(name));
  assert.deepEqual(new Set(used), keys);
});

test("the walkthrough and the keys lead to commands, and its pictures are there", () => {
  const { walkthroughs, keybindings, commands, views } = manifest.contributes;
  const known = new Set([
    ...commands.map(({ command }) => command),
    ...views.threadline.map(({ id }) => `${id}.focus`),
    ...COMING,
  ]);
  const steps = walkthroughs.flatMap((walkthrough) => walkthrough.steps);
  const texts = steps.map(({ description }) => description).join("\n");
  const events = steps.flatMap(({ completionEvents }) => completionEvents).join("\n");
  const used = [
    ...[...texts.matchAll(/\(command:([\w.]+)\)/g)].map(([, id]) => id ?? ""),
    ...[...events.matchAll(/onCommand:([\w.]+)/g)].map(([, id]) => id ?? ""),
    ...keybindings.map(({ command }) => command),
  ];
  assert.deepEqual(
    used.filter((id) => !known.has(id)),
    [],
  );
  for (const { media } of steps) assert.match(readFileSync(media.svg, "utf8"), /var\(--vscode-/);
});

test("pictures that the code or the manifest name are packed", () => {
  const named = [...source("src").matchAll(/"(threadline[\w-]*\.svg)"/g)].map(([, name]) => name);
  const packed = readFileSync(".vscodeignore", "utf8").split("\n");
  const icons = manifest.contributes.viewsContainers.activitybar.map(({ icon }) => icon);
  const wanted = [...icons, manifest.icon, ...named.map((name) => `media/${name}`)];
  assert.ok(named.length > 0);
  assert.deepEqual(
    wanted.filter((path) => !packed.includes(`!${path}`)),
    [],
  );
});
