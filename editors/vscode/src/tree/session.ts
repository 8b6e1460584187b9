/** A session, with its events beneath. */

import { MarkdownString, ThemeColor, ThemeIcon, TreeItem, TreeItemCollapsibleState } from "vscode";
import { clock, count, fileCount, length, moment, summary } from "../formats";
import { isEditor, sourceName } from "../hosts";
import type { Session } from "../protocol.generated";
import type { TreeNode } from "./node";

const FILES_IN_TOOLTIP = 8;

export class SessionNode implements TreeNode {
  constructor(
    readonly session: Session,
    readonly children: () => Promise<TreeNode[]>,
  ) {}

  item(): TreeItem {
    const { session } = this;
    const label = moment(session.startedAt, new Date());
    const item = new TreeItem(label, TreeItemCollapsibleState.Collapsed);
    item.id = session.sessionId;
    item.description = summary(session);
    item.iconPath = icon(session);
    item.contextValue = `session.${session.status}`;
    item.tooltip = tooltip(session);
    item.accessibilityInformation = {
      label: `${session.status} session, ${label}, ${summary(session)}`,
    };
    return item;
  }
}

function icon({ source, status }: Session): ThemeIcon {
  const color = status === "active" ? new ThemeColor("charts.green") : undefined;
  return new ThemeIcon(symbol(source), color);
}

function symbol(source: string): string {
  if (isEditor(source)) return "code";
  return source.startsWith("cli") ? "history" : "hubot";
}

function tooltip(session: Session): MarkdownString {
  const text = new MarkdownString(undefined, true);
  text.appendMarkdown(`**${heading(session)}**\n\n`);
  text.appendText(
    `${count(session.messageCount, "event")}, ${count(fileCount(session), "file")}, ${length(session)}\n`,
  );
  text.appendText(`Seen by ${session.sources.map(sourceName).join(", ")}\n\n`);
  for (const path of session.filesModified.slice(0, FILES_IN_TOOLTIP)) {
    text.appendMarkdown("$(file) ").appendText(`${path}\n`);
  }
  const hidden = fileCount(session) - FILES_IN_TOOLTIP;
  if (hidden > 0) text.appendText(`and ${count(hidden, "more file")}`);
  return text;
}

function heading({ startedAt, lastEventAt, status }: Session): string {
  const times = `${moment(startedAt, new Date())} – ${clock(lastEventAt)}`;
  return status === "active" ? `${times} $(pulse) active` : times;
}
