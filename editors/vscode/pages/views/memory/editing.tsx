/** Changing what a memory says, without losing what somebody else or oneself has typed. */

import { useEffect, useState } from "preact/hooks";
import type { Memory } from "../../../src/protocol.generated";
import { useActing, useScene } from "../../asking";
import { Button } from "../../pieces";
import { begin, changes, type Edit, insist, isChanged, rebased } from "./drafts";
import { Form } from "./form";

interface EditorProps {
  readonly memory: Memory;
  readonly edit: Edit;
  readonly onEdit: (edit: Edit | null) => void;
}

export function Editor({ memory: given, edit, onEdit }: EditorProps) {
  const { host, project, tell } = useScene();
  const { act, isBusy } = useActing();
  const [fresh, setFresh] = useState(given);
  const memory = fresh.updatedAt > given.updatedAt ? fresh : given;
  const { memoryId } = memory;
  const isOld = edit.updatedAt !== memory.updatedAt;
  const moved = isOld ? rebased(edit, memory) : edit;
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
        const now = (await read()).memories[0];
        if (!now || now.updatedAt === edit.updatedAt) throw error;
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
          <Button onClick={() => onEdit(insist(edit, memory))}>Keep Mine</Button>
          <Button onClick={() => onEdit(begin(memory))}>Take Theirs</Button>
        </div>
      )}
      <Form
        name="Edit memory"
        draft={edit.draft}
        isBusy={isBusy || !moved}
        saving="Save"
        onChange={(draft) => onEdit({ ...edit, draft })}
        onSave={() => void save()}
        onCancel={() => onEdit(null)}
      />
    </>
  );
}
