/** Brings the sidecar to this machine: asks once, shows each step, says what is wrong and what helps. */

import * as vscode from "vscode";
import { thisMachine } from "../locating";
import { Registrations } from "../registrations";
import type { Sidecar } from "../sidecar";
import type { SidecarState } from "../states";
import type { Carried } from "./carrying";
import { consider, type Decision } from "./considering";
import { accept, decline, hasDeclined } from "./declining";
import { inspect, openFolders } from "./editor";
import { install, type Outcome } from "./installing";
import { chosenPython, configuredInterpreters } from "./interpreters";
import { findPythons, isFit, isNew, NAMES, OLDEST, type Python } from "./pythons";
import { NOTHING_CARRIED, type Refusal, type Remedy } from "./refusals";
import { run } from "./running";

export interface Means {
  readonly carried: Carried | undefined;
  /** Where the sidecar's own environments are. */
  readonly root: string;
  readonly log: vscode.LogOutputChannel;
}

const QUESTION =
  "Threadline needs its sidecar on this machine. Install it? Some packages are downloaded, into a folder of its own.";
const INSTALL = "Install";
const CHOOSE = "Choose Python…";
const LATER = "Not Now";
const TITLE = "Installing Threadline's Sidecar";
const REINSTALL = "Reinstall";

const COMMANDS: Readonly<Record<Remedy, string>> = {
  "Try Again": "threadline.installSidecar",
  "Choose Python…": "threadline.choosePython",
  "Open Settings": "threadline.openSettings",
  "Show Log": "threadline.showLog",
};

export class Installer extends Registrations {
  private hasAsked = false;
  private hasRenewed = false;
  private busy: Promise<void> | undefined;
  private readonly following: vscode.Disposable[];

  constructor(
    private readonly sidecar: Sidecar,
    private readonly means: Means,
  ) {
    super();
    this.register("threadline.installSidecar", "install its sidecar", () => this.install());
    this.register("threadline.choosePython", "choose a Python", () => this.choosePython());
    this.following = [
      sidecar.onDidChangeState((state) => this.follow(state)),
      vscode.window.onDidChangeWindowState(({ focused }) => focused && this.lookAgain()),
    ];
  }

  override dispose(): void {
    super.dispose();
    for (const one of this.following) one.dispose();
  }

  /** What the user agreed to once is kept up to date without a question. */
  private follow(state: SidecarState): void {
    if (state.kind === "absent") void this.offer();
    if (!this.isBehind(state) || this.hasRenewed) return;
    this.hasRenewed = true;
    void this.bring(vscode.ProgressLocation.Window);
  }

  private isBehind(state: SidecarState): boolean {
    const { carried } = this.means;
    const used = this.sidecar.environment;
    if (state.kind === "outdated") return carried !== undefined && state.isOwn === true;
    return carried !== undefined && used !== undefined && used.key !== carried.key;
  }

  /** Another window may have installed it meanwhile. */
  private lookAgain(): void {
    if (this.sidecar.state.kind === "absent" && !this.busy) void this.sidecar.restart();
  }

  private async offer(): Promise<void> {
    if (this.hasAsked || hasDeclined(this.means.root)) return;
    this.hasAsked = true;
    const said = await vscode.window.showInformationMessage(QUESTION, INSTALL, CHOOSE, LATER);
    if (said === INSTALL) await this.install();
    if (said === CHOOSE) await this.choosePython();
    if (said === LATER) decline(this.means.root);
  }

  /** Links run a command even where it is not offered, so one may run already: there is never a second one unasked. */
  private async install(): Promise<void> {
    this.hasAsked = true;
    const decision = this.decide();
    const isWanted = decision === "install" || (await this.tellRunning(decision));
    if (isWanted) await this.bringAnew();
  }

  private decide(): Decision {
    const { state, environment } = this.sidecar;
    const isBehind = this.isBehind(state);
    return consider({ kind: state.kind, isOwn: environment !== undefined, isBehind });
  }

  /** Whether it is to be made anew all the same. */
  private async tellRunning(decision: Decision): Promise<boolean> {
    const isStarting = this.sidecar.state.kind === "starting";
    const sentence = isStarting ? "The sidecar is starting." : "The sidecar runs already.";
    const actions = decision === "ask" ? [REINSTALL] : [];
    return (await vscode.window.showInformationMessage(sentence, ...actions)) === REINSTALL;
  }

  /** Also where one is there from the same, if it does not run or the user wants it to be another. */
  private bringAnew(): Promise<void> {
    const isThere = ["failed", "running"].includes(this.sidecar.state.kind);
    return this.bring(vscode.ProgressLocation.Notification, isThere);
  }

  /** One at a time; whoever asks meanwhile waits for the same. */
  private bring(location: vscode.ProgressLocation, anew = false): Promise<void> {
    this.busy ??= this.carryOut(location, anew).finally(() => {
      this.busy = undefined;
    });
    return this.busy;
  }

  private async carryOut(location: vscode.ProgressLocation, anew: boolean): Promise<void> {
    const { carried } = this.means;
    if (!carried) return void this.tell(NOTHING_CARRIED);
    let outcome: Outcome | undefined;
    await this.sidecar.whileInstalling(async () => {
      outcome = await this.show(location, carried, anew);
      return outcome.kind === "installed";
    });
    // Not waited for: what helps may be another installation.
    if (outcome?.kind === "refused") void this.tell(outcome.refusal);
    if (outcome?.kind === "installed") accept(this.means.root);
  }

  private show(location: vscode.ProgressLocation, carried: Carried, anew: boolean) {
    const options = { location, title: TITLE, cancellable: true };
    return vscode.window.withProgress(options, (progress, token) => {
      const stopping = new AbortController();
      token.onCancellationRequested(() => stopping.abort());
      const { root, log } = this.means;
      const python = chosenPython(inspect);
      const interpreters = configuredInterpreters(inspect);
      return install(
        { carried, root, python, interpreters, anew },
        {
          run,
          machine: thisMachine(openFolders()),
          environment: process.env,
          signal: stopping.signal,
          tell: (message) => progress.report({ message }),
          log: (line) => log.info(line),
        },
      );
    });
  }

  private async tell({ sentence, remedies }: Refusal): Promise<void> {
    this.means.log.error(sentence);
    const chosen = await vscode.window.showErrorMessage(sentence, ...remedies);
    if (chosen) await vscode.commands.executeCommand(COMMANDS[chosen]);
  }

  private async choosePython(): Promise<void> {
    const chosen = await pickPython();
    if (chosen === undefined) return;
    const settings = vscode.workspace.getConfiguration("threadline");
    await settings.update("python", chosen, vscode.ConfigurationTarget.Global);
    if (this.decide() === "keep") await this.tellRunning("keep");
    else await this.bringAnew();
  }
}

/** One of those that were found, or any other. */
async function pickPython(): Promise<string | undefined> {
  const names = [...configuredInterpreters(inspect), ...NAMES];
  const browse = { label: "$(folder-opened) Browse…", description: "", value: undefined };
  const found = findPythons(names, thisMachine(openFolders()), run).then((pythons) => [
    ...pythons
      .toSorted((one, other) => Number(isFit(other)) - Number(isFit(one)))
      .map(pythonChoice),
    browse,
  ]);
  const picked = await vscode.window.showQuickPick(found, {
    title: "Choose a Python for Threadline's Sidecar",
    placeHolder: `Python ${OLDEST} or newer`,
  });
  if (!picked) return undefined;
  return picked.value ?? (await browsePython());
}

function pythonChoice(python: Python) {
  const problem = isNew(python) ? "without venv" : "too old";
  return {
    label: `Python ${python.version}`,
    description: isFit(python) ? python.path : `${python.path} · ${problem}`,
    value: python.path,
  };
}

async function browsePython(): Promise<string | undefined> {
  const files = await vscode.window.showOpenDialog({
    title: "Choose a Python for Threadline's Sidecar",
    openLabel: "Choose",
  });
  return files?.[0]?.fsPath;
}
