/** Writing down a memory by hand. */

import { kept } from "../../../shared/remarks";
import { useActing, useScene } from "../../asking";
import { isChanged } from "../../drafts";
import { type Draft, EMPTY, written } from "./drafts";
import { Form } from "./form";

interface WriterProps {
  readonly draft: Draft;
  readonly onDraft: (draft: Draft | null) => void;
}

export function Writer({ draft, onDraft }: WriterProps) {
  const { host, project, tell } = useScene();
  const { act, isBusy } = useActing();
  const save = () =>
    act(async () => {
      const result = await host.request("threadline/memories/write", {
        project,
        ...written(draft),
      });
      onDraft(null);
      tell(kept(result), true);
    });
  return (
    <div class="card writer">
      <Form
        name="New memory"
        draft={draft}
        isBusy={isBusy}
        isChanged={isChanged({ draft, base: EMPTY })}
        saving="Remember"
        onChange={onDraft}
        onSave={() => void save()}
        onCancel={() => onDraft(null)}
      />
    </div>
  );
}
