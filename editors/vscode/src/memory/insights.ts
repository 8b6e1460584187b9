/** What is known about a file, for whoever clicks on the lens above it or asks for it. */

import * as vscode from "vscode";
import { count, firstLine, moment, summary } from "../../shared/formats";
import type { FileStory, Memory, Session } from "../../shared/protocol.generated";
import { Registrations } from "../registrations";
import type { Requests } from "../requests";

interface Named {
  readonly project?: string;
  readonly path: string;
}

interface Item extends vscode.QuickPickItem {
  readonly open?: () => Thenable<unknown>;
}

const MOST = 50;

export class Insights extends Registrations {
  /** `commands` are ours that show things, by what they show. */
  constructor(
    private readonly requests: Requests,
    private readonly commands: Readonly<Record<string, string>>,
  ) {
    super();
    this.register("threadline.showFileMemory", "tell what is known about the file", (file) =>
      this.show(file),
    );
  }

  private async show(file: unknown): Promise<void> {
    const named = isNamed(file) ? file : openFile();
    const story = await this.requests.request("threadline/files/about", { ...named, limit: MOST });
    const items = this.items(story);
    if (items.length === 0) {
      return void vscode.window.showInformationMessage(`Nothing is known about ${story.path} yet.`);
    }
    const picked = await vscode.window.showQuickPick(items, {
      title: story.path,
      placeHolder: placeHolder(story),
      matchOnDescription: true,
      matchOnDetail: true,
    });
    await picked?.open?.();
  }

  private items({ memories, sessions }: FileStory): Item[] {
    return [
      ...heading("Memories", memories),
      ...memories.map((memory) => this.memory(memory)),
      ...heading("Sessions", sessions),
      ...sessions.map((session) => this.session(session)),
    ];
  }

  private memory(memory: Memory): Item {
    const sha = memory.evidence.find(({ commitSha }) => commitSha)?.commitSha ?? undefined;
    return {
      label: `$(lightbulb) ${memory.title}`,
      description: [memory.type, moment(memory.occurredAt, new Date())].join(" · "),
      ...detail(memory.content === memory.title ? "" : memory.content),
      ...(this.opens("memory", memory.memoryId) ?? this.opens("commit", sha)),
    };
  }

  private session(session: Session): Item {
    return {
      label: `$(history) ${moment(session.startedAt, new Date())}`,
      description: summary(session),
      ...detail(session.summary ?? ""),
      ...this.opens("session", session.sessionId),
    };
  }

  private opens(kind: string, id: string | undefined): Pick<Item, "open"> | undefined {
    const command = this.commands[kind];
    if (!command || id === undefined) return undefined;
    return { open: () => vscode.commands.executeCommand(command, id) };
  }
}

function heading(label: string, things: readonly unknown[]): Item[] {
  return things.length > 0 ? [{ label, kind: vscode.QuickPickItemKind.Separator }] : [];
}

function detail(text: string): Pick<Item, "detail"> {
  return text ? { detail: firstLine(text) } : {};
}

function placeHolder({ memoryCount, sessionCount }: FileStory): string {
  const memories = memoryCount === 1 ? "1 memory" : `${memoryCount} memories`;
  return `${memories} · ${count(sessionCount, "session")}`;
}

function openFile(): Named {
  const uri = vscode.window.activeTextEditor?.document.uri;
  if (uri?.scheme !== "file") throw new Error("no file is open");
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  return { ...(folder && { project: folder.uri.fsPath }), path: uri.fsPath };
}

function isNamed(file: unknown): file is Named {
  return (
    typeof file === "object" &&
    file !== null &&
    "path" in file &&
    typeof file.path === "string" &&
    "project" in file
  );
}
