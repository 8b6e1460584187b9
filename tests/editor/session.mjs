// A session from its first save to its memory, in the views and on its page.

import { Model } from "./models.mjs";
import { end, sidecars } from "./processes.mjs";
import { until } from "./waiting.mjs";

const DECISION = "Use linen because cotton shrinks";
const USER = { "git.enableSmartCommit": true };

/** G2, G3. */
export const session = {
  name: "session",
  address: (editor) => `/?folder=${editor.workspace.folder}`,
  prepare: async (editor) => {
    editor.model = await Model.open();
    editor.model.weighty = DECISION;
    const { modelBaseUrl, modelName } = editor.model.settings;
    editor.setUser(USER);
    editor.setMachine({
      "threadline.command": editor.sidecar,
      "threadline.modelProvider": "http",
      "threadline.modelBaseUrl": modelBaseUrl,
      "threadline.modelName": modelName,
    });
  },
  steps: [
    [
      "an empty view of jobs says what they are for",
      async ({ workbench }) => {
        await workbench.showSessions();
        await workbench.welcome.getByText("Save a file or make a commit").waitFor();
        await workbench.command("Threadline: Show Jobs");
        await workbench.welcome.getByText("No memory was made yet.").waitFor();
      },
    ],
    [
      "a save and a commit made in the editor appear as a session",
      async ({ workbench }) => {
        await workbench.openFile("hello.py");
        await workbench.typeAndSave("cloth = 1\n");
        await workbench.commit(DECISION);
        await workbench.showSessions();
        await workbench.session(/active session, hello.py, .*2 events · 1 file.*no memory yet/).waitFor();
      },
    ],
    [
      "a click on it opens its page",
      async ({ workbench }) => {
        await workbench.session(/active session/).click();
        const page = workbench.webview();
        await page.getByRole("heading", { name: "hello.py" }).waitFor();
        await page.getByText("active now").waitFor();
        await workbench.tab("Session: hello.py").waitFor();
        await page.getByText(DECISION).waitFor();
        await workbench.photograph("page");
      },
    ],
    [
      "a commit opens as what it changed",
      async ({ workbench }) => {
        await workbench.webview().locator(".event .sha").click();
        await workbench.page.locator(".tab.active", { hasText: DECISION }).waitFor();
        await workbench.page.locator(".multiDiffEntry").first().waitFor();
        await workbench.photograph("commit");
        await workbench.session(/active session/).click();
      },
    ],
    [
      "a file opens in the editor",
      async ({ workbench }) => {
        await workbench.webview().locator(".event.save .path").first().click();
        await workbench.fileTab("hello.py").waitFor();
        await workbench.session(/active session/).click();
      },
    ],
    [
      "the page survives its sidecar, and says so meanwhile",
      async ({ workbench, editor }) => {
        const page = workbench.webview();
        const told = page.getByText("Not connected").waitFor();
        const [killed] = sidecars(editor.home);
        end(killed);
        const isBack = until("another sidecar runs", () => {
          const [found] = sidecars(editor.home);
          return found && found !== killed;
        });
        // On a fast machine it is back before the page can say so.
        await Promise.race([told, isBack]);
        told.catch(() => {});
        await isBack;
        await page.getByText("Not connected").waitFor({ state: "detached" });
        editor.workspace.write("src/weaving.py", "threads = [2]\n");
        editor.workspace.commit("Weave while nobody looks");
        await page.getByText("Weave while nobody looks").first().waitFor();
        await workbench.tab("Session: hello.py and 1 more file").waitFor();
      },
    ],
    [
      "what fails is told on the page, in the view and nowhere lost",
      async ({ workbench }) => {
        const page = workbench.webview();
        await page.getByRole("button", { name: "Generate Memory" }).click();
        await page.locator(".segment.failed", { hasText: "wants a key (401)" }).waitFor();
        await workbench.row("Jobs", /failed job: hello.py.*, failed in enrich/).waitFor();
        await workbench.session(/active session.*memory failed/).waitFor();
        await workbench.photograph("failed");
      },
    ],
    [
      "a retry from the view goes on, watched on the page and in the status bar",
      async ({ workbench, editor }) => {
        editor.model.mood = "hold";
        await workbench.act("Jobs", /failed job/, "Retry Job");
        const page = workbench.webview();
        await page.locator(".segment.processing", { hasText: "enrich" }).waitFor();
        await workbench.row("Jobs", /processing job: hello.py.*, enrich/).waitFor();
        await workbench.status.locator(".codicon-sync").waitFor();
        await workbench.notification("making memory").waitFor();
        await workbench.photograph("running");
        editor.model.release();
        await until("four stages are done", async () =>
          (await page.locator(".segment.completed").count()) === 4,
        );
        await workbench.notification("Memory made: 1 memory").waitFor();
        await workbench.row("Jobs", /completed job: .*, 1 memory/).waitFor();
        await workbench.status.locator(".codicon-pulse").waitFor();
        await workbench.session(/closed session, .*memory made/).waitFor();
      },
    ],
    [
      "the memory is there, with the words it stands on",
      async ({ workbench }) => {
        const page = workbench.webview();
        await page.getByRole("tab", { name: /^Memories/ }).click();
        await page.locator("blockquote", { hasText: DECISION }).waitFor();
        await workbench.command("Notifications: Clear All Notifications");
        await workbench.photograph("memories-dark");
        await page.getByRole("tab", { name: /^Jobs/ }).click();
        await page.getByText("2 tries").waitFor();
        await page.getByRole("tab", { name: /^Events/ }).click();
      },
    ],
    [
      "memory is made from the palette, and can be cancelled",
      async ({ workbench, editor }) => {
        editor.model.mood = "hold";
        editor.workspace.write("src/dyeing.py", "blue = 1\n");
        editor.workspace.commit("Dye it blue");
        await workbench.session(/active session, src.dyeing.py/).waitFor();
        await workbench.command("Threadline: Generate Memory");
        const told = workbench.notification("making memory");
        await told.waitFor();
        await workbench.row("Jobs", /processing job/).waitFor();
        await told.hover();
        await told.getByRole("button", { name: "Cancel" }).click();
        await workbench.row("Jobs", /cancelled job/).waitFor();
        await workbench.photograph("cancelled");
      },
    ],
    [
      "without git in the editor a commit is told as a page, and pages come back with the window",
      async ({ workbench, editor }) => {
        editor.setUser({ ...USER, "git.enabled": false });
        await workbench.session(/closed session, .*memory made/).click();
        await workbench.webview().getByText("Weave while nobody looks").first().waitFor();
        await workbench.page.reload();
        await workbench.webview().locator(".event .sha").first().click();
        await workbench.page.locator(".tab.active", { hasText: /Preview [0-9a-f]{8}/ }).waitFor();
        await workbench.webview().getByRole("heading", { name: "Weave while nobody looks" }).waitFor();
        await workbench.photograph("commit-page");
      },
    ],
    [
      "a session is compacted from the palette after asking",
      async ({ workbench, editor }) => {
        editor.model.release();
        await workbench.command("Threadline: Compact Session…");
        await workbench.choice(/./).first().click();
        const dialog = workbench.page.locator(".monaco-dialog-box");
        await dialog.getByRole("button", { name: "Compact" }).click();
        await workbench.notification("Compacted:").waitFor();
        await workbench.session(/compacted session/).waitFor();
      },
    ],
    [
      "everything can be read in a light theme, and in high contrast",
      async ({ workbench }) => {
        await workbench.command("Notifications: Clear All Notifications");
        await workbench.session(/compacted session/).click();
        await workbench.webview().getByText("compacted").first().waitFor();
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
