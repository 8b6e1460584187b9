import assert from "node:assert/strict";
import { test } from "node:test";
import { linkCommands } from "../src/memory/links";
import { search, type Wish } from "../src/setup/finding";
import { fit } from "../src/setup/versions";

const OWN = "/own/bin/threadline";

function check(name: string, wish: Partial<Wish>, programs: string[], expected: string[]): void {
  test(name, () => {
    const isProgram = (file: string) => programs.includes(file);
    const machine = { home: "/home/me", searched: ["/usr/bin"], isProgram };
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
  "the one on the PATH comes before our own",
  { own: OWN },
  ["/usr/bin/threadline"],
  ["/usr/bin/threadline", OWN],
);
check(
  "one beside a configured interpreter comes before our own",
  { own: OWN, interpreters: ["/code/.venv/bin/python"] },
  ["/code/.venv/bin/threadline"],
  ["/code/.venv/bin/threadline", OWN],
);
check(
  "an interpreter may be named by its environment",
  { interpreters: ["/code/.venv"] },
  ["/code/.venv/bin/threadline"],
  ["/code/.venv/bin/threadline"],
);
check("an interpreter without it is passed over", { interpreters: ["/usr/bin/python3"] }, [], []);
check(
  "what the user set is the only one",
  { command: ["~/x", "-v"], own: OWN, interpreters: ["/usr/bin/python3"] },
  ["/home/me/x", "/usr/bin/threadline"],
  ["/home/me/x -v"],
);
check("what the user set is not replaced", { command: "/x", own: OWN }, [], []);

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
