/** The latest jobs of every project in this window. */

import { Followed } from "../followed";
import type { Job, Project } from "../protocol.generated";
import type { Sidecar } from "../sidecar";
import { isRunning } from "./jobs";

const MOST = 30;

/** The jobs of one project, newest first. */
export interface Bench {
  readonly project: Project;
  readonly jobs: readonly Job[];
}

export class Workshop extends Followed<Bench> {
  constructor(sidecar: Sidecar) {
    super(sidecar, "jobs");
  }

  get jobs(): readonly Job[] {
    return (this.all ?? []).flatMap(({ jobs }) => jobs);
  }

  get running(): Job | undefined {
    return this.jobs.find(isRunning);
  }

  protected async read(project: Project): Promise<Bench> {
    const params = { project: project.projectId, limit: MOST };
    const { jobs } = await this.sidecar.request("threadline/enrichment/jobs", params);
    return { project, jobs };
  }
}
