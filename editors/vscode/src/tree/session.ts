/** A session, with its events beneath. */

import { MarkdownString, ThemeColor, ThemeIcon, TreeItem, TreeItemCollapsibleState } from "vscode";
import { clock, count, fileCount, length, moment, summary } from "../../shared/formats";
import { sourceKind, sourceName } from "../../shared/hosts";
import { ENRICHMENTS } from "../../shared/jobs";
import type { Session } from "../../shared/protocol.generated";
import { title } from "../../shared/stories";
import { sessionUri } from "./decorating";
import type { TreeNode } from "./node";
import { shortFacts, shortTitle } from "./rows";

const FILES_IN_TOOLTIP = 8;

export class SessionNode implements TreeNode {
  constructor(
    readonly session: Session,
    readonly children: () => Promise<TreeNode[]>,
  ) {}

  item(): TreeItem {
    const { session } = this;
    const label = title(session);
    const facts = `${clock(session.startedAt)} · ${summary(session)}`;
    const item = new TreeItem(shortTitle(session), TreeItemCollapsibleState.Collapsed);
    item.id = session.sessionId;
    item.description = shortFacts(session);
    item.iconPath = icon(session);
    item.resourceUri = sessionUri(session);
    item.contextValue = `session.${session.status}`;
    item.tooltip = tooltip(session);
    item.accessibilityInformation = {
      label: `${session.status} session, ${label}, ${facts}, ${ENRICHMENTS[session.enrichmentStatus]}`,
    };
    item.command = { command: "threadline.openSession", title: "Open Session", arguments: [this] };
    return item;
  }
}

function icon({ source, status }: Session): ThemeIcon {
  const color = status === "active" ? new ThemeColor("charts.green") : undefined;
  return new ThemeIcon(SYMBOLS[sourceKind(source)], color);
}

const SYMBOLS = { editor: "code", history: "history", agent: "hubot" } as const;

function tooltip(session: Session): MarkdownString {
  const text = new MarkdownString(undefined, true);
  text.appendText(`${title(session)}\n\n`);
  text.appendMarkdown(`**${heading(session)}**\n\n`);
  text.appendText(
    `${count(session.messageCount, "event")}, ${count(fileCount(session), "file")}, ${length(session)}\n`,
  );
  text.appendText(`Seen by ${session.sources.map(sourceName).join(", ")}\n`);
  text.appendText(`${ENRICHMENTS[session.enrichmentStatus]}\n\n`);
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
