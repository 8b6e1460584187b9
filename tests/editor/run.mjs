// Runs every check on every version: run.mjs SIDECAR CACHE EXTENSION VSIX VERSION...

import { join } from "node:path";
import { openPage, pretend } from "./browsers.mjs";
import { Editor } from "./editors.mjs";
import { journeys } from "./journeys.mjs";
import { Workbench } from "./workbench.mjs";

const [sidecar, cache, extension, vsix, ...versions] = process.argv.slice(2);
const screenshots = process.env.EDITOR_SCREENSHOTS ?? "/tmp/threadline-screenshots";
const PATIENCE = 300_000;
const CURSOR = { nameLong: "Cursor", nameShort: "Cursor", urlProtocol: "cursor" };
const counts = { passed: 0, failed: 0 };
const open = new Set();
/** Names of journeys, or `inside` and the like; all where none is chosen. */
const chosen = process.env.EDITOR_CHECKS?.split(" ");

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));
process.on("exit", () => {
  for (const editor of open) editor.stop();
});

await Promise.all(versions.map(checkVersion));
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed > 0 || counts.passed === 0 ? 1 : 0);

async function checkVersion(version) {
  const checks = new Map([
    ["inside", (editor) => checkInside(editor, "index", CURSOR)],
    ["assistants", (editor) => checkInside(editor, "context")],
    ["assistants-cursor", (editor) => checkInside(editor, "context", CURSOR)],
    ...journeys.map((journey) => [journey.name, (editor) => travel(editor, journey)]),
  ]);
  for (const [name, check] of checks) {
    if (chosen && !chosen.includes(name)) continue;
    let result = await inEditor(version, name, check);
    if (result.failed > 0) {
      // Two versions run at once, so a busy machine may be the cause; who fails twice has failed.
      console.log(`# ${version} ${name}: once more`);
      result = await inEditor(version, name, check);
    }
    counts.passed += result.passed;
    counts.failed += result.failed;
  }
}

async function inEditor(version, name, check) {
  const editor = new Editor({ cache, version, sidecar });
  open.add(editor);
  const result = { passed: 0, failed: 0 };
  editor.report = (sentence, seconds, error) => {
    result[error ? "failed" : "passed"]++;
    tell(`${version} ${name}: ${sentence}`, seconds, error);
  };
  try {
    await check(editor);
  } catch (error) {
    editor.report("runs to its end", 0, error.stack);
  } finally {
    if (result.failed > 0) console.log(indent(editor.sidecarLog()));
    editor.stop();
    open.delete(editor);
  }
  return result;
}

/** Layer A: mocha inside the extension host, which may believe to be another product. */
async function checkInside(editor, suites, product) {
  if (!product) editor.setUser({ "chat.disableAIFeatures": false });
  editor.place(join(import.meta.dirname, "model"));
  // Without this flag a built VS Code runs no tests; with it, it shows no notifications.
  await editor.start("--enable-smoke-test-driver");
  const page = await openPage();
  try {
    if (product) await pretend(page, product);
    const code = await hostTests(page, editor, suites);
    if (code !== 0) editor.report("all tests ran", 0, `ended with ${code}`);
  } finally {
    await page.context().browser().close();
  }
}

async function hostTests(page, editor, suites) {
  const remote = `vscode-remote://127.0.0.1:${editor.port}`;
  const payload = JSON.stringify([
    ["extensionDevelopmentPath", remote + extension],
    ["extensionTestsPath", `${remote}${join(import.meta.dirname, `host/${suites}.cjs`)}`],
    ["skipWelcome", "true"],
  ]);
  await page.exposeFunction("codeAutomationLog", (_, args) => hear(editor, [args].flat()));
  const ended = new Promise((resolve) => page.exposeFunction("codeAutomationExit", resolve));
  const query = new URLSearchParams({ folder: editor.workspace.folder, payload });
  await page.goto(`${editor.address}/?${query}`);
  const patience = new Promise((resolve) => setTimeout(resolve, PATIENCE, "no end in sight"));
  return Promise.race([ended, patience]);
}

function hear(editor, words) {
  for (const word of words) {
    if (typeof word !== "string" || !word.startsWith('{"check"')) continue;
    const { check, seconds, error } = JSON.parse(word);
    editor.report(check, seconds, error);
  }
}

/** Layer B: what a person does and sees. */
async function travel(editor, journey) {
  await journey.prepare?.(editor, sidecar);
  editor.install(vsix);
  await editor.start();
  const address = editor.address + journey.address(editor);
  const pictures = join(screenshots, editor.version, journey.name);
  const workbench = await Workbench.open(address, pictures, journey.product);
  try {
    await walk(journey.steps, { editor, workbench, sidecar });
  } finally {
    await workbench.close();
  }
}

async function walk(steps, scene) {
  let isBroken = false;
  for (const [sentence, step] of steps) {
    const start = Date.now();
    const error = isBroken ? "not reached" : await problem(step, scene);
    scene.editor.report(sentence, (Date.now() - start) / 1000, error);
    isBroken ||= error !== undefined;
  }
}

async function problem(step, scene) {
  try {
    await step(scene);
    return undefined;
  } catch (error) {
    await scene.workbench.photograph("failure");
    return error.stack;
  }
}

function tell(title, seconds, error) {
  console.log(`${error ? "not ok" : "ok"} - ${title} (${seconds.toFixed(1)} s)`);
  if (error) console.log(indent(error));
}

function indent(text) {
  return text.replace(/^/gm, "    ");
}
