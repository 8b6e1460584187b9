/** What a person does with the context: put it into a file, onto the clipboard, into a chat. */

import * as vscode from "vscode";
import { choosePlace } from "../choosing";
import type { Overview } from "../overview";
import { Registrations } from "../registrations";
import type { Requests } from "../requests";
import { openChat, pasteHint } from "./chats";
import { lengthOf, onOwnLines } from "./insertions";

const CLIPBOARD = "clipboard";

export class ContextCommands extends Registrations {
  constructor(
    private readonly requests: Requests,
    private readonly overview: Overview,
    private readonly source: string,
    /** Told once an assistant was given something by hand. */
    private readonly onGiven: () => void,
  ) {
    super();
    this.register("threadline.insertContext", "insert the context", () => this.insert());
    this.register("threadline.copyContext", "copy the context", () => this.copy());
    this.register("threadline.openContextInChat", "open the context in a chat", () =>
      this.openInChat(),
    );
  }

  private async insert(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor) return this.offerCopy();
    const text = await this.render("Insert Context of Which Project?", CLIPBOARD);
    if (!text) return;
    const isDone = await editor.edit((edit) => {
      for (const { start, end } of editor.selections.slice(0, 1)) {
        const { text: line } = editor.document.lineAt(start.line);
        const rest = editor.document.lineAt(end.line).text.slice(end.character);
        const lines = onOwnLines(text, line.slice(0, start.character), rest);
        edit.replace(new vscode.Range(start, end), lines);
      }
    });
    if (!isDone) throw new Error("the file cannot be changed");
    this.onGiven();
  }

  private async offerCopy(): Promise<void> {
    const sentence = "There is no open file to insert the context into.";
    const chosen = await vscode.window.showInformationMessage(sentence, "Copy Context");
    if (chosen) await this.copy();
  }

  private async copy(): Promise<void> {
    const text = await this.render("Copy Context of Which Project?", CLIPBOARD);
    if (!text) return;
    await vscode.env.clipboard.writeText(text);
    void vscode.window.showInformationMessage(`Context copied, ${lengthOf(text)}.`);
    this.onGiven();
  }

  private async openInChat(): Promise<void> {
    const text = await this.render("Open Context of Which Project?", this.source);
    if (!text) return;
    const isOff = vscode.workspace.getConfiguration("chat").get("disableAIFeatures") === true;
    const run = vscode.commands.executeCommand;
    if (!(await openChat({ source: this.source, isOff, run }, text))) {
      await vscode.env.clipboard.writeText(text);
      void vscode.window.showInformationMessage(pasteHint(this.source));
    }
    this.onGiven();
  }

  /** What an assistant would be told now; nothing counts as given by that. */
  private async render(title: string, host: string): Promise<string | undefined> {
    const projects = (this.overview.projects ?? []).map(({ project }) => project);
    const place = await choosePlace(title, projects);
    if (!place) return undefined;
    const filesAtHand = place.file ? [place.file] : [];
    const params = { project: place.folder, host, filesAtHand, preview: true };
    const { text } = await vscode.window.withProgress(
      {
        location: vscode.ProgressLocation.Window,
        title: "Threadline: putting the context together",
      },
      () => this.requests.request("threadline/context/render", params),
    );
    if (!text) void vscode.window.showInformationMessage("Threadline has nothing to tell yet.");
    return text || undefined;
  }
}
