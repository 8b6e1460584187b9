/** A message; a click opens its thread. */

import { MarkdownString, ThemeColor, ThemeIcon, TreeItem } from "vscode";
import { moment } from "../../shared/formats";
import { agentName, type Labels } from "../../shared/names";
import type { ShownMessage } from "../../shared/protocol.generated";
import { receipts } from "../../shared/receipts";
import { type Box, headline, isUrgent, senderLine } from "../team/messages";
import type { TreeNode } from "./node";

const SHOWN = 600;

interface Place {
  readonly box: Box;
  readonly labels: Labels;
  /** Named where the window holds more than one. */
  readonly project: string;
}

export class MessageNode implements TreeNode {
  constructor(
    readonly message: ShownMessage,
    private readonly place: Place,
  ) {}

  get box(): Box {
    return this.place.box;
  }

  item(): TreeItem {
    const { message, box } = this;
    const item = new TreeItem(headline(message));
    const time = moment(message.createdAt, new Date());
    item.id = `${box}/${message.messageId}`;
    item.description = [this.who(), this.place.project, time].filter(Boolean).join(" · ");
    item.iconPath = icon(message, box);
    item.contextValue = `message.${box}`;
    item.tooltip = this.tooltip();
    item.accessibilityInformation = { label: this.spoken() };
    item.command = { command: "threadline.openMessage", title: "Open", arguments: [this] };
    return item;
  }

  children(): TreeNode[] {
    return [];
  }

  private who(): string {
    const { message, place } = this;
    if (place.box !== "sent") return senderLine(message, place.labels);
    const state = receipts(message, place.labels);
    const name = agentName(message.targetId, place.labels);
    return `to ${name} · ${state.charAt(0).toLowerCase()}${state.slice(1)}`;
  }

  private spoken(): string {
    const { category } = this.message;
    return `${this.box} ${category}: ${headline(this.message)}, ${this.who()}`;
  }

  private tooltip(): MarkdownString {
    const { message, place } = this;
    const { content, category, parentMessageId } = message;
    const text = new MarkdownString(undefined, true);
    text.appendMarkdown("**").appendText(headline(message)).appendMarkdown("**\n\n");
    text.appendText(content.length > SHOWN ? `${content.slice(0, SHOWN)}…` : content);
    const kind = parentMessageId ? `${category}, a reply` : category;
    text.appendMarkdown("\n\n").appendText(`${this.who()}\n${kind}`);
    if (place.box !== "sent") text.appendText(`\n${receipts(message, place.labels)}`);
    return text;
  }
}

function icon(message: ShownMessage, box: Box): ThemeIcon {
  if (box === "sent") return new ThemeIcon("reply");
  if (box === "acknowledged") return new ThemeIcon("mail-read");
  const color = isUrgent(message) ? "list.warningForeground" : "charts.blue";
  return new ThemeIcon(ICONS[message.category] ?? "mail", new ThemeColor(color));
}

const ICONS: Readonly<Record<string, string>> = {
  request: "question",
  alert: "warning",
  error: "error",
};
