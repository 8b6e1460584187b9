/** One of the four stages of a job. */

import { ThemeIcon, TreeItem } from "vscode";
import { progress, STAGE_HINTS, stageTime, timeSpan } from "../../shared/jobs";
import type { Job, Stage } from "../../shared/protocol.generated";
import type { TreeNode } from "./node";

const ICONS: Readonly<Record<Stage["status"], string>> = {
  pending: "circle-outline",
  processing: "loading~spin",
  completed: "check",
  failed: "close",
};

export class StageNode implements TreeNode {
  constructor(
    private readonly stage: Stage,
    private readonly job: Job,
  ) {}

  item(): TreeItem {
    const { stage, job } = this;
    const item = new TreeItem(stage.name);
    const words = stage.error ?? (stage.status === "processing" ? progress(stage) : stage.note);
    const time = stage.startedAt ? timeSpan(stageTime(stage, new Date())) : "";
    item.id = `${job.jobId}/${stage.name}`;
    item.description = [time, words].filter(Boolean).join(" · ");
    item.iconPath = new ThemeIcon(ICONS[stage.status]);
    item.contextValue = "stage";
    item.tooltip = stage.error ?? STAGE_HINTS[stage.name];
    item.accessibilityInformation = {
      label: `${stage.name}, ${stage.status}, ${item.description}`,
    };
    return item;
  }

  children(): TreeNode[] {
    return [];
  }
}
