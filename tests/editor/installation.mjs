// From an extension alone to a running sidecar, on a machine that has none.

import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { sidecars } from "./processes.mjs";
import { until } from "./waiting.mjs";

const OWN = "data/User/globalStorage/threadline.threadline/sidecar";
const MINUTES = 4 * 60_000;

/** A PATH on which no sidecar is, and a folder at its beginning for what a test puts there. */
function clearPath(editor) {
  const folders = process.env.PATH.split(delimiter).filter((folder) => !holdsSidecar(folder));
  const programs = join(editor.folder, "programs");
  mkdirSync(programs);
  editor.variables.PATH = [programs, ...folders].join(delimiter);
}

function holdsSidecar(folder) {
  try {
    return readdirSync(folder).some((name) => name.startsWith("threadline"));
  } catch {
    return false;
  }
}

function addProgram(editor, name, script) {
  const file = join(editor.folder, "programs", name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

const question = (workbench) => workbench.notification("Threadline needs its sidecar on this machine");
const refusal = (workbench) => workbench.notification("the one that was chosen is 3.9.18");
const button = (place, name) => place.getByRole("button", { name });

/** G1. A machine without a sidecar, with a Python that is too old, and with one that will do. */
export const installation = {
  name: "install",
  address: (editor) => `/?folder=${editor.workspace.folder}`,
  prepare: (editor) => {
    editor.setMachine({});
    clearPath(editor);
    editor.keepPackages();
    const script = 'case "$2" in -c) printf "3.9.18\\n$0\\n1\\n" ;; *) exit 1 ;; esac';
    addProgram(editor, "python3", script);
    editor.setMachine({ "threadline.python": join(editor.folder, "programs/python3") });
  },
  steps: [
    [
      "a machine without a sidecar is asked about once, and the view says what is to be done",
      async ({ workbench, editor }) => {
        await button(question(workbench), "Install").waitFor();
        await button(question(workbench), "Choose Python…").waitFor();
        await button(question(workbench), "Not Now").waitFor();
        await workbench.status.getByText("Not Installed").waitFor();
        await workbench.showSessions();
        await button(workbench.welcome, "Install Sidecar").waitFor();
        assert.equal(await question(workbench).count(), 1);
        assert.deepEqual(sidecars(editor.home), []);
        await workbench.photograph("asked-dark");
      },
    ],
    [
      "a Python that is too old is told in a sentence, with what helps",
      async ({ workbench }) => {
        await button(question(workbench), "Install").click();
        await button(refusal(workbench), "Choose Python…").waitFor();
        await workbench.photograph("too-old");
      },
    ],
    [
      "another Python is chosen with two clicks, and all is installed, step by step",
      async ({ workbench }) => {
        await button(refusal(workbench), "Choose Python…").click();
        await workbench.choice("3.9.18").getByText("too old").waitFor();
        await workbench.photograph("pythons");
        await workbench.choice(/^Python 3\.1[1-9]/).first().click();
        const progress = workbench.notification("Installing Threadline's Sidecar");
        await workbench.status.getByText("Threadline: Installing").waitFor();
        await progress.getByText(/Installing \w+…/).waitFor({ timeout: MINUTES });
        await workbench.photograph("installing");
        await workbench.welcome.getByText("Save a file or make a commit").waitFor({ timeout: MINUTES });
      },
    ],
    [
      "what is installed records",
      async ({ workbench, editor }) => {
        await until("one sidecar runs", () => sidecars(editor.home).length === 1);
        await workbench.openFile("hello.py");
        await workbench.showSessions();
        await workbench.typeAndSave("x = 42\n");
        await workbench.session(/active session, .*1 event · 1 file/).waitFor();
        await workbench.photograph("installed");
        assert.equal(environments(editor).length, 1);
      },
    ],
    [
      "the next window uses it at once and asks nothing",
      async ({ workbench, editor }) => {
        await workbench.page.reload();
        await workbench.page.locator(".monaco-workbench").waitFor();
        await workbench.status.getByText("Threadline: 1 event").waitFor();
        assert.equal(await question(workbench).count(), 0);
        assert.equal(environments(editor).length, 1);
      },
    ],
    [
      "a sidecar on the PATH does not take its place, and is not even started",
      async ({ workbench, editor, sidecar }) => {
        addProgram(editor, "threadline", outdated(sidecar));
        // The one of the window before the last reload may still be about to end.
        await until("one sidecar runs", () => sidecars(editor.home).length === 1);
        const [before] = sidecars(editor.home);
        await workbench.command("Threadline: Restart Sidecar");
        await until("our own runs anew, and no other", () => {
          const [found, ...others] = sidecars(editor.home);
          const isAlone = found && found !== before && others.length === 0;
          return isAlone && commandLine(found).includes(OWN);
        });
        assert.ok(!existsSync(join(editor.folder, "asked")));
      },
    ],
    [
      "the walkthrough asks before it is installed once more",
      async ({ workbench, editor }) => {
        await workbench.status.getByText("Threadline: 1 event").waitFor();
        await workbench.openWalkthrough();
        await workbench.step("Install the Sidecar").click();
        const asked = button(workbench.notification("The sidecar runs already."), "Reinstall");
        // While it still starts, a click is answered with that, and with no button.
        await until("it asks first", async () => {
          await button(workbench.step("Install the Sidecar"), "Install Sidecar").click();
          return asked.waitFor({ timeout: 5_000 }).then(() => true, () => false);
        });
        assert.equal(environments(editor).length, 1);
      },
    ],
  ],
};

/** A sidecar of long ago on the PATH, and nothing else. */
export const outdatedness = {
  name: "outdated",
  address: (editor) => `/?folder=${editor.workspace.folder}`,
  prepare: (editor, sidecar) => {
    editor.setMachine({});
    clearPath(editor);
    addProgram(editor, "threadline", outdated(sidecar));
    // Nothing listens at the other end.
    const index = "http://127.0.0.1:9/simple";
    const alone = { PIP_CONFIG_FILE: "/dev/null", PIP_FIND_LINKS: undefined };
    Object.assign(editor.variables, alone, { PIP_INDEX_URL: index });
  },
  steps: [
    [
      "a sidecar that is too old is told in one sentence, with the way out",
      async ({ workbench }) => {
        const notification = workbench.notification("too old for this extension");
        await button(notification, "Install Sidecar").waitFor();
        await workbench.status.getByText("Not Running").waitFor();
        await workbench.showSessions();
        await button(workbench.welcome, "Install Sidecar").waitFor();
        await workbench.photograph("outdated");
        assert.equal(await notification.count(), 1);
      },
    ],
    [
      "an offer that is declined is not made again",
      async ({ workbench, editor }) => {
        rmSync(join(editor.folder, "programs/threadline"));
        await workbench.command("Threadline: Restart Sidecar");
        await button(question(workbench), "Not Now").click();
        await until("it is noted", () => existsSync(join(editor.folder, OWN, "declined")));
        await workbench.page.reload();
        await workbench.page.locator(".monaco-workbench").waitFor();
        await button(workbench.welcome, "Install Sidecar").waitFor();
        await workbench.status.getByText("Not Installed").waitFor();
        assert.equal(await question(workbench).count(), 0);
        await workbench.chooseTheme("Light Modern");
        await workbench.page.locator(".monaco-workbench.vs").waitFor();
        await workbench.photograph("declined-light");
      },
    ],
    [
      "without a network it says so, and the button for another try is there",
      async ({ workbench, editor }) => {
        await button(workbench.welcome, "Install Sidecar").click();
        const told = workbench.notification("the package index was not reached");
        await button(told, "Try Again").waitFor({ timeout: MINUTES });
        await button(told, "Show Log").waitFor();
        await workbench.photograph("offline-light");
        assert.deepEqual(environments(editor), []);
        await button(workbench.welcome, "Install Sidecar").waitFor();
      },
    ],
  ],
};

/** The real sidecar, which says that it is of another time. */
function outdated(sidecar) {
  return `touch "$THREADLINE_HOME/../asked"
exec "${join(dirname(sidecar), "python")}" -c '
import sys
from protocol import versions
versions.VERSION = "0.0.9"
sys.argv = ["threadline", "serve"]
from sidecar.transports.entry import main
main()'`;
}

function commandLine(id) {
  return readFileSync(`/proc/${id}/cmdline`, "utf8");
}

/** The environments that the extension has made. */
export function environments(editor) {
  try {
    return readdirSync(join(editor.folder, OWN)).filter((name) => /^\d/.test(name));
  } catch {
    return [];
  }
}
