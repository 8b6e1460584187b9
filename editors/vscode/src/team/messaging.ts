/** What a person does with messages: read, answer, acknowledge, send. */

import * as vscode from "vscode";
import { agentName, EVERYONE, type Labels, USER } from "../../shared/names";
import type { ShownMessage } from "../../shared/protocol.generated";
import { askText, choose, chooseAgent, chooseProject } from "../choosing";
import type { Show } from "../panels/visiting";
import { Registrations } from "../registrations";
import type { Requests } from "../requests";
import { MessageNode } from "../tree/message";
import type { Inbox } from "./inbox";
import { headline, merged, type Post, senderLine } from "./messages";

const CONTENT = 100_000;

export class MessageCommands extends Registrations {
  constructor(
    private readonly requests: Requests,
    private readonly inbox: Inbox,
    private readonly show: Show,
  ) {
    super();
    this.register("threadline.openInbox", "open the inbox", openInbox);
    this.register("threadline.sendMessage", "send the message", () => this.send());
    this.register("threadline.replyMessage", "reply", (given) => this.reply(given));
    this.register("threadline.openMessage", "open the message", (given) => this.open(given));
    this.register("threadline.acknowledgeMessage", "acknowledge the message", (given, all) =>
      this.acknowledge(given, all),
    );
  }

  private async send(): Promise<void> {
    const projects = this.posts.map(({ project }) => project);
    const project = await chooseProject("Send a Message in Which Project?", projects);
    if (!project) return;
    const everyone = { label: "$(broadcast) All Agents", description: EVERYONE, value: EVERYONE };
    const targetId = await chooseAgent(this.requests, "Send a Message to…", {
      project: project.projectId,
      others: [everyone],
    });
    if (!targetId) return;
    const name = agentName(targetId, this.labels(project.projectId));
    const content = await askText(`Message to ${name}`, {
      placeHolder: "It is delivered when the agent next looks.",
      most: CONTENT,
    });
    if (!content) return;
    await this.post({ project: project.projectId, targetId, content });
    vscode.window.setStatusBarMessage(`$(check) Sent to ${name}`, 5000);
  }

  /** Whoever answers a message has dealt with it. */
  private async reply(given: unknown): Promise<void> {
    const message = await this.message(given, "Reply to Which Message?");
    if (!message) return;
    const { projectId: project, messageId, subject } = message;
    const isOwn = message.senderId === USER;
    const targetId = isOwn ? message.targetId : message.senderId;
    const name = agentName(targetId, this.labels(project));
    const content = await askText(`Reply to ${name}`, { prompt: headline(message), most: CONTENT });
    if (!content) return;
    await this.post({ project, targetId, content, subject, parentMessageId: messageId });
    if (!isOwn) await this.note(message);
  }

  private async open(given: unknown): Promise<void> {
    const message = await this.message(given, "Open Which Message?");
    if (!message) return;
    this.show({ page: "inbox", id: message.messageId, project: message.projectId });
  }

  private async acknowledge(given: unknown, all: unknown): Promise<void> {
    const selected = Array.isArray(all) ? all.filter(isUnread) : [];
    if (selected.length > 1) {
      await Promise.all(selected.map(({ message }) => this.note(message)));
      return;
    }
    const message = await this.message(given, "Acknowledge Which Message?");
    if (message) await this.note(message);
  }

  private async note({ projectId, messageId }: ShownMessage): Promise<void> {
    const params = { project: projectId, messageId, agentId: USER };
    await this.requests.request("threadline/messages/ack", params);
    this.inbox.refresh();
  }

  private async post(
    params: { project: string; targetId: string; content: string } & {
      subject?: string | null;
      parentMessageId?: string;
    },
  ): Promise<void> {
    await this.requests.request("threadline/messages/send", { ...params, senderId: USER });
    this.inbox.refresh();
  }

  /** The one it is about, or the one that is picked where a command comes from the palette. */
  private async message(given: unknown, title: string): Promise<ShownMessage | undefined> {
    if (given instanceof MessageNode) return given.message;
    if (isMessage(given)) return given;
    const waiting = merged(this.posts, "unread");
    if (waiting.length === 0) {
      void vscode.window.showInformationMessage("No message waits for you.");
      return undefined;
    }
    const choices = waiting.map((value) => ({
      label: headline(value),
      description: senderLine(value, this.labels(value.projectId)),
      value,
    }));
    return choose(title, choices);
  }

  private labels(projectId: string): Labels {
    const post = this.posts.find(({ project }) => project.projectId === projectId);
    return post?.labels ?? new Map();
  }

  private get posts(): readonly Post[] {
    return this.inbox.all ?? [];
  }
}

function isUnread(node: unknown): node is MessageNode {
  return node instanceof MessageNode && node.box === "unread";
}

function isMessage(given: unknown): given is ShownMessage {
  return typeof given === "object" && given !== null && "messageId" in given;
}

async function openInbox(): Promise<void> {
  await vscode.commands.executeCommand("threadline.inbox.focus");
}
