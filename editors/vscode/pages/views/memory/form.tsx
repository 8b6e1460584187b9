/** The fields of a memory, as they are typed. */

import { useEffect, useRef } from "preact/hooks";
import { type MemoryType, TYPES } from "../../../shared/filters";
import { Button } from "../../pieces";
import { type Draft, flaw, LIMITS } from "./drafts";

interface FormProps {
  readonly name: string;
  readonly draft: Draft;
  readonly isBusy: boolean;
  /** Whether something was typed that is not kept yet: then only Cancel gives it up. */
  readonly isChanged: boolean;
  readonly saving: string;
  readonly onChange: (draft: Draft) => void;
  readonly onSave: () => void;
  readonly onCancel: () => void;
}

export function Form(props: FormProps) {
  const { name, draft, isBusy, isChanged, saving, onChange, onSave, onCancel } = props;
  const title = useRef<HTMLInputElement>(null);
  useEffect(() => title.current?.focus(), []);
  const problem = flaw(draft);
  const press = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      if (!isChanged) onCancel();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      if (!problem && !isBusy) onSave();
    }
  };
  return (
    <form
      class="memory-form"
      aria-label={name}
      onKeyDown={press}
      onSubmit={(event) => {
        event.preventDefault();
        if (!problem && !isBusy) onSave();
      }}
    >
      <label>
        Title
        <input
          ref={title}
          value={draft.title}
          maxLength={LIMITS.title}
          onInput={(event) => onChange({ ...draft, title: event.currentTarget.value })}
        />
      </label>
      <label>
        What is to be remembered
        <textarea
          rows={Math.min(Math.max(draft.content.split("\n").length + 1, 4), 16)}
          value={draft.content}
          onInput={(event) => onChange({ ...draft, content: event.currentTarget.value })}
        />
      </label>
      <div class="memory-form-row">
        <label>
          Type
          <select
            value={draft.type}
            onChange={(event) =>
              onChange({ ...draft, type: event.currentTarget.value as MemoryType })
            }
          >
            {TYPES.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <label>
          Importance
          <select
            value={draft.importance}
            onChange={(event) =>
              onChange({ ...draft, importance: Number(event.currentTarget.value) })
            }
          >
            {[5, 4, 3, 2, 1].map((value) => (
              <option key={value} value={value}>
                {value} of 5
              </option>
            ))}
          </select>
        </label>
        <label class="wide">
          Tags
          <input
            value={draft.tags}
            placeholder="storage, api"
            onInput={(event) => onChange({ ...draft, tags: event.currentTarget.value })}
          />
        </label>
      </div>
      <div class="memory-form-end">
        <Button kind="primary" isOff={isBusy || problem !== undefined} onClick={onSave}>
          {saving}
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
        <span class="muted hint">
          {draft.title && problem ? problem : `Ctrl+Enter saves${isChanged ? "" : ", Esc cancels"}`}
        </span>
      </div>
    </form>
  );
}
