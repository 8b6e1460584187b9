import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { findCarried } from "../src/setup/carrying";
import { clear, findEnvironment } from "../src/setup/environments";
import type { Outcome } from "../src/setup/installing";
import { inspect } from "../src/setup/pythons";
import type { Remedy } from "../src/setup/refusals";
import { run } from "../src/setup/running";
import { type PythonSays, TestMachine } from "./machines";

const LONG_AGO = new Date("2020-01-01T00:00:00Z");

function environment(outcome: Outcome) {
  if (outcome.kind !== "installed") throw new Error(JSON.stringify(outcome));
  return outcome.environment;
}

test("the sidecar is installed step by step, and what is used then runs", async () => {
  const machine = new TestMachine();
  machine.addPython("bin/python3");
  const made = environment(await machine.install());
  assert.deepEqual(machine.told, [
    "Looking for Python 3.11 or newer…",
    "Making an environment with Python 3.12.1…",
    "Installing…",
    "Installing watchfiles…",
    "Trying it out…",
  ]);
  assert.deepEqual(await findEnvironment(machine.root), made);
  assert.equal(execFileSync(made.program, ["--version"], { encoding: "utf8" }), "1.2.3\n");
  assert.equal(
    execFileSync(path.join(machine.root, "current/bin/threadline"), { encoding: "utf8" }),
    "1.2.3\n",
  );
});

test("what is there already is used and not made again, unless that is wanted", async () => {
  const machine = new TestMachine();
  machine.addPython("bin/python3");
  const first = environment(await machine.install());
  assert.deepEqual(environment(await machine.install()), first);
  assert.equal(machine.builds, 1);
  assert.notEqual(environment(await machine.install({ anew: true })).folder, first.folder);
});

test("another wheel gets an environment beside the old one, which still runs", async () => {
  const machine = new TestMachine();
  machine.addPython("bin/python3");
  const old = environment(await machine.install());
  machine.carry("the second");
  const renewed = environment(await machine.install());
  assert.notEqual(renewed.folder, old.folder);
  assert.notEqual(renewed.key, old.key);
  assert.deepEqual(await findEnvironment(machine.root), renewed);
  assert.equal(execFileSync(old.program, { encoding: "utf8" }), "1.2.3\n");
});

test("two windows at once install it once", async () => {
  const machine = new TestMachine();
  machine.addPython("bin/python3", { pip: "sleep 0.5" });
  const [one, other] = await Promise.all([machine.install(), machine.install()]);
  assert.deepEqual(environment(one), environment(other));
  assert.equal(machine.builds, 1);
  assert.ok(machine.told.includes("Waiting for another window that is installing it…"));
});

test("whoever died while installing is not waited for", async () => {
  const machine = new TestMachine();
  machine.addPython("bin/python3");
  mkdirSync(machine.root);
  const lock = path.join(machine.root, "installing.lock");
  writeFileSync(lock, "");
  utimesSync(lock, LONG_AGO, LONG_AGO);
  environment(await machine.install());
  assert.equal(existsSync(lock), false);
});

test("stopping ends what runs and leaves nothing behind", async () => {
  const machine = new TestMachine();
  machine.addPython("bin/python3", { pip: `echo "$$" > ${machine.folder}/process; sleep 60` });
  const log = (line: string) =>
    line.startsWith("Collecting") && setTimeout(() => machine.stopping.abort(), 100);
  const outcome = await machine.install({}, { log });
  assert.equal(outcome.kind, "cancelled");
  assert.deepEqual(machine.environments, []);
  assert.equal(await findEnvironment(machine.root), undefined);
  assert.throws(() => process.kill(Number(machine.read("process")), 0), { code: "ESRCH" });
});

test("nothing of the user's leads pip or Python elsewhere", async () => {
  const machine = new TestMachine();
  machine.addPython("bin/python3");
  const given = {
    PATH: process.env.PATH,
    PYTHONPATH: "/x",
    PIP_TARGET: "/y",
    PIP_USER: "1",
    PIP_CERT: "/z",
  };
  environment(await machine.install({}, { environment: given }));
  const seen = machine
    .read("environment")
    .split("\n")
    .filter((line) => /^(PIP|PYTHON)/.test(line));
  assert.deepEqual(seen.sort(), ["PIP_CERT=/z", "PIP_USER=0"]);
});

test("an environment whose Python has gone is none", async () => {
  const machine = new TestMachine();
  machine.addPython("bin/python3");
  const { folder } = environment(await machine.install());
  rmSync(path.join(folder, "bin/python"));
  assert.equal(await findEnvironment(machine.root), undefined);
  assert.notEqual(environment(await machine.install()).folder, folder);
});

test("what nobody has used for long is removed, what is used is not", async () => {
  const machine = new TestMachine();
  machine.addPython("bin/python3");
  const old = environment(await machine.install());
  const used = environment(await machine.install({ anew: true }));
  const unfinished = path.join(machine.root, "1.0.0-unfinished");
  mkdirSync(unfinished);
  await clear(machine.root);
  assert.equal(machine.environments.length, 3);
  for (const folder of [old.folder, used.folder]) {
    utimesSync(path.join(folder, "made.json"), LONG_AGO, LONG_AGO);
  }
  utimesSync(unfinished, LONG_AGO, LONG_AGO);
  await clear(machine.root);
  assert.deepEqual(machine.environments, [path.basename(used.folder)]);
});

test("what is used stays, also where a link leads to it and nobody has used it for long", async () => {
  const machine = new TestMachine();
  machine.addPython("bin/python3");
  const link = path.join(machine.folder, "link");
  mkdirSync(machine.root);
  symlinkSync(machine.root, link);
  const used = environment(await machine.install({ root: link }));
  utimesSync(path.join(used.folder, "made.json"), LONG_AGO, LONG_AGO);
  await clear(link);
  assert.equal((await findEnvironment(link))?.key, used.key);
});

test("a Python that never answers can be stopped, and is not waited for", async () => {
  const machine = new TestMachine();
  const python = machine.addProgram("bin/python3", "sleep 60");
  const tell = () => void setTimeout(() => machine.stopping.abort(), 100);
  assert.equal((await machine.install({}, { tell })).kind, "cancelled");
  assert.equal(await inspect(python, run, 100), undefined);
});

test("an extension without a sidecar says so by carrying none", () => {
  assert.equal(findCarried("/nowhere"), undefined);
});

interface Refused {
  readonly pythons?: Readonly<Record<string, PythonSays>>;
  /** What the user chose. */
  readonly python?: string;
  readonly sentence: RegExp;
  readonly remedies: readonly Remedy[];
}

/** What was used before is used afterwards, whatever goes wrong. */
function checkRefusal(name: string, { pythons = {}, python, sentence, remedies }: Refused): void {
  test(name, async () => {
    const machine = new TestMachine();
    const good = machine.addPython("good/python3");
    const before = environment(await machine.install({ python: good }));
    machine.carry("the second");
    for (const [place, says] of Object.entries(pythons)) machine.addPython(place, says);
    const outcome = await machine.install(
      python ? { python: path.join(machine.folder, python) } : {},
    );
    assert.ok(outcome.kind === "refused", outcome.kind);
    assert.match(outcome.refusal.sentence, sentence);
    assert.deepEqual(outcome.refusal.remedies, remedies);
    assert.deepEqual(await findEnvironment(machine.root), before);
    assert.deepEqual(machine.environments, [path.basename(before.folder)]);
  });
}

checkRefusal("without a Python it says which one is needed", {
  sentence:
    /^Threadline's sidecar needs Python 3\.11 or newer, and none was found on this machine\.$/,
  remedies: ["Choose Python…", "Try Again"],
});
checkRefusal("with old Pythons it names the newest", {
  pythons: { "bin/python3": { version: "3.6.15" }, "bin/python": { version: "3.10.13" } },
  sentence: /the newest one found is 3\.10\.13 \(.*\/bin\/python\)\.$/,
  remedies: ["Choose Python…", "Try Again"],
});
checkRefusal("a Python without venv is told with what brings it", {
  pythons: { "bin/python3": { version: "3.11.2", hasVenv: false } },
  sentence: /venv module is missing.*“sudo apt install python3\.11-venv”/,
  remedies: ["Try Again", "Choose Python…"],
});
checkRefusal("a chosen Python that is too old is not passed over for another", {
  pythons: { "bin/python3": {}, "old/python3": { version: "3.9.18" } },
  python: "old/python3",
  sentence: /the one that was chosen is 3\.9\.18/,
  remedies: ["Choose Python…", "Open Settings"],
});
checkRefusal("a chosen Python that is none is told", {
  pythons: { "bin/python3": {} },
  python: "nowhere/python3",
  sentence: /nowhere\/python3”, which the setting threadline\.python names, is no Python that runs/,
  remedies: ["Choose Python…", "Open Settings"],
});
checkRefusal("an environment that cannot be made is told in its own words", {
  pythons: { "bin/python3": { venv: "echo 'Error: Permission denied' >&2; exit 1" } },
  sentence: /^The sidecar's environment could not be made: Error: Permission denied$/,
  remedies: ["Try Again", "Choose Python…", "Show Log"],
});
checkRefusal("without a network it says that the index was not reached", {
  pythons: {
    "bin/python3": {
      pip: "echo 'WARNING: Retrying after connection broken by NewConnectionError: Temporary failure in name resolution'; echo 'ERROR: No matching distribution found for msgspec' >&2; exit 1",
    },
  },
  sentence: /package index was not reached/,
  remedies: ["Try Again", "Show Log"],
});
checkRefusal("a full disk is told as such", {
  pythons: {
    "bin/python3": {
      pip: "echo 'ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device' >&2; exit 1",
    },
  },
  sentence: /not enough room on the disk/,
  remedies: ["Try Again", "Show Log"],
});
checkRefusal("an index that has nothing is told as such, not as a conflict", {
  pythons: {
    "bin/python3": {
      pip: "echo 'ERROR: Cannot install threadline==1.2.3 because these package versions have conflicting dependencies.' >&2; exit 1",
    },
  },
  sentence: /the package index does not have them/,
  remedies: ["Try Again", "Choose Python…", "Show Log"],
});
checkRefusal("whatever else pip says is told as it is", {
  pythons: {
    "bin/python3": {
      pip: "echo 'Downloading x.whl'; echo 'ERROR: No matching distribution found for msgspec==0.22.1' >&2; echo hint; exit 1",
    },
  },
  sentence:
    /^The sidecar could not be installed: No matching distribution found for msgspec==0\.22\.1$/,
  remedies: ["Try Again", "Choose Python…", "Show Log"],
});
checkRefusal("a sidecar that was installed but does not start is not used", {
  pythons: {
    "bin/python3": {
      pip: `printf '#!/bin/sh\\necho no such module >&2; exit 1\\n' > "$(dirname "$0")/threadline"; chmod +x "$(dirname "$0")/threadline"; exit 0`,
    },
  },
  sentence: /^The sidecar was installed but does not start: no such module$/,
  remedies: ["Try Again", "Choose Python…", "Show Log"],
});

test("a broken Python is passed over for one that works", async () => {
  const machine = new TestMachine();
  machine.addProgram("bin/python3", "echo 'pyenv: python3: command not found' >&2; exit 127");
  machine.addPython("bin/python", { version: "3.10.13" });
  machine.addPython("bin/python3.12", { version: "3.12.1" });
  environment(await machine.install());
  assert.ok(machine.told.includes("Making an environment with Python 3.12.1…"));
});

test("a real Python makes a real environment from a real wheel", async () => {
  const machine = new TestMachine();
  const script = `
import sys, zipfile
name = "threadline-1.2.3.dist-info"
files = {
    "mine.py": "import sys\\ndef main(): print('1.2.3', sys.prefix)\\n",
    f"{name}/METADATA": "Metadata-Version: 2.1\\nName: threadline\\nVersion: 1.2.3\\n",
    f"{name}/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    f"{name}/entry_points.txt": "[console_scripts]\\nthreadline = mine:main\\n",
    f"{name}/RECORD": "",
}
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    for path, text in files.items():
        wheel.writestr(path, text)
`;
  const wheel = path.join(machine.folder, "carried/threadline-1.2.3-py3-none-any.whl");
  execFileSync("python3", ["-c", script, wheel]);
  const searched = (process.env.PATH ?? "").split(path.delimiter);
  const around = { machine: { ...machine.machine, searched } };
  const made = environment(await machine.install({}, around));
  assert.equal(execFileSync(made.program, { encoding: "utf8" }), `1.2.3 ${made.folder}\n`);
});
