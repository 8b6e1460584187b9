/** Making memory from a session, and how to begin where there is none yet. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { made } from "../shared/jobs";
import type { Session } from "../shared/protocol.generated";
import { useActing, useAnswer, useScene } from "./asking";
import { ImportHistory } from "./importing";
import { Button, Empty, Waiting } from "./pieces";

const LATEST = 50;

export interface Making {
  readonly make: (sessionId: string) => void;
  readonly isBusy: boolean;
  /** How much is done, as words that follow others. */
  readonly share: string;
}

export function useMaking(): Making {
  const { host, project, tell } = useScene();
  const { act, isBusy } = useActing();
  const [share, setShare] = useState("");
  const make = (sessionId: string) =>
    void act(async () => {
      setShare("");
      const job = await host.request(
        "threadline/enrichment/start",
        { project, sessionId },
        { onProgress: ({ percentage }) => setShare(percentage ? ` ${percentage} %` : "") },
      );
      if (job.status === "completed") tell(made(job), true);
    });
  return { make, isBusy, share };
}

interface BeginningProps {
  readonly title: string;
  readonly children?: ComponentChildren;
}

/** Says that there is no memory yet, and offers the next step towards one. */
export function Beginning({ title, children }: BeginningProps) {
  const answer = useAnswer("threadline/sessions/list", { limit: LATEST }, ["sessions", "jobs"]);
  const { make, isBusy, share } = useMaking();
  const sessions = answer.result?.sessions;
  if (!sessions) return <Waiting answer={answer} />;
  const next = sessions.find(isUnread);
  if (sessions.length === 0)
    return (
      <Empty title={title} deeds={<ImportHistory />}>
        Memory is made from sessions, and there is none yet: commits and saves become one as they
        happen. What was committed before can be brought in. {children}
      </Empty>
    );
  if (!next)
    return (
      <Empty title={title}>
        The latest sessions were read, and nothing in them was worth keeping. {children}
      </Empty>
    );
  return (
    <Empty
      title={title}
      deeds={
        <Button icon="spark" kind="primary" isOff={isBusy} onClick={() => make(next.sessionId)}>
          {isBusy ? `Making Memory …${share}` : "Generate Memory from the Latest Session"}
        </Button>
      }
    >
      Memory is made from sessions: what was decided and why, and what is left to do. {children}
    </Empty>
  );
}

function isUnread({ enrichmentStatus }: Session): boolean {
  return enrichmentStatus !== "completed" && enrichmentStatus !== "processing";
}
