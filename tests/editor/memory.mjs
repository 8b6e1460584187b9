// Memory in the editor: searched in its view, corrected, forgotten.

import assert from "node:assert/strict";
import { Agent } from "./agents.mjs";
import { until } from "./waiting.mjs";

const TITLE = "Warp before weft";
const RULE = {
  type: "constraint",
  title: TITLE,
  content: "The shuttle breaks when the weft is wound first.",
  rationale: "It broke twice in May.",
  importance: 4,
  files: ["src/weaving.py"],
  tags: ["loom"],
  evidence: [{ quote: "the shuttle broke again" }],
};

/** The page that stands in the side bar: the one without ways elsewhere. */
function sideBar({ workbench }) {
  return until("the view is there", () => findFrame(workbench, "none"));
}

function inEditor({ workbench }) {
  return until("the page is there", () => findFrame(workbench, "full"));
}

async function findFrame({ page }, kind, content = "main") {
  const selector = `body[data-frame="${kind}"] ${content}`;
  for (const frame of page.frames()) {
    const isIt = (wanted) => document.querySelector(wanted) !== null;
    if (await frame.evaluate(isIt, selector).catch(() => false)) return frame;
  }
  return undefined;
}

/** Pick what is seen: what came just now cannot have been seen, and is not picked. */
function pick({ page }, press) {
  const closed = { state: "hidden", timeout: 1000 };
  const rows = page.locator(".quick-input-list .monaco-list-row").first();
  return until("it is picked", async () => {
    await press();
    return rows.waitFor(closed).then(
      () => true,
      () => false,
    );
  });
}

function kept(scene, title = TITLE) {
  const params = { statuses: [], limit: 1000 };
  const { memories } = new Agent(scene, "codex").call("threadline/memories/list", params);
  return memories.find((memory) => memory.title === title);
}

/** G4. */
export const memory = {
  name: "memory",
  address: (editor) => `/?folder=${editor.workspace.folder}`,
  steps: [
    [
      "an empty view says where memory comes from",
      async (scene) => {
        await scene.workbench.showSessions();
        const view = await sideBar(scene);
        await view.getByText("Nothing is remembered yet.").waitFor();
        await scene.workbench.photograph("empty");
      },
    ],
    [
      "what an agent writes down appears, unasked",
      async (scene) => {
        const agent = new Agent(scene, "claude-code");
        agent.call("threadline/memories/write", { ...RULE, agentId: agent.id });
        for (const title of ["Dye comes from Lyon", "Looms are oiled on Mondays"]) {
          agent.call("threadline/memories/write", { type: "fact", title, content: `${title}.` });
        }
        const view = await sideBar(scene);
        await view.getByRole("article", { name: TITLE }).waitFor();
        await scene.workbench.photograph("list");
      },
    ],
    [
      "the command leads into the search field, and what is typed is found",
      async (scene) => {
        const { workbench } = scene;
        await workbench.openFile("hello.py");
        await workbench.command("Threadline: Search Memory");
        const view = await sideBar(scene);
        await until("the cursor is in the field", () =>
          view.evaluate(() => document.activeElement?.getAttribute("aria-label") === "Search memory"),
        );
        await workbench.page.keyboard.type("shuttle");
        await view.locator("mark", { hasText: "shuttle" }).first().waitFor();
        await until("it alone is found", async () => (await view.getByRole("article").count()) === 1);
        await workbench.photograph("search");
      },
    ],
    [
      "a memory opens by keyboard to its evidence",
      async (scene) => {
        const view = await sideBar(scene);
        await scene.workbench.page.keyboard.press("ArrowDown");
        await scene.workbench.page.keyboard.press("Enter");
        await view.getByText("the shuttle broke again").waitFor();
        await view.getByText("Written by Claude Code").waitFor();
        await scene.workbench.photograph("open");
      },
    ],
    [
      "its file opens in the editor",
      async (scene) => {
        const view = await sideBar(scene);
        await view.getByRole("button", { name: "src/weaving.py" }).click();
        await scene.workbench.page.locator(".tab.active", { hasText: "weaving.py" }).waitFor();
      },
    ],
    [
      "it is pinned",
      async (scene) => {
        const view = await sideBar(scene);
        await view.getByRole("button", { name: "Pin", exact: true }).click();
        await view.getByRole("button", { name: "Unpin" }).waitFor();
        assert.equal(kept(scene).pinned, true);
      },
    ],
    [
      "it is edited in place, and a hidden view loses nothing of that",
      async (scene) => {
        const { workbench } = scene;
        await (await sideBar(scene)).getByRole("button", { name: "Edit" }).click();
        await (await sideBar(scene)).getByRole("textbox", { name: "Title" }).fill("Warp first");
        await workbench.photograph("edit");
        await workbench.openFile("hello.py");
        await workbench.showSessions();
        const title = (await sideBar(scene)).getByRole("textbox", { name: "Title" });
        await until("the draft is back", async () => (await title.inputValue()) === "Warp first");
        await title.press("Control+Enter");
        await (await sideBar(scene)).getByRole("article", { name: "Warp first" }).waitFor();
        assert.equal(kept(scene, "Warp first").content, RULE.content);
      },
    ],
    [
      "it is marked wrong",
      async (scene) => {
        const view = await sideBar(scene);
        await view.getByRole("button", { name: "Wrong" }).click();
        await view.getByText("marked wrong", { exact: true }).waitFor();
        assert.equal(kept(scene, "Warp first").feedback, -1);
      },
    ],
    [
      "it has a page of its own, where there is room",
      async (scene) => {
        await (await sideBar(scene)).getByRole("link", { name: "Own Page" }).click();
        const page = await inEditor(scene);
        await page.getByRole("navigation", { name: "Pages" }).waitFor();
        await page.getByText("It broke twice in May.").waitFor();
        await scene.workbench.tab("Memory: Warp first").waitFor();
        await scene.workbench.photograph("page");
      },
    ],
    [
      "another is pinned from the palette, found as one types",
      async (scene) => {
        const { workbench } = scene;
        await workbench.command("Threadline: Pin or Unpin Memory…");
        await workbench.choice("Dye comes from Lyon").waitFor();
        // A page that has just been drawn may take the focus once more.
        await workbench.page.locator(".quick-input-widget input").first().focus();
        await workbench.page.keyboard.type("oiled");
        const looking = workbench.page.locator(".quick-input-widget .monaco-progress-container.active");
        await until("the best comes first", async () => {
          const [first] = await workbench.choice(/./).allInnerTexts();
          return /oiled/.test(first) && (await looking.count()) === 0;
        });
        await workbench.photograph("picking");
        await pick(workbench, () => workbench.page.keyboard.press("Enter"));
        await until("it is pinned", () => kept(scene, "Looms are oiled on Mondays").pinned);
      },
    ],
    [
      "one is forgotten from the palette, after asking once",
      async (scene) => {
        const { workbench } = scene;
        await workbench.command("Threadline: Forget Memory…");
        await pick(workbench, () => workbench.choice("Dye comes from Lyon").click());
        const dialog = workbench.page.locator(".monaco-dialog-box");
        await dialog.getByText("Forget “Dye comes from Lyon” for good?").waitFor();
        await dialog.getByRole("button", { name: "Forget" }).click();
        await workbench.notification(/Forgotten: 1 memory gone from .* nothing left\./).waitFor();
        assert.equal(kept(scene, "Dye comes from Lyon"), undefined);
        await workbench.command("Notifications: Clear All Notifications");
      },
    ],
    [
      "one is forgotten in the view, and what was removed is told",
      async (scene) => {
        const view = await sideBar(scene);
        await view.getByRole("button", { name: "Forget", exact: true }).click();
        await view.getByRole("alertdialog").waitFor();
        await scene.workbench.photograph("forget");
        await view.getByRole("button", { name: "Forget for Good" }).click();
        await view.getByText(/Forgotten: 1 memory/).waitFor();
        await view.getByRole("article", { name: "Warp first" }).waitFor({ state: "detached" });
        assert.equal(kept(scene, "Warp first"), undefined);
        await (await inEditor(scene)).getByText("This memory was forgotten.").waitFor();
      },
    ],
    [
      "everything can be read in every theme",
      async (scene) => {
        const { workbench } = scene;
        const agent = new Agent(scene, "claude-code");
        agent.call("threadline/memories/write", { ...RULE, agentId: agent.id, pinned: true });
        const view = await sideBar(scene);
        await view.getByRole("searchbox").fill("");
        await view.getByRole("article", { name: TITLE }).getByRole("button", { name: TITLE }).click();
        await workbench.openFile("hello.py");
        await workbench.showSessions();
        await workbench.command("Threadline: Open Memory");
        // A page takes the cursor when it comes: before that, no palette stays open.
        const page = await until("all memories are there", () => findFrame(workbench, "full", ".memory-page"));
        await page.getByRole("article", { name: TITLE }).waitFor();
        await page.getByRole("searchbox").click();
        await workbench.command("Preferences: Toggle between Light/Dark Themes");
        await workbench.page.locator(".monaco-workbench.vs").waitFor();
        await workbench.photograph("light");
        await workbench.chooseTheme("Dark High Contrast");
        await workbench.page.locator(".monaco-workbench.hc-black").waitFor();
        await workbench.photograph("contrast");
      },
    ],
  ],
};
