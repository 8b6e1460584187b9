/** The latest jobs of every project in this window. */

import { isRunning } from "../../shared/jobs";
import type { Job, Project } from "../../shared/protocol.generated";
import { Followed } from "../followed";
import type { Sidecar } from "../sidecar";

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
