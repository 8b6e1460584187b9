// Pointing at code: what stands behind a line, and above a file.

import assert from "node:assert/strict";
import { Agent } from "./agents.mjs";
import { until } from "./waiting.mjs";

const DECISION = `Keep threads in a list, not in a set

We decided to keep threads in a list because their order matters to the pattern.`;

/** A decision that was committed, and made into memory. */
export const insight = {
  name: "insight",
  address: (editor) => `/?folder=${editor.workspace.folder}`,
  prepare: (editor, sidecar) => {
    editor.workspace.write("loom.py", "threads = [1, 2, 3]\n");
    editor.workspace.commit(DECISION);
    const agent = new Agent({ editor, sidecar }, "claude-code");
    agent.run("scan");
    agent.run("enrich", "--all");
  },
  steps: [
    [
      "a line tells the decision behind it",
      async ({ workbench }) => {
        await workbench.showSessions();
        await workbench.openFile("loom.py");
        await workbench.status.getByText(/Threadline/).waitFor();
        await hover(workbench);
        await tip(workbench).getByText("Ada").first().waitFor();
        await workbench.photograph("hover-dark");
      },
    ],
    [
      "a link in it shows the commit",
      async ({ workbench, editor }) => {
        const sha = editor.workspace.head().slice(0, 10);
        await tip(workbench).getByRole("link", { name: sha }).click();
        await workbench.page.locator(".tab.active", { hasText: sha }).waitFor();
        await workbench.page
          .locator(".editor-group-container.active", { hasText: "threads = [1, 2, 3]" })
          .waitFor();
        await workbench.photograph("commit");
        await workbench.page.locator(".tab", { hasText: "loom.py" }).first().click();
      },
    ],
    [
      "the lens above a file counts what is known, and lists it",
      async ({ workbench }) => {
        await lens(workbench).filter({ hasText: /memor(y|ies) · 1 session/ }).click();
        await workbench.choice("Keep threads in a list").first().waitFor();
        await workbench.photograph("lens");
        await workbench.page.keyboard.press("Escape");
      },
    ],
    [
      "the lens can be turned off",
      async ({ workbench, editor, sidecar }) => {
        const settings = { "threadline.command": sidecar };
        editor.setMachine({ ...settings, "threadline.codeLens": false });
        await lens(workbench).waitFor({ state: "detached" });
        editor.setMachine(settings);
        await lens(workbench).waitFor();
      },
    ],
    [
      "it reads well in a light theme",
      async ({ workbench }) => {
        await workbench.chooseTheme("Light Modern");
        await workbench.page.locator(".monaco-workbench.vs").waitFor();
        await hover(workbench);
        await workbench.photograph("hover-light");
        assert.equal(await tip(workbench).getByRole("link").count() > 0, true);
      },
    ],
  ],
};

const tip = (workbench) => workbench.page.locator(".monaco-hover:visible", { hasText: "commit" });
const lens = (workbench) => workbench.page.locator(".codelens-decoration a");

/** Point at the first word until the sidecar has told what it knows. */
async function hover(workbench) {
  const word = workbench.page.locator(".view-line span span").filter({ hasText: "threads" }).first();
  await until(
    "the hover tells of the commit",
    async () => {
      await workbench.page.mouse.move(900, 600);
      await word.hover();
      return tip(workbench)
        .waitFor({ timeout: 3000 })
        .then(
          () => true,
          () => false,
        );
    },
    60_000,
  );
}
