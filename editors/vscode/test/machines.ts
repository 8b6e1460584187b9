/** Machines for the tests: folders with little programs that do as Pythons do. */

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after } from "node:test";
import { findCarried } from "../src/setup/carrying";
import { install, type Outcome, type Surroundings, type Wish } from "../src/setup/installing";
import { run } from "../src/setup/running";

export interface PythonSays {
  readonly version?: string;
  readonly hasVenv?: boolean;
  /** What its venv and its pip do, in the shell's language. */
  readonly venv?: string;
  readonly pip?: string;
}

export class TestMachine {
  readonly folder = mkdtempSync(path.join(tmpdir(), "threadline-machine-"));
  readonly root = path.join(this.folder, "own");
  readonly told: string[] = [];
  readonly logged: string[] = [];
  readonly stopping = new AbortController();

  constructor() {
    after(() => rmSync(this.folder, { recursive: true, force: true }));
    mkdirSync(path.join(this.folder, "carried"));
    this.carry("the first");
  }

  /** Put another wheel into the extension. */
  carry(content: string): void {
    const folder = path.join(this.folder, "carried");
    writeFileSync(path.join(folder, "threadline-1.2.3-py3-none-any.whl"), content);
    writeFileSync(path.join(folder, "constraints.txt"), "");
  }

  /** Put a program that does as a Python does into a folder of the PATH. */
  addPython(
    place: string,
    { version = "3.12.1", hasVenv = true, venv = "", pip = "" }: PythonSays = {},
  ): string {
    return this.addProgram(
      place,
      `case "$2$3" in
  -c*) printf '${version}\\n%s\\n${hasVenv ? 1 : 0}\\n' "$0" ;;
  -mvenv) ${venv || ":"}
    mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;
  -mpip) echo build >> "${this.folder}/builds"
    env > "${this.folder}/environment"
    echo "Collecting watchfiles==1.3.0 (from threadline==1.2.3)"
    ${pip || ":"}
    printf '#!/bin/sh\\necho 1.2.3\\n' > "$(dirname "$0")/threadline" && chmod +x "$(dirname "$0")/threadline" ;;
esac`,
    );
  }

  addProgram(place: string, script: string): string {
    const file = path.join(this.folder, place);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
    return file;
  }

  install(wish: Partial<Wish> = {}, around: Partial<Surroundings> = {}): Promise<Outcome> {
    const carried = findCarried(path.join(this.folder, "carried"));
    if (!carried) throw new Error("nothing is carried");
    return install({ carried, root: this.root, ...wish }, { ...this.surroundings(), ...around });
  }

  surroundings(): Surroundings {
    return {
      run,
      machine: this.machine,
      environment: process.env,
      signal: this.stopping.signal,
      tell: (step) => this.told.push(step),
      log: (line) => this.logged.push(line),
    };
  }

  get machine() {
    const searched = [path.join(this.folder, "bin")];
    return { home: this.folder, searched, isProgram, isOpen: () => false };
  }

  /** How often packages were installed. */
  get builds(): number {
    return this.read("builds").split("\n").length - 1;
  }

  read(name: string): string {
    const file = path.join(this.folder, name);
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  }

  /** The environments that lie there, finished or not. */
  get environments(): string[] {
    return readdirSync(this.root).filter((name) => /^\d/.test(name));
  }
}

function isProgram(file: string): boolean {
  return existsSync(file) && statSync(file).isFile();
}
