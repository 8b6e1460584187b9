/** One session: what happened, the memory that was made of it, and how. */

import { useState } from "preact/hooks";
import { isRunning } from "../../shared/jobs";
import type { Job } from "../../shared/protocol.generated";
import { title } from "../../shared/stories";
import { useAnswer } from "../asking";
import { Empty, Waiting, Way } from "../pieces";
import { Tabs } from "../tabs";
import { useTitle } from "../titles";
import { EventsTab } from "./session/events";
import { Header } from "./session/header";
import { JobsTab } from "./session/jobs";
import { MemoriesTab } from "./session/memories";
import { Pipeline } from "./session/pipeline";

const MOST_JOBS = 50;
const MOST_MEMORIES = 50;

type TabName = "events" | "jobs" | "memories";

export function SessionView({ id }: { readonly id: string }) {
  const [tab, setTab] = useState<TabName>("events");
  const session = useAnswer("threadline/sessions/get", { sessionId: id }, ["sessions"]);
  const jobs = useAnswer("threadline/enrichment/jobs", { sessionId: id, limit: MOST_JOBS }, [
    "jobs",
  ]);
  const memories = useAnswer(
    "threadline/memories/search",
    {
      sessionId: id,
      topK: MOST_MEMORIES,
      statuses: ["active", "stale", "superseded"],
      allBranches: true,
    },
    ["memories"],
  );
  const told = session.result;
  useTitle(told && title(told));
  if (session.isMissing)
    return (
      <Empty
        title="There is no such session."
        deeds={<Way to={{ page: "sessions" }}>← All Sessions</Way>}
      >
        It may belong to another project.
      </Empty>
    );
  if (!told) return <Waiting answer={session} />;
  const latest = latestOf(jobs.result?.jobs ?? []);
  return (
    <>
      <Waiting answer={session} />
      <Header session={told} jobs={jobs.result} />
      {latest && <Pipeline job={latest} />}
      <Tabs<TabName>
        label="Session"
        tabs={[
          { name: "events", title: "Events", count: told.messageCount },
          { name: "jobs", title: "Jobs", count: jobs.result?.total },
          { name: "memories", title: "Memories", count: memories.result?.total },
        ]}
        chosen={tab}
        onChoose={setTab}
      >
        {tab === "events" && <EventsTab session={told} />}
        {tab === "jobs" &&
          (jobs.result ? <JobsTab list={jobs.result} /> : <Waiting answer={jobs} />)}
        {tab === "memories" &&
          (memories.result ? (
            <MemoriesTab found={memories.result} />
          ) : (
            <Waiting answer={memories} />
          ))}
      </Tabs>
    </>
  );
}

/** What runs, or else what was begun last. */
function latestOf(jobs: readonly Job[]): Job | undefined {
  return jobs.find(isRunning) ?? jobs[0];
}
