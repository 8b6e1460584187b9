// What a person does and sees, step by step; each step relies on those before it.

import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Agent } from "./agents.mjs";
import { choice, context } from "./context.mjs";
import { insight } from "./insight.mjs";
import { environments, installation, outdatedness } from "./installation.mjs";
import { memory } from "./memory.mjs";
import { end, sidecars } from "./processes.mjs";
import { session } from "./session.mjs";
import { together } from "./together.mjs";
import { until } from "./waiting.mjs";
import { weeks } from "./weeks.mjs";
import { Workspace } from "./workspaces.mjs";

/** G5. A piece of work, from the first save to the closed session. */
const work = {
  name: "work",
  address: (editor) => `/?folder=${editor.workspace.folder}`,
  steps: [
    [
      "an empty view says how to fill it",
      async ({ workbench }) => {
        await workbench.showSessions();
        await workbench.welcome.getByText("Save a file or make a commit").waitFor();
        await workbench.status.waitFor();
        await workbench.photograph("empty");
      },
    ],
    [
      "a save typed in the editor appears as a session, unasked",
      async ({ workbench }) => {
        await workbench.openFile("hello.py");
        await workbench.showSessions();
        await workbench.typeAndSave("x = 42\n");
        await workbench.session(/active session, .*1 event · 1 file · <1m · VS Code/).waitFor();
      },
    ],
    [
      "the status bar says what is active",
      async ({ workbench }) => {
        await workbench.status.getByText("Threadline: 1 event · <1m").waitFor();
      },
    ],
    [
      "a commit made outside appears, unasked",
      async ({ workbench, editor }) => {
        editor.workspace.write("src/weaving.py", "threads = [1]\n");
        editor.workspace.commit("Weave the first thread");
        await workbench.session(/active session.*2 events · 2 files/).waitFor();
        await workbench.status.getByText("2 events").waitFor();
      },
    ],
    [
      "a session opens to its events, a commit to its files",
      async ({ workbench }) => {
        await workbench.unfold(workbench.session(/active session/));
        await workbench.session("Weave the first thread").click();
        await workbench.session("weaving.py").waitFor();
        await workbench.photograph("events");
      },
    ],
    [
      "a click on a file opens it",
      async ({ workbench }) => {
        await workbench.session("weaving.py").click();
        await workbench.page.locator(".tab.active", { hasText: "weaving.py" }).waitFor();
      },
    ],
    [
      "a session tells more when pointed at",
      async ({ workbench }) => {
        await workbench.session(/active session/).hover();
        await workbench.page.locator(".monaco-hover", { hasText: "Seen by VS Code" }).waitFor();
        await workbench.photograph("tooltip");
        await workbench.page.mouse.move(800, 600);
      },
    ],
    [
      "capture is paused from the palette, and nobody can overlook it",
      async ({ workbench }) => {
        await workbench.command("Threadline: Pause Capture");
        await workbench.choice("15 Minutes").waitFor();
        await workbench.photograph("pausing");
        await workbench.page.keyboard.press("Enter");
        await workbench.status.getByText("Threadline: Paused").waitFor();
        assert.match(await workbench.status.getAttribute("class"), /warning/);
        await workbench.photograph("paused");
      },
    ],
    [
      "what is saved during a pause is not recorded, what comes after it is",
      async ({ workbench }) => {
        await workbench.typeAndSave("secret = 1\n");
        assert.equal(await workbench.offers("Threadline: Pause Capture"), false);
        await workbench.command("Threadline: Resume Capture");
        await workbench.status.getByText("2 events").waitFor();
        await workbench.typeAndSave("public = 1\n");
        await workbench.session(/active session.*3 events/).waitFor();
      },
    ],
    [
      "the status bar's menu offers what can be done",
      async ({ workbench }) => {
        await workbench.status.locator("a").click();
        const pages = ["Search Memory", "Open Timeline", "Show What an Assistant Gets"];
        for (const label of [...pages, "Pause Capture…", "Close Session", "Show Log"]) {
          await workbench.choice(label).waitFor();
        }
        await workbench.photograph("menu");
        await workbench.page.keyboard.press("Escape");
      },
    ],
    [
      "a sidecar that is killed returns, and the tree goes on",
      async ({ workbench, editor }) => {
        const [killed] = sidecars(editor.home);
        end(killed);
        await until("another sidecar runs", () => {
          const [found] = sidecars(editor.home);
          return found && found !== killed;
        });
        await workbench.status.getByText("3 events").waitFor();
        await workbench.typeAndSave("again = 1\n");
        await workbench.session(/active session.*4 events/).waitFor();
      },
    ],
    [
      "a session is closed from the palette",
      async ({ workbench }) => {
        await workbench.command("Threadline: Close Session");
        await workbench.session(/closed session.*4 events/).waitFor();
        await until("no session is counted", async () =>
          /Threadline$/.test((await workbench.status.innerText()).trim()),
        );
        assert.equal(await workbench.offers("Threadline: Close Session"), false);
      },
    ],
    [
      "the next save opens a new session, above the closed one",
      async ({ workbench }) => {
        await workbench.typeAndSave("more = 1\n");
        await workbench.session(/active session.*1 event /).waitFor();
        const labels = await workbench
          .session(/(active|closed) session/)
          .evaluateAll((rows) => rows.map((row) => row.getAttribute("aria-label")));
        assert.match(labels[0], /^active/);
        assert.match(labels[1], /^closed/);
        await workbench.photograph("sessions-dark");
      },
    ],
    [
      "the log opens",
      async ({ workbench }) => {
        await workbench.command("Threadline: Show Log");
        const channel = workbench.page.locator(".part.panel select option:checked");
        await until("its channel is shown", async () =>
          (await channel.allInnerTexts()).includes("Threadline"),
        );
        await workbench.photograph("log");
        await workbench.command("View: Hide Panel");
      },
    ],
    [
      "everything can be read in a light theme",
      async ({ workbench }) => {
        await workbench.command("Preferences: Toggle between Light/Dark Themes");
        await workbench.page.locator(".monaco-workbench.vs").waitFor();
        await workbench.photograph("sessions-light");
      },
    ],
  ],
};

/** G1. A sidecar that is not there, one that ends at once, and the way back. */
const trouble = {
  name: "trouble",
  address: (editor) => `/?folder=${editor.workspace.folder}`,
  prepare: (editor) => {
    editor.setMachine({ "threadline.command": join(editor.folder, "nowhere") });
    const script =
      '#!/bin/sh\necho no such module >&2\necho started >> "$THREADLINE_HOME.starts"\nexit 1\n';
    editor.workspace.write("../ends-at-once", script);
    chmodSync(join(editor.folder, "ends-at-once"), 0o755);
  },
  steps: [
    [
      "a sidecar that is not there is told once, with a way out",
      async ({ workbench }) => {
        const notification = workbench.notification("Threadline cannot find its sidecar");
        await notification.getByRole("button", { name: "Open Settings" }).waitFor();
        await notification.getByRole("button", { name: "Show Log" }).waitFor();
        await workbench.status.getByText("Not Running").waitFor();
        await workbench.showSessions();
        await workbench.welcome.getByRole("button", { name: "Open Settings" }).waitFor();
        await workbench.photograph("missing");
        assert.equal(await notification.count(), 1);
      },
    ],
    [
      "the way out leads to the setting",
      async ({ workbench }) => {
        await workbench
          .notification("Threadline cannot find its sidecar")
          .getByRole("button", { name: "Open Settings" })
          .click();
        await workbench.page
          .locator(".settings-editor", { hasText: "How to start the sidecar" })
          .waitFor();
        await workbench.photograph("settings");
        await workbench.page.keyboard.press("Escape");
      },
    ],
    [
      "a sidecar that ends at once is not started again and again",
      async ({ workbench, editor }) => {
        editor.setMachine({ "threadline.command": join(editor.folder, "ends-at-once") });
        await workbench.notification("ends-at-once does not start. no such module").waitFor();
        await workbench.welcome.getByRole("button", { name: "Restart" }).waitFor();
        await workbench.photograph("failed");
        assert.equal(starts(editor), 1);
      },
    ],
    [
      "a corrected setting is taken up at once",
      async ({ workbench, editor, sidecar }) => {
        editor.setMachine({ "threadline.command": [sidecar] });
        await workbench.welcome.getByText("Save a file or make a commit").waitFor();
        assert.equal(starts(editor), 1);
      },
    ],
    [
      "without a folder nothing runs and the view says why",
      async ({ workbench, editor }) => {
        await workbench.page.goto(`${editor.address}/?ew=true`);
        await workbench.page.locator(".monaco-workbench").waitFor();
        await workbench.showSessions();
        await workbench.welcome.getByRole("button", { name: "Open Folder" }).waitFor();
        await until("no sidecar runs", () => sidecars(editor.home).length === 0);
        await workbench.photograph("no-folder");
      },
    ],
  ],
};

/** Two repositories in one window. */
const several = {
  name: "several",
  address: (editor) => `/?workspace=${join(editor.folder, "both.code-workspace")}`,
  prepare: (editor) => {
    new Workspace(join(editor.folder, "dye"));
    const folders = [{ path: "loom" }, { path: "dye" }];
    editor.workspace.write("../both.code-workspace", JSON.stringify({ folders }));
  },
  steps: [
    [
      "each repository has its own sessions",
      async ({ workbench, editor }) => {
        await workbench.showSessions();
        await workbench.session("dye").waitFor();
        editor.workspace.write("hello.py", "print(1)\n");
        editor.workspace.commit("Say less");
        await workbench.session("loom 1 session").waitFor();
        await workbench.session("dye no sessions yet").waitFor();
        await workbench.photograph("projects");
      },
    ],
    [
      "the history of one of them is brought in from the palette",
      async ({ workbench }) => {
        await workbench.command("Threadline: Import History…");
        await workbench.choice("dye").click();
        await workbench.choice("My Commits").click();
        await workbench.notification("1 commit imported into 1 session.").waitFor();
        await workbench.session("dye 1 session").waitFor();
      },
    ],
    [
      "a pause holds in all of them",
      async ({ workbench }) => {
        await workbench.command("Threadline: Pause Capture");
        await workbench.choice("Until I Resume").click();
        await workbench.session("loom paused until you resume it").waitFor();
        await workbench.session("dye paused until you resume it").waitFor();
      },
    ],
  ],
};

/** A folder that nobody trusts yet. */
const trust = {
  name: "trust",
  address: (editor) => `/?folder=${editor.workspace.folder}`,
  prepare: (editor) =>
    editor.setUser({
      "security.workspace.trust.enabled": true,
      "security.workspace.trust.startupPrompt": "never",
    }),
  steps: [
    [
      "in Restricted Mode nothing runs and the view says why",
      async ({ workbench, editor }) => {
        await workbench.showSessions();
        await workbench.welcome
          .getByText("In Restricted Mode Threadline records nothing")
          .waitFor();
        await workbench.page.getByText("Activating Extensions").waitFor({ state: "hidden" });
        assert.deepEqual(sidecars(editor.home), []);
        await workbench.photograph("restricted");
      },
    ],
    [
      "trust starts the sidecar",
      async ({ workbench }) => {
        await workbench.welcome.getByRole("button", { name: "Manage Workspace Trust" }).click();
        await workbench.page.getByRole("button", { name: "Trust", exact: true }).click();
        await workbench.welcome.getByText("Save a file or make a commit").waitFor();
      },
    ],
  ],
};

/** G1. Windsurf's successor, which bears another name. */
const devin = {
  name: "devin",
  product: { nameLong: "Devin", nameShort: "Devin", urlProtocol: "devin" },
  address: (editor) => `/?folder=${editor.workspace.folder}`,
  steps: [
    [
      "saves and commits made in Devin are Windsurf's",
      async (scene) => {
        const { workbench, editor } = scene;
        await workbench.showSessions();
        await workbench.welcome.getByText("Save a file or make a commit").waitFor();
        await workbench.openFile("hello.py");
        await workbench.showSessions();
        await workbench.typeAndSave("x = 42\n");
        await workbench.session(/active session, .*1 event · 1 file · <1m · Windsurf/).waitFor();
        editor.workspace.commit("Say more");
        await workbench.session(/active session.*2 events/).waitFor();
        const agent = new Agent(scene, "claude-code");
        const { sessions } = agent.call("threadline/sessions/list", {});
        const { sessionId } = sessions[0];
        const { events } = agent.call("threadline/sessions/events", { sessionId });
        assert.deepEqual(
          events.map(({ source }) => source),
          ["windsurf", "windsurf"],
        );
      },
    ],
  ],
};

/** The first steps, as a newcomer is led through them. */
const walkthrough = {
  name: "walkthrough",
  address: (editor) => `/?folder=${editor.workspace.folder}`,
  steps: [
    [
      "the walkthrough knows what is done already",
      async ({ workbench, editor }) => {
        await workbench.showSessions();
        await workbench.welcome.getByText("Save a file or make a commit").waitFor();
        editor.workspace.write("hello.py", "print(1)\n");
        editor.workspace.commit("Say less");
        await workbench.status.getByText("1 event").waitFor();
        // Beside it there is no room for pictures.
        await workbench.command("View: Close Primary Side Bar");
        await workbench.openWalkthrough();
        await workbench.step("Install the Sidecar").click();
        await ticked(workbench, "Install the Sidecar").waitFor();
        await ticked(workbench, "Work as Usual").waitFor();
        assert.equal(await ticked(workbench, "Look Back").count(), 0);
        await workbench.photograph("install-dark");
      },
    ],
    [
      "its button installs no second sidecar beside the one that runs",
      async ({ workbench, editor }) => {
        const step = workbench.step("Install the Sidecar");
        await step.getByRole("button", { name: "Install Sidecar" }).click();
        const told = workbench.notification("The sidecar runs already.");
        await told.waitFor();
        await workbench.photograph("running-already");
        assert.equal(await told.getByRole("button", { name: "Reinstall" }).count(), 0);
        assert.deepEqual(environments(editor), []);
        await workbench.command("Notifications: Clear All Notifications");
      },
    ],
    [
      "each step has a picture, in the colours of the theme",
      async ({ workbench }) => {
        for (const title of ["Work as Usual", "Turn a Session", "Find It", "Tell Your", "Look Back"]) {
          await workbench.step(title).click();
          await workbench.page.frameLocator("iframe.webview.ready >> visible=true").frameLocator("#active-frame").locator("svg").waitFor();
          await workbench.photograph(title.toLowerCase().replaceAll(" ", "-"));
        }
        await workbench.chooseTheme("Light Modern");
        await workbench.page.locator(".monaco-workbench.vs").waitFor();
        await workbench.photograph("light");
      },
    ],
  ],
};

export const journeys = [
  ...[work, session, together, weeks, memory, trouble, several, trust, context, choice],
  ...[insight, devin, walkthrough, installation, outdatedness],
];

/** A step of the walkthrough that is marked as done. */
function ticked(workbench, title) {
  return workbench.step(title).locator(".codicon-getting-started-step-checked.complete");
}

function starts(editor) {
  const file = `${editor.home}.starts`;
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").length : 0;
}
