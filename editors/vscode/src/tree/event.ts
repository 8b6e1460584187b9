/** Something that happened in a session: a commit, a save, a capture. */

import { MarkdownString, ThemeIcon, TreeItem, TreeItemCollapsibleState } from "vscode";
import { headline } from "../../shared/events";
import { clock, count } from "../../shared/formats";
import { sourceName } from "../../shared/hosts";
import type { Commit, Event } from "../../shared/protocol.generated";
import { FileNode } from "./file";
import type { TreeNode } from "./node";

const SHORT_SHA = 7;

/** A save of one file is that file; everything else is a row with its files beneath. */
export function eventNode(event: Event, projectId: string): TreeNode {
  const [file, ...rest] = event.files;
  const time = clock(event.occurredAt);
  if (event.kind === "save" && file && rest.length === 0) {
    return new FileNode(file, { id: event.eventId, projectId, note: time });
  }
  return new EventNode(event, projectId);
}

export class EventNode implements TreeNode {
  constructor(
    private readonly event: Event,
    private readonly projectId: string,
  ) {}

  item(): TreeItem {
    const { event } = this;
    const item = new TreeItem(headline(event), this.collapsible());
    item.id = event.eventId;
    item.description = [event.commit?.sha.slice(0, SHORT_SHA), clock(event.occurredAt)]
      .filter(Boolean)
      .join(" · ");
    item.iconPath = new ThemeIcon(ICONS[event.kind]);
    item.contextValue = `event.${event.kind}`;
    item.tooltip = tooltip(event);
    return item;
  }

  children(): TreeNode[] {
    const { event, projectId } = this;
    return event.files.map((file) => {
      const id = `${event.eventId}/${file.path}`;
      return new FileNode(file, { id, projectId, note: file.status ?? "" });
    });
  }

  private collapsible(): TreeItemCollapsibleState {
    return this.event.files.length > 0
      ? TreeItemCollapsibleState.Collapsed
      : TreeItemCollapsibleState.None;
  }
}

const ICONS = { commit: "git-commit", save: "save", capture: "note" } as const;

function tooltip(event: Event): MarkdownString {
  const text = new MarkdownString(undefined, true);
  const { commit } = event;
  if (commit) appendCommit(text, commit);
  if (event.text) text.appendText(`${event.text}\n\n`);
  text.appendText(`${count(event.files.length, "file")}, seen by ${sourceName(event.source)}`);
  return text;
}

function appendCommit(text: MarkdownString, commit: Commit): void {
  text.appendText(`${commit.subject ?? ""}\n\n`);
  if (commit.body) text.appendText(`${commit.body}\n\n`);
  text.appendMarkdown(`$(git-commit) \`${commit.sha.slice(0, SHORT_SHA)}\` `);
  text.appendText(`${commit.authorName ?? ""}\n\n`);
}
