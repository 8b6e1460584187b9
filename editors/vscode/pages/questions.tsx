/** Asks before something is done that is not undone by a click. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "./pieces";

interface QuestionProps {
  readonly title: string;
  /** What is done, as the button says it. */
  readonly deed: string;
  readonly onYes: () => void;
  readonly onNo: () => void;
  readonly children: ComponentChildren;
}

export function Question({ title, deed, onYes, onNo, children }: QuestionProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog class="question" ref={dialog} aria-labelledby="question-title" onClose={onNo}>
      <h3 id="question-title">{title}</h3>
      <p>{children}</p>
      <p class="question-answers">
        <Button kind="primary" onClick={onYes}>
          {deed}
        </Button>
        <Button onClick={() => dialog.current?.close()}>Cancel</Button>
      </p>
    </dialog>
  );
}
