/** What can be done with a memory. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { FeedbackParams, Memory, UpdateParams } from "../../../shared/protocol.generated";
import { purged } from "../../../shared/remarks";
import { useActing, useScene } from "../../asking";
import { Button } from "../../pieces";

const TOLD: Readonly<Record<FeedbackParams["verdict"], string>> = {
  wrong: "Marked wrong: assistants do not get it any more.",
  stale: "Marked stale: it counts less from now on.",
  useful: "Marked useful: it counts more from now on.",
};

interface ActionsProps {
  readonly memory: Memory;
  readonly onEdit: () => void;
}

export function Actions({ memory, onEdit }: ActionsProps) {
  const { host, project, tell } = useScene();
  const { act, isBusy } = useActing();
  const [isAsked, setAsked] = useState(false);
  const { memoryId } = memory;
  const of = { project, memoryId };
  const judge = (verdict: FeedbackParams["verdict"]) =>
    act(async () => {
      await host.request("threadline/context/feedback", { ...of, verdict });
      tell(TOLD[verdict], true);
    });
  const change = (said: Partial<UpdateParams>) =>
    act(() => host.request("threadline/memories/update", { ...of, ...said }));
  const { place, follow } = useFollowing(memory.pinned);
  const pin = () =>
    act(async () => {
      follow();
      await host.request("threadline/memories/update", { ...of, pinned: !memory.pinned });
      tell(memory.pinned ? "Unpinned." : "Pinned: it stands first in the list now.", true);
    });
  if (isAsked) return <Farewell memory={memory} onKeep={() => setAsked(false)} />;
  return (
    <div class="memory-actions" ref={place}>
      <Button icon="pin" isOff={isBusy} onClick={() => void pin()}>
        {memory.pinned ? "Unpin" : "Pin"}
      </Button>
      <Button icon="edit" onClick={onEdit}>
        Edit
      </Button>
      {(memory.status === "stale" || memory.status === "proposed") && (
        <Button icon="check" isOff={isBusy} onClick={() => void change({ status: "active" })}>
          {memory.status === "stale" ? "Still True" : "Accept"}
        </Button>
      )}
      <fieldset class="memory-verdicts" aria-label="What do you think of it?">
        <Button
          isOff={isBusy}
          label="It counts more from now on"
          onClick={() => void judge("useful")}
        >
          Useful
        </Button>
        <Button
          isOff={isBusy}
          label="It counts less from now on"
          onClick={() => void judge("stale")}
        >
          Stale
        </Button>
        <Button isOff={isBusy} label="It is not given any more" onClick={() => void judge("wrong")}>
          Wrong
        </Button>
      </fieldset>
      <Button icon="trash" kind="danger" onClick={() => setAsked(true)}>
        Forget
      </Button>
    </div>
  );
}

/** What a person moves by their own hand stays in view. */
function useFollowing(cause: boolean) {
  const place = useRef<HTMLDivElement>(null);
  const isOwn = useRef(false);
  useLayoutEffect(() => {
    if (isOwn.current) place.current?.closest("article")?.scrollIntoView({ block: "nearest" });
    isOwn.current = false;
  }, [cause]);
  const follow = () => {
    isOwn.current = true;
  };
  return { place, follow };
}

/** Asks once, then removes it from everything and says what was removed. */
function Farewell({ memory, onKeep }: { readonly memory: Memory; readonly onKeep: () => void }) {
  const { host, project, tell } = useScene();
  const { act, isBusy } = useActing();
  const keep = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // What was told before must not cover what is asked now.
    tell("");
    keep.current?.querySelector("button")?.focus();
  }, [tell]);
  const forget = () =>
    act(async () => {
      const memoryIds = [memory.memoryId];
      const params = { project, memoryIds };
      const report = await host.request("threadline/memories/forget", params, {
        isConfirmed: true,
      });
      tell(purged(report), report.verified);
    });
  return (
    <div
      class="farewell"
      role="alertdialog"
      aria-label="Forget this memory?"
      ref={keep}
      onKeyDown={(event) => {
        if (event.key === "Escape") onKeep();
      }}
    >
      <p>
        <strong>Forget this memory for good?</strong> Its words are removed from every file of
        Threadline. This cannot be undone.
      </p>
      <Button isOff={isBusy} onClick={onKeep}>
        Keep
      </Button>
      <Button kind="danger" icon="trash" isOff={isBusy} onClick={() => void forget()}>
        {isBusy ? "Forgetting …" : "Forget for Good"}
      </Button>
    </div>
  );
}
