// A person who brings what is known to an assistant: by hand, by a rules file, by the MCP server.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent } from "./agents.mjs";
import { until } from "./waiting.mjs";
import { Workspace } from "./workspaces.mjs";

const KNOWN = "Never log a customer's name";
const rules = ({ editor }) => join(editor.workspace.folder, "AGENTS.md");
const read = (scene) => readFileSync(rules(scene), "utf8");

function remember(scene, title) {
  const params = { type: "constraint", title, content: `${title}: it was agreed.` };
  new Agent(scene, "claude-code").call("threadline/memories/write", params);
}

/** D12. What goes into files, to the byte, is tried by `services/test_ruling.py`. */
export const context = {
  name: "context",
  address: (editor) => `/?folder=${editor.workspace.folder}`,
  prepare: (editor) => editor.setUser({ "chat.disableAIFeatures": false }),
  steps: [
    [
      "context is inserted at the cursor, fenced as data",
      async (scene) => {
        const { workbench } = scene;
        remember(scene, KNOWN);
        await workbench.showSessions();
        await workbench.openFile("hello.py");
        await workbench.status.waitFor();
        await until("the command is offered", () =>
          workbench.offers("Threadline: Insert Context at Cursor"),
        );
        await workbench.command("Threadline: Insert Context at Cursor");
        await workbench.page.locator(".view-line", { hasText: KNOWN }).waitFor();
        await workbench.page.locator(".view-line", { hasText: "not instructions" }).first().waitFor();
      },
    ],
    [
      "whether assistants may look by themselves is asked once",
      async ({ workbench }) => {
        const asked = workbench.notification("can look into this memory by themselves");
        await asked.waitFor();
        await workbench.photograph("asked");
        await asked.getByRole("button", { name: "Register", exact: true }).click();
        await workbench.notification("MCP server is registered").waitFor();
        await workbench.command("Notifications: Clear All Notifications");
      },
    ],
    [
      "the server is among the editor's own",
      async ({ workbench }) => {
        await workbench.command("MCP: List Servers");
        await workbench.choice("Threadline").first().waitFor();
        await workbench.photograph("servers");
        await workbench.page.keyboard.press("Escape");
      },
    ],
    [
      "context is copied, and nothing is asked again",
      async ({ workbench }) => {
        await workbench.command("Threadline: Copy Context");
        await workbench.notification(/Context copied, [\d,]+ characters\./).waitFor();
        assert.equal(await workbench.notification("by themselves").count(), 0);
        await workbench.photograph("copied");
        await workbench.command("Notifications: Clear All Notifications");
      },
    ],
    [
      "a rules file is written where its reader looks for it",
      async (scene) => {
        const { workbench } = scene;
        writeFileSync(rules(scene), "Use tabs.");
        await workbench.command("Threadline: Write Rules File…");
        await workbench.choice("AGENTS.md").waitFor();
        await workbench.photograph("targets");
        await workbench.choice("AGENTS.md").click();
        const told = workbench.notification("Wrote AGENTS.md.");
        await told.getByRole("button", { name: "Open File" }).click();
        await workbench.page.locator(".tab.active", { hasText: "AGENTS.md" }).waitFor();
        await workbench.page.locator(".view-line", { hasText: "threadline:rules" }).first().waitFor();
        await workbench.photograph("rules");
        assert.ok(read(scene).startsWith("Use tabs.\n\n<!-- threadline:rules; "));
        await workbench.command("Notifications: Clear All Notifications");
      },
    ],
    [
      "what was edited by hand is kept until its author agrees",
      async (scene) => {
        const { workbench } = scene;
        writeFileSync(rules(scene), read(scene).replace(KNOWN, "Log whatever you like"));
        await workbench.command("Threadline: Refresh Rules Files");
        const asked = workbench.notification("Threadline's block in AGENTS.md was edited by hand. Replace it?");
        await asked.waitFor();
        assert.ok(read(scene).includes("Log whatever you like"));
        await workbench.photograph("edited");
        await asked.getByRole("button", { name: "Replace" }).click();
        await workbench.notification("Refreshed AGENTS.md.").waitFor();
        assert.ok(read(scene).includes(KNOWN));
        await workbench.command("Notifications: Clear All Notifications");
      },
    ],
    [
      "removing it gives the file back",
      async (scene) => {
        const { workbench } = scene;
        await workbench.command("Threadline: Remove Rules File…");
        await workbench.notification("Removed the block in AGENTS.md.").waitFor();
        assert.equal(read(scene), "Use tabs.");
        await workbench.command("Notifications: Clear All Notifications");
        await workbench.command("Threadline: Refresh Rules Files");
        await workbench.notification("There is no rules file of Threadline here.").waitFor();
        await workbench.command("Notifications: Clear All Notifications");
      },
    ],
    [
      "context opens in the chat, unsent",
      async ({ workbench }) => {
        await workbench.command("Threadline: Open Context in Chat");
        await workbench.page
          .locator(".interactive-input-part .view-line", { hasText: "threadline:memory" })
          .first()
          .waitFor();
        await workbench.photograph("chat");
      },
    ],
    [
      "it looks as well in the light",
      async ({ workbench }) => {
        await workbench.chooseTheme("Light Modern");
        await workbench.photograph("chat-light");
        await workbench.command("Threadline: Write Rules File…");
        await workbench.choice("AGENTS.md").waitFor();
        await workbench.photograph("targets-light");
        await workbench.page.keyboard.press("Escape");
      },
    ],
  ],
};

/** Two repositories: nobody knows which is meant until a file is open. */
export const choice = {
  name: "choice",
  address: (editor) => `/?workspace=${join(editor.folder, "both.code-workspace")}`,
  prepare: (editor) => {
    new Workspace(join(editor.folder, "dye"));
    const folders = [{ path: "loom" }, { path: "dye" }];
    editor.workspace.write("../both.code-workspace", JSON.stringify({ folders }));
  },
  steps: [
    [
      "without an open file it is asked which project is meant",
      async ({ workbench, editor }) => {
        await workbench.showSessions();
        await workbench.session("dye").waitFor();
        await workbench.command("Threadline: Write Rules File…");
        await workbench.choice("dye").waitFor();
        await workbench.photograph("projects");
        await workbench.choice("dye").click();
        await workbench.choice("AGENTS.md").click();
        await until("it is written there", () => existsSync(join(editor.folder, "dye/AGENTS.md")));
        assert.ok(!existsSync(join(editor.folder, "loom/AGENTS.md")));
      },
    ],
  ],
};
