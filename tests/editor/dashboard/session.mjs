// One session: its events, the making of memory from it while it is made, and what came of it.

import assert from "node:assert/strict";
import { until } from "../waiting.mjs";

const MANY = 130;

/** Part of G2, G3 and G6. */
export const session = [
  ["shows what a session was, and what happened in it", async (scene) => {
    scene.long = await work(scene, "2026-03-02T09:00:00Z");
    const { page, sees, photograph } = scene;
    await open(scene, scene.long);
    await page.getByRole("heading", { name: /src\/berth/ }).waitFor();
    for (const fact of ["VS Code", "Claude Code", "no memory yet"]) await sees(fact);
    await page.getByRole("tab", { name: /^Events\s*132/ }).waitFor();
    await until("the tab is named", async () => /berth.* – Threadline$/.test(await page.title()));
    await photograph("session");
  }],
  ["shows a commit's words and files in place", async ({ page }) => {
    await page.getByText("Moor by the bow").click();
    await page.getByText("The stern swings with the tide.").waitFor();
    await page.locator(".event[class~=commit] .event-files .added", { hasText: "+12" }).waitFor();
  }],
  ["shows earlier events on demand", async ({ page }) => {
    assert.equal(await page.locator(".event").count(), 100);
    await page.getByRole("button", { name: "Show 32 Earlier of 32" }).click();
    await until("all are shown", async () => (await page.locator(".event").count()) === 132);
  }],
  ["finds events by kind and by words", async ({ page, sees }) => {
    await page.getByRole("button", { name: "Notes 1" }).click();
    await until("one is left", async () => (await page.locator(".event").count()) === 1);
    await sees("Ask the pilot");
    await page.getByRole("button", { name: "All", exact: true }).click();
    const words = page.getByRole("searchbox", { name: "Filter events" });
    await words.fill("berth7.py berth7");
    await until("one is left", async () => (await page.locator(".event").count()) === 1);
    await words.fill("nowhere");
    await sees("No such event here.");
    assert.equal(await words.evaluate((one) => one === document.activeElement), true);
    await words.fill("");
  }],
  ["walks through its tabs by keyboard", async ({ page, sees }) => {
    const chosen = (name) => page.getByRole("tab", { name, selected: true }).waitFor();
    await page.getByRole("tab", { name: /^Events/ }).focus();
    await page.keyboard.press("ArrowRight");
    await chosen(/^Jobs/);
    await sees("No memory was made from this session yet.");
    await page.keyboard.press("End");
    await chosen(/^Memories/);
    assert.match(await page.locator(":focus").textContent(), /^Memories/);
    await page.keyboard.press("ArrowRight");
    await chosen(/^Events/);
  }],
  ["makes memory, stage by stage", async ({ page, sees, photograph }) => {
    await page.getByRole("button", { name: "Generate Memory" }).click();
    await sees("Memory made:");
    await until("four stages are done", async () =>
      (await page.locator(".pipeline .segment.completed").count()) === 4,
    );
    await sees("All of its 132 events were read already.");
    assert.equal(await page.getByRole("button", { name: "Generate Memory" }).isEnabled(), false);
    await page.getByRole("tab", { name: /^Memories/ }).click();
    await page.locator("blockquote", { hasText: "Moor by the bow" }).first().waitFor();
    await photograph("session-memories");
    await page.getByRole("tab", { name: /^Jobs/ }).click();
    for (const stage of ["enrich", "embed", "dedup", "drift"]) {
      await page.getByRole("row", { name: new RegExp(`^${stage} completed .*m?s`) }).waitFor();
    }
    await photograph("session-jobs");
  }],
  ["compacts it after asking, and loses nothing", async ({ page, sees }) => {
    await page.getByRole("button", { name: "Compact" }).click();
    await page.getByRole("dialog").getByText("132 events become").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Compact" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Compact" }).click();
    await sees(/became .* % saved/);
    await page.locator(".facts").getByText("compacted").waitFor();
    assert.equal(await page.locator(":focus").innerText(), "Generate Memory");
    await page.getByRole("tab", { name: /^Events/ }).click();
    await sees("Moor by the bow");
  }],
  ["tells why a job failed", async (scene) => {
    const { page, model, ask, photograph } = scene;
    scene.troubled = await work(scene, "2026-04-02T09:00:00Z");
    await open(scene, scene.troubled);
    model.mood = "refuse";
    await ask("threadline/enrichment/start", { sessionId: scene.troubled, provider: "http" });
    await page.locator(".pipeline.failed .segment.failed", { hasText: "wants a key (401)" }).waitFor();
    await page.locator(".facts").getByText("memory failed").waitFor();
    await photograph("session-failed");
  }],
  ["goes on from the failed stage, and shows how far it is", async ({ page, model, photograph }) => {
    model.mood = "hold";
    await page.locator(".pipeline").getByRole("button", { name: "Retry" }).click();
    await page.locator(".pipeline .segment.processing", { hasText: "enrich" }).waitFor();
    await page.locator(".facts").getByText("making memory").waitFor();
    await photograph("session-running");
    model.release();
    await until("four stages are done", async () =>
      (await page.locator(".pipeline .segment.completed").count()) === 4,
    );
    await page.getByRole("tab", { name: /^Jobs/ }).click();
    await page.getByText("2 tries").waitFor();
  }],
  ["cancels what runs", async (scene) => {
    const { page, model, ask } = scene;
    model.mood = "hold";
    const sessionId = await work(scene, "2026-05-02T09:00:00Z");
    await open(scene, sessionId);
    const over = ask("threadline/enrichment/start", { sessionId, provider: "http" });
    await page.locator(".pipeline").getByRole("button", { name: "Cancel" }).click();
    await page.locator(".pipeline.cancelled").waitFor();
    assert.equal((await over).status, "cancelled");
    await page.getByRole("button", { name: "Generate Memory" }).waitFor();
  }],
  ["closes the active session", async (scene) => {
    const { page, ask } = scene;
    const note = { kind: "capture", text: "The pilot is on board" };
    const { events } = await ask("threadline/ingest", { events: [note] });
    await open(scene, events[0].sessionId);
    await page.locator(".facts").getByText("active now").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await page.locator(".facts").getByText("closed").waitFor();
    await page.getByRole("button", { name: "Close" }).waitFor({ state: "detached" });
  }],
  ["says that there is no such session, and leads back", async ({ page, visit, sees }) => {
    for (const id of ["01NOPE", "01J00000000000000000000000"]) {
      await visit(`session/${id}`);
      await sees("There is no such session.");
    }
    await page.getByRole("link", { name: "All Sessions" }).click();
    await page.getByRole("heading", { name: "Sessions" }).waitFor();
  }],
  ["is read on a narrow screen", async (scene) => {
    const { page, photograph } = scene;
    await page.setViewportSize({ width: 320, height: 900 });
    await open(scene, scene.troubled);
    const overflow = () =>
      page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    for (const tab of [/^Memories/, /^Jobs/, /^Events/]) {
      await page.getByRole("tab", { name: tab }).click();
      await page.getByRole("tab", { name: tab, selected: true }).waitFor();
      assert.equal(await overflow(), 0);
    }
    await photograph("session-narrow");
    await page.setViewportSize({ width: 1280, height: 800 });
  }],
];

async function open({ page, visit }, sessionId) {
  await visit(`session/${sessionId}`);
  await page.getByRole("tablist", { name: "Session" }).waitFor();
}

/** A morning in the past: many saves, a commit with a reason, a note. */
async function work({ ask }, at) {
  const start = Date.parse(at);
  const time = (minutes) => new Date(start + minutes * 60_000).toISOString();
  const saves = [...Array(MANY).keys()].map((number) => ({
    kind: "save",
    occurredAt: time(number / 2),
    files: [{ path: `src/berth${number}.py` }],
  }));
  const commit = {
    kind: "commit",
    occurredAt: time(100),
    files: [{ path: "src/mooring.py", addedLines: 12, deletedLines: 3 }],
    commit: {
      sha: String(start).padStart(40, "0"),
      authoredAt: time(100),
      authorName: "Ada",
      subject: "Moor by the bow instead of the stern",
      body: "The stern swings with the tide.\n\nShips must never moor by the stern alone, because lines break.",
    },
  };
  const note = { kind: "capture", occurredAt: time(101), source: "claude-code", text: "From now on always ask the pilot about fog before mooring." };
  const { events } = await ask("threadline/ingest", { source: "vscode", events: [...saves, commit, note] });
  assert.equal(events.length, MANY + 2);
  return events[0].sessionId;
}
