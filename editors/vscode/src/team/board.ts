/** The tasks of every project in this window; of those that are done only the latest. */

import type { Project } from "../../shared/protocol.generated";
import type { Plan } from "../../shared/tasks";
import { Followed } from "../followed";
import type { Sidecar } from "../sidecar";
import { PAGE, readPlan } from "./plans";

const DONE = 20;

export class Board extends Followed<Plan> {
  private done = DONE;

  constructor(sidecar: Sidecar) {
    super(sidecar, "tasks");
  }

  showMore(): void {
    this.done = Math.min(this.done + DONE, PAGE);
    this.refresh();
  }

  get canShowMore(): boolean {
    return this.done < PAGE;
  }

  protected read(project: Project): Promise<Plan> {
    return readPlan(this.sidecar, project, this.done);
  }
}
