/** Changing what a memory says, without losing what somebody else or oneself has typed. */

import { useEffect, useState } from "preact/hooks";
import type { Memory } from "../../../shared/protocol.generated";
import { useActing, useScene } from "../../asking";
import { begin, type Edit, insist, isChanged, isLater, rebased } from "../../drafts";
import { isConflict } from "../../hosts";
import { Button } from "../../pieces";
import { changes, type Draft, draftOf } from "./drafts";
import { Form } from "./form";

interface EditorProps {
  readonly memory: Memory;
  readonly edit: Edit<Draft>;
  readonly onEdit: (edit: Edit<Draft> | null) => void;
}

export function Editor({ memory: given, edit, onEdit }: EditorProps) {
  const { host, project, tell } = useScene();
  const { act, isBusy } = useActing();
  const [fresh, setFresh] = useState(given);
  const memory = isLater(fresh.updatedAt, given.updatedAt) ? fresh : given;
  const { memoryId, updatedAt } = memory;
  const theirs = draftOf(memory);
  const isOld = edit.updatedAt !== updatedAt;
  const moved = isOld ? rebased(edit, theirs, updatedAt) : edit;
  // What others changed elsewhere in it is taken over silently; nothing of it is lost.
  useEffect(() => {
    if (isOld && moved) onEdit(moved);
  }, [isOld, moved, onEdit]);
  const put = () =>
    host.request("threadline/memories/update", {
      ...{ project, memoryId, ...changes(edit) },
      expectedUpdatedAt: edit.updatedAt,
    });
  const read = () => host.request("threadline/memories/read", { project, memoryIds: [memoryId] });
  const save = () =>
    act(async () => {
      try {
        if (isChanged(edit)) await put();
      } catch (error) {
        const now = isConflict(error) && (await read()).memories[0];
        if (!now) throw error;
        setFresh(now);
        tell("Somebody was faster: look at it, then save again.");
        return;
      }
      onEdit(null);
      tell("Saved.", true);
    });
  return (
    <>
      {!moved && (
        <div class="clash" role="alert">
          <p>
            <strong>Somebody has changed this memory meanwhile.</strong> It now says “{memory.title}
            ”{memory.content === edit.base.content ? "." : `: ${memory.content}`}
          </p>
          <Button onClick={() => onEdit(insist(edit, theirs, updatedAt))}>Keep Mine</Button>
          <Button onClick={() => onEdit(begin(theirs, updatedAt))}>Take Theirs</Button>
        </div>
      )}
      <Form
        name="Edit memory"
        draft={edit.draft}
        isBusy={isBusy || !moved}
        isChanged={isChanged(edit)}
        saving="Save"
        onChange={(draft) => onEdit({ ...edit, draft })}
        onSave={() => void save()}
        onCancel={() => onEdit(null)}
      />
    </>
  );
}
