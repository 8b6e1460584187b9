import assert from "node:assert/strict";
import { test } from "node:test";
import { linkCommands } from "../src/memory/links";
import { search, type Wish } from "../src/setup/finding";
import { fit } from "../src/setup/versions";

const OWN = "/own/bin/threadline";

function check(name: string, wish: Partial<Wish>, programs: string[], expected: string[]): void {
  test(name, () => {
    const isProgram = (file: string) => programs.includes(file);
    const isOpen = (file: string) => file.startsWith("/code/");
    const machine = { home: "/home/me", searched: ["/usr/bin", "/code/bin"], isProgram, isOpen };
    const given = { command: "", interpreters: [], own: undefined, ...wish };
    const { found } = search(given, machine);
    assert.deepEqual(
      found.map((words) => words.join(" ")),
      expected,
    );
  });
}

check("without any there is none", {}, [], []);
check(
  "our own comes before the one on the PATH and one beside an interpreter of the user's",
  { own: OWN, interpreters: ["/env/bin/python"] },
  ["/usr/bin/threadline", "/env/bin/threadline"],
  [OWN, "/usr/bin/threadline", "/env/bin/threadline"],
);
check(
  "an interpreter may be named by its environment",
  { interpreters: ["/env"] },
  ["/env/bin/threadline"],
  ["/env/bin/threadline"],
);
check(
  "nothing in a folder that is open is started, on the PATH or beside an interpreter",
  { own: OWN, interpreters: ["/code/.venv/bin/python"] },
  ["/code/.venv/bin/threadline", "/code/bin/threadline"],
  [OWN],
);
check(
  "not even where the user has set it",
  { command: "/code/.venv/bin/threadline", own: OWN },
  ["/code/.venv/bin/threadline"],
  [],
);
check("an interpreter without it is passed over", { interpreters: ["/usr/bin/python3"] }, [], []);
check(
  "what the user set is the only one",
  { command: ["~/x", "-v"], own: OWN, interpreters: ["/usr/bin/python3"] },
  ["/home/me/x", "/usr/bin/threadline"],
  ["/home/me/x -v"],
);
check("what the user set is not replaced", { command: "/x", own: OWN }, [], []);

test("what the user set is told apart from what is not there if it lies in a folder that is open", () => {
  const machine = {
    home: "/home/me",
    searched: [],
    isProgram: (file: string) => file === "/code/x" || file === "/usr/bin/x",
    isOpen: (file: string) => file.startsWith("/code/"),
  };
  const wish = { interpreters: [], own: OWN };
  const isOpen = (command: string) => search({ ...wish, command }, machine).isOpen;
  assert.deepEqual(["/code/x", "/usr/bin/x", "/absent", ""].map(isOpen), [
    true,
    false,
    false,
    false,
  ]);
});

test("a sidecar fits from the extension's own version on, up to the next line", () => {
  const versions = ["0", "0.1.9", "0.2.0", "0.2.1rc1", "0.3.0", "1.0.0"];
  assert.deepEqual(
    versions.map((version) => fit(version, "0.2.0")),
    ["older", "older", "fits", "fits", "fits", "newer"],
  );
  assert.equal(fit("0.9.0", "1.0.0"), "older");
});

test("links lead only to commands that are there", () => {
  assert.deepEqual(linkCommands(["threadline.openCommit", "threadline.other"]), {
    commit: "threadline.openCommit",
  });
});
