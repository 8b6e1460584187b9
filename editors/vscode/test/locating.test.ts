import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import {
  commandLine,
  fileRoots,
  findProgram,
  findPrograms,
  isInside,
  thisMachine,
} from "../src/locating";

function checkCommand(setting: unknown, expected: string[]): void {
  test(`the setting ${JSON.stringify(setting)} starts ${expected.join(" ")}`, () => {
    assert.deepEqual(commandLine(setting), expected);
  });
}

checkCommand("", ["threadline"]);
checkCommand([], ["threadline"]);
checkCommand(undefined, ["threadline"]);
checkCommand("/opt/my tools/threadline", ["/opt/my tools/threadline"]);
checkCommand(["uvx", "threadline"], ["uvx", "threadline"]);
checkCommand([42, "", "x"], ["x"]);

function checkProgram(name: string, programs: string[], expected: string | undefined): void {
  test(`${name} with ${programs.join(", ") || "nothing"} there is ${expected}`, () => {
    const isProgram = (file: string) => programs.includes(file);
    const searched = ["", ".", "venv/bin", "/usr/local/bin", "/usr/bin"];
    assert.equal(
      findProgram(name, { home: "/home/me", searched, isProgram, isOpen: () => false }),
      expected,
    );
  });
}

checkProgram("threadline", ["/usr/bin/threadline"], "/usr/bin/threadline");
checkProgram(
  "threadline",
  ["/usr/bin/threadline", "/usr/local/bin/threadline"],
  "/usr/local/bin/threadline",
);
checkProgram("threadline", ["/usr/bin/threadline.exe"], "/usr/bin/threadline.exe");
checkProgram("threadline", ["threadline", "venv/bin/threadline"], undefined);
checkProgram("~/bin/threadline", ["/home/me/bin/threadline"], "/home/me/bin/threadline");
checkProgram("/opt/threadline", ["/opt/threadline"], "/opt/threadline");
checkProgram("/opt/threadline", [], undefined);

/** A repository with a program, and ways into it and out of it. */
function planted() {
  const root = mkdtempSync(path.join(tmpdir(), "threadline-planted-"));
  after(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ["repository/bin", "safe/bin", "repository-2"])
    mkdirSync(path.join(root, folder), { recursive: true });
  const at = (name: string) => path.join(root, name);
  for (const file of ["repository/bin/threadline", "safe/bin/python", "repository-2/threadline"]) {
    writeFileSync(at(file), "#!/bin/sh\n");
    chmodSync(at(file), 0o755);
  }
  symlinkSync(at("repository"), at("opened"));
  symlinkSync(at("repository/bin"), at("safe/programs"));
  symlinkSync("../../repository/bin/threadline", at("safe/bin/threadline"));
  symlinkSync(at("safe/bin/python"), at("repository/bin/python"));
  symlinkSync(at("repository/bin/python"), at("safe/bin/through"));
  symlinkSync(at("safe/bin/loop"), at("safe/bin/loop"));
  return at;
}

test("a file is in an open folder by whatever links it is reached, or the folder was opened", () => {
  const at = planted();
  const inside = [
    "repository/bin/threadline",
    "safe/programs/threadline",
    "safe/bin/threadline",
    // Leads outside, and would run with what lies around it in the repository.
    "repository/bin/python",
    "safe/bin/through",
    "repository/absent",
  ];
  const outside = ["safe/bin/python", "repository-2/threadline", "safe/bin/loop", "safe/absent"];
  for (const open of ["repository", "opened"]) {
    const answers = [...inside, ...outside].map((name) => isInside(at(name), [at(open)]));
    assert.deepEqual(answers, [...inside.map(() => true), ...outside.map(() => false)]);
  }
  assert.equal(isInside(at("repository/bin/threadline"), []), false);
});

test("this machine finds no program of an open folder, and all others", () => {
  const at = planted();
  const before = process.env.PATH;
  process.env.PATH = [at("repository/bin"), at("safe/bin")].join(path.delimiter);
  try {
    const closed = thisMachine([]);
    const open = thisMachine([at("repository")]);
    const [first] = findPrograms("threadline", closed);
    assert.equal(first, at("repository/bin/threadline"));
    const found = ["threadline", "python"].flatMap((name) =>
      findPrograms(name, open).filter((file) => file.startsWith(at(""))),
    );
    assert.deepEqual(found, [at("safe/bin/python")]);
  } finally {
    process.env.PATH = before;
  }
});

test("a project's open working tree comes before all else", () => {
  assert.deepEqual(fileRoots(["/old/demo/.git", "/demo/.git"], [], ["/demo/src"]), [
    "/demo",
    "/old/demo",
  ]);
});

test("a linked worktree comes before the main one that is not open", () => {
  assert.deepEqual(fileRoots(["/demo/.git"], [], ["/tree"]), ["/tree", "/demo"]);
});

test("a folder of another project is never looked at", () => {
  assert.deepEqual(fileRoots(["/demo/.git"], ["/other/.git"], ["/other", "/demo"]), ["/demo"]);
});
