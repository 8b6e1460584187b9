/** One conversation: what was said, who has read it, and an answer to it. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { agentName, type Labels, priorityName, USER } from "../../../shared/names";
import type { ShownMessage } from "../../../shared/protocol.generated";
import { receipts } from "../../../shared/receipts";
import { useActing, useAnswer, useScene } from "../../asking";
import { useKept } from "../../keeping";
import { Button, Chip, Moment, Waiting } from "../../pieces";
import { addressee, isNew, isOpen } from "./threads";

const MOST = 100;

interface ThreadProps {
  /** Any message of it. */
  readonly id: string;
  readonly labels: Labels;
  readonly onBack: () => void;
}

export function Thread({ id, labels, onBack }: ThreadProps) {
  const { host, project } = useScene();
  const { act, isBusy } = useActing();
  const preview = useHidden();
  // What is shown counts as read; what stands in a hidden window is not shown.
  const params = { agentId: USER, threadOf: id, limit: MOST, preview };
  const answer = useAnswer("threadline/messages/read", params, ["messages"]);
  const messages = answer.result?.messages ?? [];
  const open = messages.filter(isOpen);
  const settle = async () => {
    for (const { messageId } of open)
      await host.request("threadline/messages/ack", { project, messageId, agentId: USER });
  };
  const subject = messages.find((one) => one.subject?.trim())?.subject;
  return (
    <section class="thread" aria-label={subject ?? "Conversation"}>
      <div class="thread-head">
        <button type="button" class="link thread-back" onClick={onBack}>
          ← All Messages
        </button>
        {subject && <h3>{subject}</h3>}
      </div>
      {answer.isMissing ? (
        <p class="muted">There is no such message. It may belong to another project.</p>
      ) : (
        <Waiting answer={answer} />
      )}
      <ol class="letters">
        {messages.map((message) => (
          <li key={message.messageId}>
            <Letter message={message} labels={labels} />
          </li>
        ))}
      </ol>
      {messages.length > 0 && (
        <Reply
          messages={messages}
          labels={labels}
          id={id}
          onSent={settle}
          acknowledge={
            open.length > 0 && (
              <Button icon="check" isOff={isBusy} onClick={() => void act(settle)}>
                Acknowledge
              </Button>
            )
          }
        />
      )}
    </section>
  );
}

function Letter({ message, labels }: { readonly message: ShownMessage; readonly labels: Labels }) {
  const { senderId, targetId, content, category, priority, createdAt, expiresAt } = message;
  const own = message.handlings[USER];
  return (
    <article class={`letter ${senderId === USER ? "own" : ""} ${isOpen(message) ? "waits" : ""}`}>
      <p class="letter-head">
        <strong>{senderId === USER ? "You" : agentName(senderId, labels)}</strong>
        <span class="muted">to {agentName(targetId, labels)}</span>
        <Marks category={category} priority={priority} />
        <span class="muted letter-when">
          <Moment at={createdAt} />
        </span>
      </p>
      <p class="letter-words">{content}</p>
      <p class="muted letter-receipts">
        {[
          receipts(message, labels),
          own?.acknowledgedAt && "Acknowledged by you",
          isNew(message) && "New",
        ]
          .filter(Boolean)
          .join(" · ")}
        {expiresAt && (
          <>
            {" "}
            Vanishes <Moment at={expiresAt} />
          </>
        )}
      </p>
    </article>
  );
}

/** How pressing a message is and of what sort, where that is worth a word. */
export function Marks({ category, priority }: Pick<ShownMessage, "category" | "priority">) {
  const isAlarm = category === "alert" || category === "error";
  return (
    <>
      {priorityName(priority) && (
        <Chip tone={priority > 3 ? "bad" : "plain"}>{priorityName(priority)}</Chip>
      )}
      {category !== "info" && (
        <Chip tone={isAlarm ? "warm" : category === "request" ? "accent" : "plain"}>
          {category}
        </Chip>
      )}
    </>
  );
}

interface ReplyProps {
  readonly messages: readonly ShownMessage[];
  readonly labels: Labels;
  readonly id: string;
  readonly acknowledge: ComponentChildren;
  readonly onSent: () => Promise<void>;
}

function Reply({ messages, labels, id, acknowledge, onSent }: ReplyProps) {
  const { host, project, tell } = useScene();
  const { act, isBusy } = useActing();
  const [text, setText] = useKept(`reply ${id}`, "");
  const targetId = addressee(messages);
  const name = agentName(targetId, labels);
  const latest = messages.at(-1);
  const send = () =>
    act(async () => {
      await host.request("threadline/messages/send", {
        ...{ project, targetId, senderId: USER, content: text.trim() },
        subject: latest?.subject ?? null,
        parentMessageId: latest?.messageId ?? null,
      });
      setText("");
      tell(`Sent to ${name}.`, true);
      await onSent();
    });
  return (
    <form
      class="reply"
      aria-label={`Reply to ${name}`}
      onSubmit={(event) => event.preventDefault()}
    >
      <textarea
        rows={3}
        aria-label={`Reply to ${name}`}
        placeholder={`Reply to ${name}`}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && text.trim()) void send();
        }}
      />
      <div class="reply-row">
        <Button kind="primary" isOff={isBusy || !text.trim()} onClick={() => void send()}>
          Send
        </Button>
        {acknowledge}
        <span class="muted hint">Ctrl+Enter sends</span>
      </div>
    </form>
  );
}

function useHidden(): boolean {
  const [isHidden, setHidden] = useState(document.hidden);
  useEffect(() => {
    const look = () => setHidden(document.hidden);
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  return isHidden;
}
