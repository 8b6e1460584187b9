/** What can be done with a session. */

import { useState } from "preact/hooks";
import { count } from "../../../shared/formats";
import { isRunning, obstacle } from "../../../shared/jobs";
import type { JobList, ShownSession } from "../../../shared/protocol.generated";
import { byteSize } from "../../../shared/stories";
import { useActing, useScene } from "../../asking";
import { useMaking } from "../../making";
import { Button } from "../../pieces";
import { Question } from "../../questions";

interface ActionsProps {
  readonly session: ShownSession;
  readonly jobs: JobList | undefined;
}

export function Actions({ session, jobs }: ActionsProps) {
  const why = jobs && obstacle(session, jobs.jobs);
  const isMaking = Boolean(jobs?.jobs.some(isRunning));
  return (
    <div class="actions-side">
      <div class="actions">
        <Generate session={session} isOff={!jobs || why !== undefined} isMaking={isMaking} />
        {session.status === "active" && <Close session={session} />}
        {session.status === "closed" && <Compact session={session} isOff={isMaking} />}
      </div>
      {why && !isMaking && <p class="muted reason">{why}</p>}
    </div>
  );
}

interface GenerateProps {
  readonly session: ShownSession;
  readonly isOff: boolean;
  readonly isMaking: boolean;
}

function Generate({ session, isOff, isMaking }: GenerateProps) {
  const { make, isBusy, share } = useMaking();
  return (
    <Button
      icon="spark"
      kind="primary"
      isOff={isOff || isBusy}
      onClick={() => make(session.sessionId)}
    >
      {isBusy || isMaking ? `Making Memory …${isBusy ? share : ""}` : "Generate Memory"}
    </Button>
  );
}

function Close({ session }: { readonly session: ShownSession }) {
  const { host, project } = useScene();
  const { act, isBusy } = useActing();
  const of = { project, sessionId: session.sessionId };
  return (
    <Button
      icon="close"
      isOff={isBusy}
      label="The next event opens a new session"
      onClick={() => act(() => host.request("threadline/sessions/close", of))}
    >
      Close
    </Button>
  );
}

function Compact({ session, isOff }: { readonly session: ShownSession; readonly isOff: boolean }) {
  const { host, project, tell } = useScene();
  const { act, isBusy } = useActing();
  const [isAsking, setAsking] = useState(false);
  const compact = async () => {
    setAsking(false);
    const of = { project, sessionId: session.sessionId };
    const { bytesBefore, bytesAfter } = await host.request("threadline/sessions/compact", of);
    const saved = Math.round(100 * (1 - bytesAfter / Math.max(bytesBefore, 1)));
    tell(`${byteSize(bytesBefore)} became ${byteSize(bytesAfter)}: ${saved} % saved.`, true);
  };
  return (
    <>
      <Button
        icon="compact"
        isOff={isBusy || isOff}
        label="Keep its events in less room"
        onClick={() => setAsking(true)}
      >
        Compact
      </Button>
      {isAsking && (
        <Question
          title="Compact this session?"
          deed="Compact"
          onYes={() => act(compact)}
          onNo={() => setAsking(false)}
        >
          {count(session.messageCount, "event")} become one compressed record. Everything stays
          readable here, and memory is not touched.
        </Question>
      )}
    </>
  );
}
