/** The Pipeline Timeline: how far a job is, drawn while it runs. */

import { useEffect, useState } from "preact/hooks";
import {
  currentStage,
  isRunning,
  percentage,
  standing,
  timeSpan,
  workTime,
} from "../../../shared/jobs";
import type { Job } from "../../../shared/protocol.generated";
import { Icon } from "../../icons";
import { Moment } from "../../pieces";
import { type Segment, segments } from "../../pipelines";
import { JobActions, StatusChip } from "./jobs";

const TICK = 1000;

export function Pipeline({ job }: { readonly job: Job }) {
  const now = useNow(isRunning(job));
  return (
    <section class={`card pipeline ${job.status}`} aria-label="Pipeline">
      <header class="pipeline-head">
        <StatusChip job={job} />
        <span class="pipeline-words">{words(job)}</span>
        <span class="muted pipeline-time">
          {isRunning(job) ? (
            timeSpan(workTime(job, now))
          ) : (
            <>
              <Moment at={job.endedAt ?? job.createdAt} /> · {timeSpan(workTime(job, now))}
            </>
          )}
        </span>
        <JobActions job={job} />
      </header>
      <ol class="segments">
        {segments(job, now).map((segment) => (
          <Bar key={segment.name} segment={segment} />
        ))}
      </ol>
      <p class="unseen" role="status">
        {spoken(job)}
      </p>
    </section>
  );
}

function Bar({ segment }: { readonly segment: Segment }) {
  const { name, hint, status, width, filled, time, note, error } = segment;
  return (
    <li class={`segment ${status}`} style={{ flexGrow: width }} title={hint}>
      <span class={`bar ${filled === undefined ? "endless" : ""}`}>
        <span class="bar-fill" style={{ width: `${100 * (filled ?? 1)}%` }} />
      </span>
      <span class="segment-name">
        {status === "completed" && <Icon name="check" />}
        {status === "failed" && <Icon name="warning" />}
        {name}
        <span class="unseen"> {status}</span>
        {time && <span class="muted"> {time}</span>}
      </span>
      {note && <span class="segment-note muted">{note}</span>}
      {error && (
        <span class="segment-error" role="alert">
          {error}
        </span>
      )}
    </li>
  );
}

function words(job: Job): string {
  if (job.status === "processing") return `Making memory, ${percentage(job)} %`;
  if (job.status === "failed") return `Making memory failed in ${currentStage(job)?.name ?? "it"}`;
  return capital(standing(job));
}

/** Told to who cannot see: each stage once, not each of its steps. */
function spoken(job: Job): string {
  const stage = currentStage(job);
  return job.status === "processing" && stage ? `Making memory: ${stage.name}` : words(job);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The time, as long as it matters. */
function useNow(isTicking: boolean): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    setNow(new Date());
    if (!isTicking) return;
    const timer = setInterval(() => setNow(new Date()), TICK);
    return () => clearInterval(timer);
  }, [isTicking]);
  return now;
}
