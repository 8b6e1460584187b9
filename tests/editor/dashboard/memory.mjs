/** Memory: searched, filtered, corrected, forgotten. */

import assert from "node:assert/strict";
import { until } from "../waiting.mjs";

const LEDGER = /Use SQLite for the ledger/;
const ELSEWHERE = "threadline/memories/update";

/** The memory of this title, as it is kept. */
function kept({ call }, title) {
  const { memories } = call("threadline/memories/list", { statuses: [], limit: 1000 });
  return memories.find((one) => one.title === title);
}

function card({ page }, title) {
  return page.getByRole("article", { name: title }).first();
}

function searchField({ page }) {
  return page.getByRole("searchbox", { name: "Search memory" });
}

async function open(scene, title) {
  const head = card(scene, title).getByRole("button", { name: title });
  if ((await head.getAttribute("aria-expanded")) === "false") await head.click();
}

async function press(scene, title, name) {
  await card(scene, title).getByRole("button", { name, exact: true }).click();
}

export const memory = [
  ["lists what is pinned first, and more when asked", async (scene) => {
    const { page, visit, sees, photograph } = scene;
    await visit("memory");
    await sees("30 of");
    assert.match(await page.locator(".memory h3").first().innerText(), /Berth/);
    await page.getByRole("button", { name: "Show More" }).click();
    await card(scene, "Kittiwakes nest on the crane").waitFor();
    await photograph("memory");
  }],
  ["finds memories while one types, and marks the words", async (scene) => {
    await searchField(scene).pressSequentially("sqlite ledger");
    await until("the best comes first", async () =>
      LEDGER.test(await scene.page.locator(".memory h3").first().innerText()),
    );
    const marks = await card(scene, LEDGER).locator("h3 mark").allInnerTexts();
    assert.deepEqual(marks, ["SQLite", "ledger"]);
    await scene.photograph("memory-search");
  }],
  ["shows the answer to what was asked last, however late the first one comes", async ({ openTab, address }) => {
    const other = await openTab();
    const [held, seen] = [[], new Map()];
    await other.routeWebSocket(/\/rpc$/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((text) => {
        const { id, params } = JSON.parse(text);
        seen.set(id, params?.query);
        server.send(text);
      });
      server.onMessage((text) => {
        const late = seen.get(JSON.parse(text).id) === "kittiwakes";
        if (late) held.push(() => socket.send(text));
        else socket.send(text);
      });
    });
    await other.goto(`${address}/#/memory`);
    await other.reload();
    const field = other.getByRole("searchbox", { name: "Search memory" });
    await field.fill("kittiwakes");
    await until("the first question is asked and answered", () => held.length > 0);
    await field.fill("sqlite ledger");
    await other.getByRole("article", { name: LEDGER }).first().waitFor();
    const before = await other.locator(".memory h3").allInnerTexts();
    for (const send of held) send();
    await other.evaluate(() => new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve))));
    assert.deepEqual(await other.locator(".memory h3").allInnerTexts(), before);
    await other.close();
  }],
  ["is walked through by keyboard", async (scene) => {
    const { page } = scene;
    await searchField(scene).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await card(scene, LEDGER).getByRole("region", { name: "Evidence" }).waitFor();
    assert.equal(await page.locator(":focus").getAttribute("aria-expanded"), "true");
    await page.keyboard.press("ArrowUp");
    assert.equal(await page.locator(":focus").getAttribute("aria-label"), "Search memory");
  }],
  ["tells where a memory comes from", async (scene) => {
    const one = card(scene, LEDGER);
    await one.locator("blockquote", { hasText: "because it needs no server" }).first().waitFor();
    await one.getByRole("region", { name: "Evidence" }).getByText(/commit [0-9a-f]{8}/).first().waitFor();
    await one.getByRole("link", { name: "a session" }).waitFor();
    await scene.photograph("memory-open");
  }],
  ["filters by type, pin, state, tag and file", async (scene) => {
    const { page, remember } = scene;
    remember([{ title: "No anchor in the fairway", type: "constraint" }]);
    remember([{ title: "Gulls steal sandwiches", tags: ["birds"], files: ["docs/gulls.md"] }]);
    await searchField(scene).fill("");
    const only = async (title) => {
      await card(scene, title).waitFor();
      await until(`only ${title}`, async () => (await page.locator(".memory h3").count()) === 1);
    };
    const tag = page.getByRole("combobox", { name: "Tag" });
    await tag.fill("birds");
    await only("Gulls steal sandwiches");
    await page.getByRole("button", { name: "Pinned" }).click();
    await page.getByText("Nothing passes these filters.").waitFor();
    await page.getByRole("button", { name: "Clear Filters" }).first().click();
    await page.getByRole("textbox", { name: "File or Folder" }).fill("docs");
    await only("Gulls steal sandwiches");
    await page.getByRole("button", { name: "Clear Filters" }).click();
    await page.getByRole("button", { name: "Constraint" }).click();
    await until("only constraints", async () => {
      const kinds = await page.locator(".memory-type").allInnerTexts();
      return kinds.length > 0 && kinds.every((kind) => kind === "Constraint");
    });
    await page.getByRole("button", { name: "Clear Filters" }).click();
  }],
  ["changes a memory in place, by keyboard", async (scene) => {
    const { page } = scene;
    await searchField(scene).fill("gulls");
    await open(scene, "Gulls steal sandwiches");
    await press(scene, "Gulls steal sandwiches", "Edit");
    await scene.photograph("memory-edit");
    await page.keyboard.press("Escape");
    await page.getByRole("form", { name: "Edit memory" }).waitFor({ state: "detached" });
    await press(scene, "Gulls steal sandwiches", "Edit");
    await page.getByRole("textbox", { name: "Title" }).fill("Gulls steal chips");
    await page.getByRole("combobox", { name: "Importance" }).selectOption("5");
    await page.getByRole("textbox", { name: "Tags" }).fill("birds, food");
    await page.keyboard.press("Control+Enter");
    await card(scene, "Gulls steal chips").waitFor();
    const { importance, tags, content } = kept(scene, "Gulls steal chips");
    assert.deepEqual([importance, tags, content], [5, ["birds", "food"], "Gulls steal sandwiches"]);
  }],
  ["keeps what is being typed while others change the memory", async (scene) => {
    const { page, call } = scene;
    const { memoryId } = kept(scene, "Gulls steal chips");
    await press(scene, "Gulls steal chips", "Edit");
    await page.getByRole("textbox", { name: "Title" }).fill("Gulls steal everything");
    call(ELSEWHERE, { memoryId, content: "Seen at the pier." });
    await until("their part is taken over", async () =>
      (await page.getByRole("textbox", { name: "What is to be remembered" }).inputValue()) === "Seen at the pier.",
    );
    assert.equal(await page.getByRole("textbox", { name: "Title" }).inputValue(), "Gulls steal everything");
    call(ELSEWHERE, { memoryId, title: "Gulls steal fish" });
    await page.getByText("Somebody has changed this memory meanwhile.").waitFor();
    await searchField(scene).fill("kittiwakes");
    await card(scene, "Kittiwakes nest on the crane").waitFor();
    assert.equal(await page.getByRole("textbox", { name: "Title" }).inputValue(), "Gulls steal everything");
    await scene.photograph("memory-clash");
    await page.getByRole("button", { name: "Keep Mine" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("form", { name: "Edit memory" }).waitFor({ state: "detached" });
    assert.equal(kept(scene, "Gulls steal everything").content, "Seen at the pier.");
  }],
  ["keeps a draft while one looks elsewhere", async (scene) => {
    const { page, visit } = scene;
    await searchField(scene).fill("gulls");
    await open(scene, "Gulls steal everything");
    await press(scene, "Gulls steal everything", "Edit");
    await page.getByRole("textbox", { name: "Title" }).fill("Gulls are");
    await visit("sessions");
    await page.getByRole("heading", { name: "Sessions" }).waitFor();
    await visit("memory");
    assert.equal(await page.getByRole("textbox", { name: "Title" }).inputValue(), "Gulls are");
    await page.getByRole("textbox", { name: "Title" }).press("Escape");
    assert.equal(await page.getByRole("textbox", { name: "Title" }).inputValue(), "Gulls are");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("form", { name: "Edit memory" }).waitFor({ state: "detached" });
  }],
  ["pins, unpins and judges", async (scene) => {
    const title = "Gulls steal everything";
    await press(scene, title, "Pin");
    await scene.sees("Pinned: it stands first in the list now.");
    await card(scene, title).getByRole("button", { name: "Unpin" }).waitFor();
    assert.equal(kept(scene, title).pinned, true);
    await press(scene, title, "Unpin");
    await card(scene, title).getByRole("button", { name: "Pin", exact: true }).waitFor();
    await press(scene, title, "Wrong");
    await card(scene, title).getByText("marked wrong", { exact: true }).waitFor();
    assert.equal(kept(scene, title).feedback, -1);
    await press(scene, title, "Useful");
    await card(scene, title).getByText("marked wrong", { exact: true }).waitFor({ state: "detached" });
    assert.equal(await scene.page.locator(":focus").innerText(), "Useful");
  }],
  ["writes down what somebody wants kept", async (scene) => {
    const { page } = scene;
    await page.getByRole("button", { name: "Add Memory" }).click();
    await page.getByRole("textbox", { name: "Title" }).fill("The pilot boat leaves at six");
    await page.getByRole("textbox", { name: "What is to be remembered" }).fill("Every day but Sunday.");
    await page.getByRole("combobox", { name: "Type" }).selectOption("fact");
    await page.keyboard.press("Control+Enter");
    await scene.sees("Kept.");
    await searchField(scene).fill("pilot boat");
    await card(scene, "The pilot boat leaves at six").waitFor();
  }],
  ["forgets after asking once, and says what was removed", async (scene) => {
    const { page, visit } = scene;
    const title = "The pilot boat leaves at six";
    const { memoryId } = kept(scene, title);
    scene.remember([{ title: "The pilot boat is red" }]);
    await card(scene, "The pilot boat is red").waitFor();
    await open(scene, title);
    await press(scene, title, "Forget");
    await page.getByRole("alertdialog").getByText("Forget this memory for good?").waitFor();
    await scene.photograph("memory-forget");
    await page.getByRole("button", { name: "Keep" }).click();
    await press(scene, title, "Forget");
    await page.getByRole("button", { name: "Forget for Good" }).click();
    await page.getByText(/Forgotten: 1 memory gone from .* nothing left\./).waitFor();
    await card(scene, title).waitFor({ state: "detached" });
    assert.equal(await page.locator(":focus").innerText(), "The pilot boat is red");
    assert.equal(kept(scene, title), undefined);
    await visit(`memory/${memoryId}`);
    await scene.sees("This memory was forgotten.");
  }],
  ["has a page for one memory, and leads back", async (scene) => {
    const { page, visit } = scene;
    const { memories } = scene.call("threadline/memories/search", { query: "sqlite ledger", topK: 1 });
    await visit(`memory/${memories[0].memory.memoryId}`);
    await card(scene, LEDGER).getByRole("region", { name: "Origin" }).waitFor();
    for (const id of ["01NOPE", "01J00000000000000000000000"]) {
      await visit(`memory/${id}`);
      await scene.sees("There is no such memory.");
    }
    await page.getByRole("link", { name: "All Memories" }).click();
    await page.getByRole("heading", { name: "Memory", exact: true }).waitFor();
  }],
  ["fits into a narrow window", async (scene) => {
    const { page } = scene;
    await searchField(scene).fill("");
    await page.setViewportSize({ width: 320, height: 800 });
    await page.getByRole("button", { name: "Filters" }).click();
    await page.getByRole("combobox", { name: "State" }).waitFor();
    await scene.photograph("memory-narrow");
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} px too wide`);
    await page.getByRole("button", { name: "Filters" }).click();
    await page.setViewportSize({ width: 1280, height: 800 });
  }],
];
