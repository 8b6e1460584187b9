/** One connection to a sidecar, from its start to its end. */

import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
} from "vscode-languageclient/node";
import { hostSource } from "../shared/hosts";
import type { Lender } from "./assistants/lending";
import { answerSection, ENVIRONMENT, SECTION } from "./settings";
import { inspect } from "./setup/editor";
import type { Words } from "./setup/running";

/** Milliseconds that an ended process may take to say its last words. */
const PATIENCE = 500;
/** Milliseconds after which a process that does not answer is none of ours, however slow the machine. */
const SILENCE = 90_000;

export interface Connection {
  readonly log: vscode.LogOutputChannel;
  /** Our commands that links may run, by what they show. */
  readonly commands: Readonly<Record<string, string>>;
  /** What our settings are called. */
  readonly settings: readonly string[];
  /** Lends the editor's own language model, where there is one. */
  readonly lender: Lender | undefined;
  readonly onClosed: () => void;
}

/** Logs and shows nothing: we tell the user ourselves, once and with a way out. */
export class QuietClient extends LanguageClient {
  private lastLine = "";
  private silence: Promise<unknown> = Promise.resolve();

  constructor([command, ...args]: Words, connection: Connection) {
    const heed = (stream: Readable) => this.heed(stream);
    const env = { ...process.env, ...ENVIRONMENT };
    const server = { command, args, options: { env } };
    super("threadline", "Threadline", server, options(connection, heed));
  }

  /** Start it; a process that never answers is ended, so that nobody waits for it for ever. */
  override async start(): Promise<void> {
    const end = () => this.serverProcess?.kill("SIGKILL");
    const waiting = setTimeout(end, SILENCE);
    try {
      await super.start();
    } finally {
      clearTimeout(waiting);
    }
  }

  /** What the process last wrote to standard error: often the reason why it ended. */
  async lastWords(): Promise<string> {
    await Promise.race([this.silence, delay(PATIENCE)]);
    return this.lastLine;
  }

  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  private heed(stream: Readable): void {
    const lines = createInterface(stream).on("line", (line) => {
      this.lastLine = line;
      this.outputChannel.error(line);
    });
    this.silence = once(lines, "close");
  }
}

function options(
  { log, commands, settings, lender, onClosed }: Connection,
  heed: (stream: Readable) => void,
): LanguageClientOptions {
  const source = hostSource(vscode.env.appName, vscode.env.uriScheme);
  return {
    documentSelector: [{ scheme: "file" }],
    initializationOptions: { source, commands, model: lender !== undefined },
    // What the sidecar quotes is escaped; all the same only these commands can be run from it.
    markdown: { isTrusted: { enabledCommands: Object.values(commands) } },
    outputChannel: log,
    stdioOptions: { stdout: () => {}, stderr: heed },
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => {
        onClosed();
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    },
    // The sidecar is told which file was saved, never what is in it.
    middleware: {
      didOpen: async () => {},
      didClose: async () => {},
      workspace: {
        configuration: ({ items }) => {
          const tell = (name: string) => inspect(SECTION, name);
          return items.map(({ section }) => answerSection(section, settings, tell));
        },
      },
      executeCommand: (command, args, next) => {
        const run = async () => next(command, args);
        return lender ? lender.during(command, run) : run();
      },
    },
  };
}
