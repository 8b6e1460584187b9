// The pages about weeks of work and about what assistants get, as tabs of the editor.

import { Agent } from "./agents.mjs";
import { until } from "./waiting.mjs";

const RULE = "Never weave against the grain";

export const weeks = {
  name: "weeks",
  address: (editor) => `/?folder=${editor.workspace.folder}`,
  steps: [
    [
      "the timeline opens by command, and says how it fills",
      async ({ workbench }) => {
        await workbench.showSessions();
        await workbench.welcome.getByText("Save a file or make a commit").waitFor();
        await workbench.command("Threadline: Open Timeline");
        await workbench.webview().getByText("Your days will appear here.").waitFor();
        await workbench.photograph("timeline-empty");
      },
    ],
    [
      "what was committed before is brought in by a click",
      async ({ workbench }) => {
        const page = workbench.webview();
        await page.getByRole("button", { name: "Import My Commits" }).click();
        await page.getByText("1 commit imported into 1 session.").waitFor();
        await page.getByRole("link", { name: /Today .*1 commit/ }).waitFor();
      },
    ],
    [
      "a commit appears on today's line while one looks",
      async ({ workbench, editor }) => {
        editor.workspace.write("src/weaving.py", "threads = [1]\n");
        editor.workspace.commit("Weave the first thread");
        const page = workbench.webview();
        await page.getByRole("link", { name: /Today .*2 commits/ }).waitFor();
        await page.locator(".row.today .commits").waitFor({ state: "attached" });
      },
    ],
    [
      "a memory becomes a bead",
      async (scene) => {
        const params = { type: "constraint", title: RULE, content: `${RULE}: it tears.` };
        new Agent(scene, "codex").call("threadline/memories/write", params);
        await scene.workbench.webview().locator(".row.today .bead.constraint").waitFor();
        await scene.workbench.photograph("timeline");
      },
    ],
    [
      "the context page opens by command, with the reasons for each item",
      async ({ workbench }) => {
        await workbench.command("Threadline: Show What an Assistant Gets");
        const page = workbench.webview();
        const rule = page.locator(".given .item", { hasText: RULE });
        await rule.getByText(/it is recent \+0\.\d\d/).waitFor();
        await workbench.photograph("context");
      },
    ],
    [
      "a wrong item goes at once, and comes back",
      async ({ workbench }) => {
        const page = workbench.webview();
        const rule = page.locator(".given .item", { hasText: RULE });
        await rule.getByRole("button", { name: "Wrong" }).click();
        await rule.waitFor({ state: "detached" });
        await page.getByRole("button", { name: "Undo" }).click();
        await rule.waitFor();
      },
    ],
    [
      "both read well in a light theme",
      async ({ workbench }) => {
        await workbench.chooseTheme("Light Modern");
        await until("the page is light", () =>
          workbench.webview().locator("body.vscode-light").count(),
        );
        await workbench.photograph("context-light");
        await workbench.command("Threadline: Open Timeline");
        await workbench.webview().locator(".row.today .block").waitFor();
        await workbench.photograph("timeline-light");
      },
    ],
    [
      "a block leads to its session",
      async ({ workbench }) => {
        await workbench.webview().locator(".row.today .block").first().click();
        await workbench.tab("Session: ").waitFor();
      },
    ],
  ],
};
