/** What a person thinks of a memory: one click, and one to take it back. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { FeedbackParams, ItemWords } from "../../../shared/protocol.generated";
import { useActing, useScene } from "../../asking";
import type { IconName } from "../../icons";
import { Button } from "../../pieces";

type Opinion = FeedbackParams["verdict"];

const VERDICTS: readonly { verdict: Opinion; name: string; icon: IconName; hint: string }[] = [
  { verdict: "useful", name: "Useful", icon: "useful", hint: "It counts more from now on" },
  { verdict: "stale", name: "Stale", icon: "stale", hint: "It counts less from now on" },
  { verdict: "wrong", name: "Wrong", icon: "close", hint: "It is not given any more" },
];

interface LastSaid {
  readonly memoryId: string;
  readonly title: string;
  readonly verdict: Opinion;
}

export interface Opinions {
  readonly last: LastSaid | undefined;
  readonly isBusy: boolean;
  readonly say: (said: LastSaid) => void;
  readonly takeBack: (memoryId: string) => void;
}

/** Say what one thinks; what is shown is asked for anew at once. */
export function useOpinions(onChange: () => void): Opinions {
  const { host, project } = useScene();
  const { act, isBusy } = useActing();
  const [last, setLast] = useState<LastSaid>();
  const say = (said: LastSaid) =>
    void act(async () => {
      const { memoryId, verdict } = said;
      await host.request("threadline/context/feedback", { project, memoryId, verdict });
      setLast(said);
      onChange();
    });
  const takeBack = (memoryId: string) =>
    void act(async () => {
      await host.request("threadline/context/retract", { project, memoryId });
      setLast(undefined);
      onChange();
    });
  return { last, isBusy, say, takeBack };
}

export function OpinionButtons({
  id,
  words,
  opinions,
}: {
  readonly id: string;
  readonly words: ItemWords;
  readonly opinions: Opinions;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend that is shown.
    <span class="opinions" role="group" aria-label={`What you think of ${words.title}`}>
      {VERDICTS.map(({ verdict, name, icon, hint }) => (
        <Button
          key={verdict}
          icon={icon}
          label={hint}
          isOff={opinions.isBusy}
          onClick={() => opinions.say({ memoryId: id, title: words.title, verdict })}
        >
          {name}
        </Button>
      ))}
    </span>
  );
}

/** What was said last; who said it by keyboard goes on from here, since the item may have gone. */
export function Said({ opinions }: { readonly opinions: Opinions }) {
  const { last, takeBack, isBusy } = opinions;
  const line = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // A button that is off takes no focus.
    if (last && !isBusy) line.current?.querySelector("button")?.focus({ preventScroll: true });
  }, [last, isBusy]);
  const undo = (memoryId: string) => {
    line.current?.focus({ preventScroll: true });
    takeBack(memoryId);
  };
  return (
    <div class="said" role="status" tabIndex={-1} ref={line}>
      {last && (
        <p>
          You said “{last.title}” is {last.verdict}.{" "}
          <button type="button" class="link" disabled={isBusy} onClick={() => undo(last.memoryId)}>
            Undo
          </button>
        </p>
      )}
    </div>
  );
}
