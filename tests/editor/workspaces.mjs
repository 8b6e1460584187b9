// A real git repository to work in, and commits made to it from outside the editor.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

export class Workspace {
  constructor(folder) {
    this.folder = folder;
    mkdirSync(join(folder, "src"), { recursive: true });
    this.git("init", "--quiet", "--initial-branch", "main");
    this.git("config", "user.name", "Ada");
    this.git("config", "user.email", "ada@example.org");
    this.write("hello.py", 'print("hello")\n');
    this.write("src/weaving.py", "threads = []\n");
    // Repositories with one and the same first commit would be one project.
    this.commit(`Start the ${basename(folder)}`);
  }

  write(path, text) {
    writeFileSync(join(this.folder, path), text);
  }

  commit(subject) {
    this.git("add", "--all");
    this.git("commit", "--quiet", "--message", subject);
  }

  head() {
    return this.git("rev-parse", "HEAD").trim();
  }

  git(...args) {
    return execFileSync("git", args, { cwd: this.folder, stdio: "pipe", encoding: "utf8" });
  }
}
