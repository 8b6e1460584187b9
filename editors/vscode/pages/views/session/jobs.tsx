/** The jobs of a session: what each stage took and what went wrong, with a way on. */

import { count } from "../../../shared/formats";
import {
  isRunning,
  made,
  outcome,
  PROVIDERS,
  STAGE_HINTS,
  sorted,
  stageTime,
  timeSpan,
  workTime,
} from "../../../shared/jobs";
import type { Job, JobList, Stage } from "../../../shared/protocol.generated";
import { useActing, useScene } from "../../asking";
import { Button, Chip, Empty, Moment, type Tone } from "../../pieces";
import { segments } from "../../pipelines";

const TONES: Readonly<Record<Job["status"], Tone>> = {
  pending: "plain",
  processing: "accent",
  completed: "good",
  failed: "bad",
  cancelled: "plain",
};

const WORDS: Readonly<Record<Job["status"], string>> = {
  pending: "waits",
  processing: "running",
  completed: "done",
  failed: "failed",
  cancelled: "cancelled",
};

export function JobsTab({ list }: { readonly list: JobList }) {
  if (list.jobs.length === 0)
    return (
      <Empty title="No memory was made from this session yet.">
        Generate Memory reads its events in four stages: enrich, embed, dedup, drift. Each job is
        kept here with what it took.
      </Empty>
    );
  return (
    <ul class="cards">
      {sorted(list.jobs).map((job) => (
        <li key={job.jobId}>
          <JobCard job={job} />
        </li>
      ))}
    </ul>
  );
}

export function StatusChip({ job }: { readonly job: Job }) {
  return <Chip tone={TONES[job.status]}>{WORDS[job.status]}</Chip>;
}

/** Retry what failed, cancel what runs. */
export function JobActions({ job }: { readonly job: Job }) {
  if (job.status === "failed") return <Retry job={job} />;
  return isRunning(job) ? <Cancel job={job} /> : null;
}

function Retry({ job }: { readonly job: Job }) {
  const { host, project, tell } = useScene();
  const { act, isBusy } = useActing();
  const retry = async () => {
    const done = await host.request("threadline/enrichment/retry", { project, jobId: job.jobId });
    if (done.status === "completed") tell(made(done), true);
  };
  return (
    <Button icon="retry" isOff={isBusy} onClick={() => act(retry)}>
      Retry
    </Button>
  );
}

function Cancel({ job }: { readonly job: Job }) {
  const { host, project } = useScene();
  const { act, isBusy } = useActing();
  const of = { project, jobId: job.jobId };
  return (
    <Button
      icon="stop"
      isOff={isBusy}
      onClick={() => act(() => host.request("threadline/enrichment/cancel", of))}
    >
      Cancel
    </Button>
  );
}

function JobCard({ job }: { readonly job: Job }) {
  const now = new Date();
  const facts = [
    PROVIDERS[job.provider],
    timeSpan(workTime(job, now)),
    job.events > 0 && count(job.events, "event"),
    job.tokens > 0 && count(job.tokens, "token"),
    job.attempts > 1 && `${job.attempts} tries`,
    job.automatic && "by itself",
  ];
  return (
    <article class={`card job ${job.status}`}>
      <header class="job-head">
        <StatusChip job={job} />
        <strong>{job.status === "completed" ? outcome(job) : <Moment at={job.createdAt} />}</strong>
        <span class="muted">
          {job.status === "completed" && (
            <>
              <Moment at={job.createdAt} /> ·{" "}
            </>
          )}
          {facts.filter(Boolean).join(" · ")}
        </span>
        <JobActions job={job} />
      </header>
      <table class="stages">
        <thead class="unseen">
          <tr>
            <th scope="col">Stage</th>
            <th scope="col">State</th>
            <th scope="col">Duration</th>
            <th scope="col">What came of it</th>
          </tr>
        </thead>
        <tbody>
          {segments(job, now).map(({ name, status, note, error }, index) => (
            <tr key={name} class={status}>
              <th scope="row" title={STAGE_HINTS[name]}>
                {name}
              </th>
              <td>{status}</td>
              <td class="stage-time">{stageSpan(job.stages[index], now)}</td>
              <td class="stage-note">{error ?? note}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {job.parked.length > 0 && (
        <p class="muted job-parked">
          {count(job.parked.length, "event")} could not be read and{" "}
          {job.parked.length === 1 ? "is" : "are"} left alone.
        </p>
      )}
    </article>
  );
}

function stageSpan(stage: Stage | undefined, now: Date): string {
  return stage?.startedAt ? timeSpan(stageTime(stage, now)) : "–";
}
