/** The making of memory from one session; a click opens that session. */

import { MarkdownString, ThemeColor, ThemeIcon, TreeItem, TreeItemCollapsibleState } from "vscode";
import { moment } from "../../shared/formats";
import { isRunning, PROVIDERS, percentage, standing, timeSpan, workTime } from "../../shared/jobs";
import type { Job } from "../../shared/protocol.generated";
import type { TreeNode } from "./node";
import { StageNode } from "./stage";

interface Place {
  /** What the session was about, where that is known. */
  readonly title: string | undefined;
  /** Named where the window holds more than one. */
  readonly project: string;
}

export class JobNode implements TreeNode {
  constructor(
    readonly job: Job,
    private readonly place: Place,
  ) {}

  item(): TreeItem {
    const { job } = this;
    const label = this.place.title ?? `Memory of ${moment(job.createdAt, new Date())}`;
    const item = new TreeItem(label, TreeItemCollapsibleState.Collapsed);
    item.id = job.jobId;
    item.description = this.description();
    item.iconPath = icon(job);
    item.contextValue = `job.${job.status}`;
    item.tooltip = this.tooltip(label);
    item.accessibilityInformation = { label: `${job.status} job: ${label}, ${standing(job)}` };
    item.command = { command: "threadline.openSession", title: "Open Session", arguments: [this] };
    return item;
  }

  children(): TreeNode[] {
    return this.job.stages.map((stage) => new StageNode(stage, this.job));
  }

  private description(): string {
    const { job, place } = this;
    const time = moment(job.endedAt ?? job.createdAt, new Date());
    const parts = isRunning(job)
      ? [`${percentage(job)} %`, standing(job), place.project]
      : [standing(job), place.project, time];
    return parts.filter(Boolean).join(" · ");
  }

  private tooltip(label: string): MarkdownString {
    const { job } = this;
    const facts = [PROVIDERS[job.provider], timeSpan(workTime(job, new Date()))];
    const text = new MarkdownString(undefined, true);
    text.appendMarkdown("**").appendText(label).appendMarkdown("**\n\n");
    text.appendText(`${standing(job)}\n${facts.join(", ")}`);
    return text;
  }
}

const ICONS: Readonly<Record<Job["status"], readonly [string, string?]>> = {
  pending: ["clock"],
  processing: ["loading~spin"],
  completed: ["pass", "charts.green"],
  failed: ["error", "list.errorForeground"],
  cancelled: ["circle-slash"],
};

function icon({ status }: Job): ThemeIcon {
  const [name, color] = ICONS[status];
  return new ThemeIcon(name, color ? new ThemeColor(color) : undefined);
}
