// A person and agents that work together: messages and tasks, from both sides.

import assert from "node:assert/strict";
import { Agent } from "./agents.mjs";
import { until } from "./waiting.mjs";

const ALERT = {
  subject: "Looms are out of step",
  content: "The warp in `src/weaving.py` no longer fits the weft.\n\nMay I **rewrite** it?",
  category: "request",
  priority: 5,
};

/** G5. Messages and tasks, of agents and of the person, with what the status bar says of them. */
export const together = {
  name: "together",
  address: (editor) => `/?folder=${editor.workspace.folder}`,
  steps: [
    [
      "at first there is room for sessions and memory, and the rest is folded",
      async ({ workbench }) => {
        await workbench.showSessions();
        await workbench.welcome.getByText("Save a file or make a commit").waitFor();
        for (const view of ["Jobs", "Inbox", "Tasks"]) await workbench.header(view, false).waitFor();
        await workbench.photograph("first");
      },
    ],
    [
      "empty views say what they are for",
      async ({ workbench }) => {
        await workbench.command("Threadline: Open Inbox");
        await workbench.welcome.getByText("No messages yet.").waitFor();
        await workbench.command("Threadline: Show Tasks");
        await workbench.welcome.getByText("No tasks yet.").waitFor();
        await workbench.photograph("empty");
        await workbench.header("Inbox", true).click();
        await workbench.header("Inbox", false).waitFor();
      },
    ],
    [
      "an agent's message is told at once, with what can be done about it, also where the Inbox is folded",
      async (scene) => {
        const { workbench } = scene;
        new Agent(scene, "claude-code").tell(ALERT);
        const told = workbench.notification("Claude Code: Looms are out of step");
        for (const name of ["Reply", "Acknowledge", "Open"]) {
          await told.getByRole("button", { name, exact: true }).waitFor();
        }
        await told.locator(".codicon-warning").waitFor();
      },
    ],
    [
      "it is counted, and waits in the Inbox",
      async ({ workbench }) => {
        await until("the status bar counts it", async () =>
          /Threadline\s+1$/.test((await workbench.status.innerText()).trim()),
        );
        await workbench.page.locator(".activitybar .badge-content", { hasText: "1" }).waitFor();
        await workbench.photograph("notification");
        await workbench.command("Threadline: Open Inbox");
        await workbench.row("Inbox", /unread request: Looms are out of step/).waitFor();
      },
    ],
    [
      "after a reload only what is new is told, many in one sentence",
      async (scene) => {
        const { workbench } = scene;
        const address = workbench.page.url();
        await workbench.page.goto("about:blank");
        const agent = new Agent(scene, "codex");
        agent.tell(
          ...["Spun the yarn", "Dyed it blue", "Wound the bobbins"].map((subject) => ({
            subject,
            content: `${subject}, as agreed.`,
          })),
          { subject: "Tests fail", content: "Two of them, since noon.", category: "error" },
        );
        await workbench.page.goto(address);
        await workbench.notification("4 messages from Codex, 1 of them urgent.").waitFor();
        assert.equal(await workbench.notification("Looms are out of step").count(), 0);
        await workbench.command("Threadline: Open Inbox");
        await workbench.row("Inbox", /Wound the bobbins/).waitFor();
        await workbench.command("Notifications: Clear All Notifications");
      },
    ],
    [
      "a message opens as a page",
      async ({ workbench }) => {
        await workbench.row("Inbox", /Looms are out of step/).click();
        const page = workbench.webview();
        await page.getByRole("heading", { name: "Looms are out of step" }).waitFor();
        await page.locator(".letter", { hasText: "May I **rewrite** it?" }).first().waitFor();
        await workbench.photograph("thread");
      },
    ],
    [
      "a reply reaches the agent, and deals with the message",
      async (scene) => {
        const { workbench } = scene;
        await workbench.act("Inbox", /Looms are out of step/, "Reply to Message…");
        await workbench.answer("Yes, but keep the hem");
        await workbench.row("Inbox", /^unread.*Looms/).waitFor({ state: "detached" });
        const agent = new Agent(scene, "claude-code");
        const { messages } = agent.call("threadline/messages/read", { agentId: agent.id });
        assert.deepEqual(
          messages.map(({ senderId, content, subject }) => [senderId, content, subject]),
          [["user", "Yes, but keep the hem", ALERT.subject]],
        );
        assert.ok(agent.handling(ALERT.subject).acknowledgedAt);
        await workbench.webview().locator(".letter", { hasText: "Yes, but keep the hem" }).waitFor();
      },
    ],
    [
      "an acknowledgement in a notification is seen by the sender",
      async (scene) => {
        const { workbench } = scene;
        const agent = new Agent(scene, "claude-code");
        agent.tell({ subject: "Hem kept", content: "The rest is rewritten." });
        await workbench
          .notification("Claude Code: Hem kept")
          .getByRole("button", { name: "Acknowledge" })
          .click();
        await workbench.row("Inbox", /^unread.*Hem kept/).waitFor({ state: "detached" });
        assert.ok(agent.handling("Hem kept").acknowledgedAt);
      },
    ],
    [
      "a message is acknowledged from the Inbox, and kept among what was dealt with",
      async (scene) => {
        const { workbench } = scene;
        await workbench.act("Inbox", /Spun the yarn/, "Acknowledge Message");
        await workbench.row("Inbox", /^unread.*Spun/).waitFor({ state: "detached" });
        assert.ok(new Agent(scene, "codex").handling("Spun the yarn").acknowledgedAt);
        await workbench.row("Inbox", /Acknowledged, 3/).click();
        await workbench.row("Inbox", /^acknowledged.*Spun the yarn/).waitFor();
        await workbench.row("Inbox", /Acknowledged, 3/).click();
      },
    ],
    [
      "the Inbox has a page, too, where there is room",
      async ({ workbench }) => {
        await workbench.header("Inbox", true).hover();
        await workbench.page.getByRole("button", { name: "Open Inbox Page" }).click();
        await workbench.tab("Threadline: Inbox").waitFor();
        await workbench.webview().getByText("Dyed it blue").first().waitFor();
        await workbench.photograph("inbox-page");
      },
    ],
    [
      "an agent's plan appears, unasked",
      async (scene) => {
        const agent = new Agent(scene, "claude-code");
        agent.plan(
          {
            title: "Rewrite the warp",
            status: "in_progress",
            priority: 4,
            assignedAgentId: "codex",
          },
          { title: "Weave the sample", dependsOn: [0], doneWhen: "path exists: src/sample.py" },
          { title: "Mend the old loom", status: "blocked" },
          { title: "Choose a dye", priority: 5, description: "Something that lasts in the sun." },
          { title: "Think of carpets", status: "backlog", priority: 1 },
        );
        const { workbench } = scene;
        // Only what there is room for can be read.
        await workbench.header("Memory", true).click();
        await workbench.row("Tasks", /In Progress task: Rewrite the warp, high · codex/i).waitFor();
        await workbench.row("Tasks", /To Do task: Weave the sample, waits for 1 task/).waitFor();
        await workbench.row("Tasks", /Backlog, 1/).waitFor();
      },
    ],
    [
      "a task tells more when pointed at, and all when opened",
      async ({ workbench }) => {
        await workbench.row("Tasks", /Weave the sample/).hover();
        const hover = workbench.page.locator(".monaco-hover", {
          hasText: "done when path exists: src/sample.py",
        });
        await hover.getByText("waits for Rewrite the warp").waitFor();
        await workbench.photograph("task-tooltip");
        await workbench.row("Tasks", /Choose a dye/).click();
        await workbench.webview().getByRole("dialog", { name: "Choose a dye" }).waitFor();
        await workbench.page.keyboard.press("Escape");
      },
    ],
    [
      "a task is done from the view, and the agent sees it",
      async (scene) => {
        const { workbench } = scene;
        await workbench.act("Tasks", /Rewrite the warp/, "Complete Task");
        await workbench.row("Tasks", /Done, 1/).waitFor();
        await workbench.row("Tasks", /To Do task: Weave the sample$/).waitFor();
        const task = new Agent(scene, "codex").task("Rewrite the warp");
        assert.deepEqual([task.status, task.updatedBy], ["done", null]);
      },
    ],
    [
      "a task is written down from the palette",
      async (scene) => {
        const { workbench } = scene;
        await workbench.command("Threadline: Create Task…");
        await workbench.answer("Press the cloth");
        await workbench.answer("Not too hot.");
        await workbench.choice("urgent").click();
        await workbench.row("Tasks", /To Do task: Press the cloth, urgent/).waitFor();
        const { description, createdBy } = new Agent(scene, "codex").task("Press the cloth");
        assert.deepEqual([description, createdBy], ["Not too hot.", null]);
      },
    ],
    [
      "a message is sent to an agent that is picked, and shows whether it was read",
      async (scene) => {
        const { workbench } = scene;
        await workbench.command("Threadline: Send Message…");
        await workbench.choice("All Agents").waitFor();
        await workbench.photograph("sending");
        await workbench.choice("Claude Code").click();
        await workbench.answer("Well woven");
        await workbench.row("Inbox", /Sent, 2/).click();
        await workbench.row("Inbox", /Well woven, to Claude Code · not read yet/).waitFor();
        new Agent(scene, "claude-code").call("threadline/messages/read", {
          agentId: "claude-code",
        });
        await workbench.row("Inbox", /Well woven, to Claude Code · read by Claude Code/).waitFor();
        await workbench.row("Inbox", /Sent, 2/).click();
      },
    ],
    [
      "everything can be read in every theme",
      async ({ workbench }) => {
        await workbench.command("View: Close All Editors");
        await workbench.command("Notifications: Clear All Notifications");
        await workbench.row("Tasks", /Done, 1/).click();
        await until("what is done is in view", async () => {
          await workbench.page.keyboard.press("ArrowDown");
          return workbench.row("Tasks", /Done task: Rewrite the warp/).isVisible();
        });
        await workbench.photograph("dark");
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
