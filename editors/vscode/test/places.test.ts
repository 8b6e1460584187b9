import assert from "node:assert/strict";
import { test } from "node:test";
import { first, HOME, PAGES, type Place, read, write } from "../pages/places";

const LOOM = project({ projectId: "p1", folders: ["/work/loom/.git"] });
const NESTED = project({ projectId: "p2", folders: ["/work/loom/vendor/dye/.git"] });
const PLAIN = project({ projectId: "p3", folders: ["/notes"] });
const ALL = [LOOM, NESTED, PLAIN];

function check(sentence: string, file: string, open: string[], expected: unknown): void {
  test(sentence, () => assert.deepEqual(placeOfFile(file, open, ALL), expected));
}

check("a file belongs to its repository", "/work/loom/src/a.py", ["/work/loom"], {
  folder: "/work/loom",
  file: "src/a.py",
});
check("a repository within another is one of its own", "/work/loom/vendor/dye/b.py", ["/work"], {
  folder: "/work/loom/vendor/dye",
  file: "b.py",
});
check("a part of a repository may be open", "/work/loom/src/a.py", ["/work/loom/src"], {
  folder: "/work/loom/src",
});
check("a folder without git is a place, too", "/notes/deep/n.md", ["/notes"], {
  folder: "/notes",
  file: "deep/n.md",
});
check("another working tree is a place of its own", "/trees/fix/a.py", ["/trees/fix"], {
  folder: "/trees/fix",
});
check("a file outside the window belongs nowhere", "/work/loom/src/a.py", ["/notes"], undefined);
check("a name that only begins alike is another", "/work/looming/a.py", ["/work/loom"], undefined);

test("a project is where it is open, or else where it was seen", () => {
  const at = (open: string[]) => placeOfProject(LOOM, open, ALL).folder;
  assert.deepEqual([["/work/loom"], ["/trees/fix"], []].map(at), [
    "/work/loom",
    "/trees/fix",
    "/work/loom",
  ]);
  assert.equal(placeOfProject(project({ folders: [] }), [], []).folder, "p1");
});

test("a page that was hidden goes on where it had got to", () => {
  const [asked, kept] = [write({ page: "sessions" }), write({ page: "session", id: "01ABC" })];
  assert.equal(first(kept, asked).page, "session");
  assert.equal(first(undefined, asked).page, "sessions");
  assert.deepEqual(first(undefined, undefined), HOME);
});
