// The dashboard in Debian's chromium: dashboard.mjs SIDECAR. It walks through the pages as a person does, and lets
// a page of somebody else try to get in.

import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { openPage } from "./browsers.mjs";
import { door } from "./dashboard/door.mjs";
import { inbox } from "./dashboard/inbox.mjs";
import { injection } from "./dashboard/injection.mjs";
import { memory } from "./dashboard/memory.mjs";
import { session } from "./dashboard/session.mjs";
import { sessions } from "./dashboard/sessions.mjs";
import { tasks } from "./dashboard/tasks.mjs";
import { timeline } from "./dashboard/timeline.mjs";
import { Model } from "./models.mjs";
import { until } from "./waiting.mjs";
import { Workspace } from "./workspaces.mjs";

/** G6. What is to be seen on each page; a page has a module of its own. */
const VIEWS = [sessions, timeline, injection, memory, tasks, inbox, session, door];

const [sidecar] = process.argv.slice(2);
const pictures = join(process.env.EDITOR_SCREENSHOTS ?? "/tmp/threadline-screenshots", "dashboard");
const folder = mkdtempSync(join(tmpdir(), "threadline-dashboard-"));
const env = { ...process.env, THREADLINE_HOME: join(folder, "home") };
const workspace = new Workspace(join(folder, "harbour"));
const run = (...words) => execFileSync(sidecar, words, { cwd: workspace.folder, env, stdio: "pipe" });

for (const subject of [
  "Use SQLite for the ledger because it needs no server",
  "Never sign an upload twice: the gateway charges for each",
  "Fix the tide table around midnight",
]) {
  workspace.write(`src/${subject.split(" ")[0].toLowerCase()}.py`, `# ${subject}\n`);
  workspace.commit(subject);
}
run("scan", "--all-authors");
run("enrich", "--all");
/** Ask as another process does. */
const call = (method, params) => JSON.parse(run("call", method, JSON.stringify(params)));
/** What an agent has made of each commit, quoting it. */
const [{ sessionId }] = call("threadline/sessions/list", {}).sessions;
for (const { commit } of call("threadline/sessions/events", { sessionId }).events) {
  const [title, content] = [commit.subject.split(/[:]| because/)[0], commit.subject];
  const evidence = [{ quote: commit.subject, commitSha: commit.sha }];
  call("threadline/memories/write", { type: "decision", title, content, sessionId, evidence, agentId: "claude-code" });
}
const notes = [...Array(30).keys()].map((number) => ({ title: `Berth ${number} is taken`, pinned: true }));
remember([{ title: "Kittiwakes nest on the crane", occurredAt: "2020-01-01T00:00:00Z" }, ...notes]);

const model = await Model.open();
writeFileSync(join(env.THREADLINE_HOME, "settings.json"), JSON.stringify(model.settings));

const begun = new Set();
const dashboard = await begin();
const page = await openPage();
let code = 0;
try {
  mkdirSync(pictures, { recursive: true });
  for (const [sentence, step] of steps(dashboard)) {
    await step();
    console.log(`ok - dashboard: ${sentence}`);
  }
} catch (error) {
  code = 1;
  await page.screenshot({ path: join(pictures, "failure.png") });
  console.log(`not ok - dashboard\n${error.stack}`);
} finally {
  await page.context().browser().close();
  for (const one of begun) await one.end();
  model.close();
  rmSync(folder, { recursive: true });
}
process.exit(code);

/** A dashboard with its invitation, until it is ended. */
async function begin(...words) {
  const child = spawn(sidecar, ["dashboard", "--json", ...words], { cwd: workspace.folder, env });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const one = { ...JSON.parse((await lines.next()).value), openTab, end };
  begun.add(one);
  return one;

  /** Another tab of the same browser that was let in, with an invitation of its own. */
  async function openTab() {
    const tab = await page.context().newPage();
    child.stdin.write("\n");
    await tab.goto(JSON.parse((await lines.next()).value).url);
    await tab.waitForURL(`${one.address}/`);
    return tab;
  }

  async function end() {
    begun.delete(one);
    child.kill();
    await once(child, "exit");
  }
}

/** Ask as another process does, while this one goes on. */
async function ask(method, params) {
  const words = ["call", method, JSON.stringify(params)];
  const { stdout } = await promisify(execFile)(sidecar, words, { cwd: workspace.folder, env });
  return JSON.parse(stdout);
}

/** Keep facts, without comparing them. */
function remember(facts) {
  const lines = facts.map((fact, id) => {
    const params = { type: "fact", content: fact.title, dedup: false, ...fact };
    return JSON.stringify({ id, method: "threadline/memories/write", params });
  });
  execFileSync(sidecar, ["call", "-"], { cwd: workspace.folder, env, input: lines.join("\n") });
}

function steps({ address, url, openTab }) {
  const complaints = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  const visit = (place) => page.goto(`${address}/#/${place}`);
  const sees = (text) => page.getByText(text).first().waitFor();
  const photograph = async (name) => {
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(pictures, `${name}-${colorScheme}.png`) });
    }
  };
  const scene = { page, address, openTab, begin, workspace, run, call, ask, model, remember, sees, photograph, visit };
  return [
    ["says how to come in without an invitation", async () => {
      await page.goto(address);
      await sees("threadline dashboard");
      await photograph("door");
    }],
    ["lets in who was invited, and hides the token", async () => {
      await page.goto(url);
      await page.waitForURL(`${address}/`);
      await page.getByRole("navigation", { name: "Pages" }).waitFor();
      assert.deepEqual(await page.context().cookies(), []);
    }],
    ["goes on after a reload", async () => {
      await page.reload();
      await page.getByRole("navigation", { name: "Pages" }).waitFor();
      await sees("memories");
      await photograph("first");
    }],
    ["shows another tab how to come in", async () => {
      const other = await page.context().newPage();
      await other.goto(address);
      await other.getByText("To come in, open the address").waitFor();
      await other.close();
    }],
    ["is used by keyboard alone", async () => {
      await page.locator("body").focus();
      for (const wanted of ["Skip to content", "Timeline", "Sessions"]) {
        await page.keyboard.press("Tab");
        assert.equal(await page.locator(":focus").textContent(), wanted);
      }
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Sessions" }).waitFor();
    }],
    ...VIEWS.flatMap((view) => view.map(([sentence, step]) => [sentence, () => step(scene)])),
    ["lets nobody in with a used invitation", async () => {
      const other = await page.context().browser().newPage();
      await other.goto(url);
      await other.getByText("was used already").waitFor();
      await other.close();
    }],
    ["loads and does nothing that its policy forbids", async () => assert.deepEqual(complaints, [])],
    ["lets no page of others in", () => trespass(address)],
  ];
}

/** A page at another port, in the same browser, tries everything a page can. */
async function trespass(address) {
  const server = createServer((_, answer) => answer.setHeader("Content-Type", "text/html").end("<!doctype html>"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    const got = await page.evaluate(async (address) => {
      const read = (path, options) => fetch(address + path, options).then((one) => one.type, () => "refused");
      const open = () =>
        new Promise((resolve) => {
          const socket = new WebSocket(`${address.replace("http", "ws")}/rpc`);
          socket.onopen = () => resolve("open");
          socket.onerror = () => resolve("refused");
        });
      const frame = Object.assign(document.createElement("iframe"), { src: address });
      document.body.append(frame);
      await new Promise((resolve) => frame.addEventListener("load", resolve));
      return {
        fetched: await read("/api/checkpoints", { credentials: "include" }),
        posted: await read("/session", { method: "POST", body: "{}" }),
        blindly: await read("/api/checkpoints", { credentials: "include", mode: "no-cors" }),
        socket: await open(),
      };
    }, address);
    assert.deepEqual(got, { fetched: "refused", posted: "refused", blindly: "refused", socket: "refused" });
  } finally {
    server.close();
  }
}
