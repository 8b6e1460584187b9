/** Writing a message to an agent, or to all of them. */

import { useEffect, useRef } from "preact/hooks";
import { agentName, EVERYONE, type Labels, USER } from "../../../shared/names";
import { useActing, useScene } from "../../asking";
import { useKept } from "../../keeping";
import { Button } from "../../pieces";
import { PriorityChoice } from "../tasks/choices";

const CATEGORIES = ["info", "request", "alert", "error"] as const;
const EMPTY = {
  target: EVERYONE,
  other: "",
  subject: "",
  content: "",
  priority: 3,
  category: "info",
};

interface ComposerProps {
  readonly labels: Labels;
  readonly onEnd: () => void;
}

export function Composer({ labels, onEnd }: ComposerProps) {
  const { host, project, tell } = useScene();
  const { act, isBusy } = useActing();
  const [letter, setLetter] = useKept("new message", EMPTY);
  const words = useRef<HTMLTextAreaElement>(null);
  useEffect(() => words.current?.focus(), []);
  const set = (some: Partial<typeof EMPTY>) => setLetter({ ...letter, ...some });
  const targetId = letter.target || letter.other.trim();
  const canSend = targetId !== "" && letter.content.trim() !== "" && !isBusy;
  const send = () =>
    act(async () => {
      const { subject, content, priority, category } = letter;
      const sent = await host.request("threadline/messages/send", {
        ...{ project, targetId, senderId: USER, content: content.trim(), priority, category },
        subject: subject.trim() || null,
      });
      const name = agentName(targetId, labels);
      if (sent.isTargetKnown) tell(`Sent to ${name}.`, true);
      else {
        const meant = sent.meant ? ` Did you mean ${sent.meant}?` : "";
        tell(`Sent, but ${name} was never here; it finds the message when it comes.${meant}`, true);
      }
      setLetter(EMPTY);
      onEnd();
    });
  const press = (event: KeyboardEvent) => {
    if (event.key === "Escape") onEnd();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && canSend) void send();
  };
  return (
    <form
      class="card composer"
      aria-label="New message"
      onKeyDown={press}
      onSubmit={(event) => event.preventDefault()}
    >
      <div class="reply-row">
        <label>
          To
          <select
            value={letter.target}
            onChange={(event) => set({ target: event.currentTarget.value })}
          >
            <option value={EVERYONE}>All Agents</option>
            {[...labels]
              .filter(([id]) => id !== USER)
              .map(([id, label]) => (
                <option key={id} value={id}>
                  {label}
                </option>
              ))}
            <option value="">Another …</option>
          </select>
        </label>
        {letter.target === "" && (
          <label>
            Its id
            <input
              value={letter.other}
              placeholder="claude-code"
              onInput={(event) => set({ other: event.currentTarget.value })}
            />
          </label>
        )}
        <div class="labelled">
          <span aria-hidden="true">Priority</span>
          <PriorityChoice
            value={letter.priority}
            name="Priority"
            onChange={(priority) => set({ priority })}
          />
        </div>
        <label>
          Category
          <select
            value={letter.category}
            onChange={(event) => set({ category: event.currentTarget.value })}
          >
            {CATEGORIES.map((category) => (
              <option key={category} value={category}>
                {category}
              </option>
            ))}
          </select>
        </label>
      </div>
      <label>
        Subject
        <input
          maxLength={200}
          value={letter.subject}
          onInput={(event) => set({ subject: event.currentTarget.value })}
        />
      </label>
      <label>
        Message
        <textarea
          ref={words}
          rows={4}
          value={letter.content}
          onInput={(event) => set({ content: event.currentTarget.value })}
        />
      </label>
      <div class="reply-row">
        <Button kind="primary" isOff={!canSend} onClick={() => void send()}>
          Send
        </Button>
        <Button onClick={onEnd}>Cancel</Button>
        <span class="muted hint">It is delivered when the agent next looks.</span>
      </div>
    </form>
  );
}
