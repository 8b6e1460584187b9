/** The inbox: what agents tell the person, and what the person tells them. */

import { useMemo, useState } from "preact/hooks";
import { firstLine } from "../../shared/formats";
import { type Labels, USER } from "../../shared/names";
import type { ReadMessagesParams } from "../../shared/protocol.generated";
import { useAgents } from "../agents";
import { useAnswer } from "../asking";
import { Button, Empty, Moment, Waiting } from "../pieces";
import { Composer } from "./inbox/composer";
import { Marks, Thread } from "./inbox/thread";
import { type Conversation, company, conversations } from "./inbox/threads";

const MOST = 100;
const LATEST = 50;

export function InboxView({ id }: { readonly id: string | undefined }) {
  const [chosen, choose] = useState(id);
  const [isWriting, setWriting] = useState(false);
  const labels = useAgents("messages");
  const { all, unread, answer } = useConversations();
  const shown = all.find(({ messages }) => messages.some((one) => one.messageId === chosen));
  const open = shown?.latest.messageId ?? chosen;
  return (
    <>
      <div class="heading">
        <h2>Inbox</h2>
        <p class="muted" role="status">
          {answer.result && (unread === 0 ? "nothing waits for you" : `${unread} unread`)}
        </p>
        <span class="heading-end">
          <Button icon="add" kind="primary" onClick={() => setWriting(true)}>
            New Message
          </Button>
        </span>
      </div>
      {isWriting && <Composer labels={labels} onEnd={() => setWriting(false)} />}
      <Waiting answer={answer} />
      {answer.result && all.length === 0 && !isWriting && (
        <Empty title="No messages yet.">
          Agents that work here can write to you, and you to them: what one finds out, the next
          should know. Claude Code, Codex and others do it with the tool <code>send_message</code>.
        </Empty>
      )}
      {all.length > 0 && (
        <div class={`post ${open ? "reading" : ""}`}>
          <ul class="threads" aria-label="Conversations">
            {all.map((one) => (
              <li key={one.id}>
                <Row
                  conversation={one}
                  labels={labels}
                  isChosen={one === shown}
                  onChoose={() => choose(one.latest.messageId)}
                />
              </li>
            ))}
          </ul>
          {open ? (
            <Thread
              key={shown?.id ?? open}
              id={shown?.messages[0]?.messageId ?? open}
              labels={labels}
              onBack={() => choose(undefined)}
            />
          ) : (
            <p class="muted thread-none">Choose a message to read it.</p>
          )}
        </div>
      )}
    </>
  );
}

interface RowProps {
  readonly conversation: Conversation;
  readonly labels: Labels;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

function Row({ conversation, labels, isChosen, onChoose }: RowProps) {
  const { latest, open, subject, messages } = conversation;
  const urgent = open.toSorted((a, b) => b.priority - a.priority)[0] ?? latest;
  const isUnread = open.length > 0;
  return (
    <button
      type="button"
      class={`thread-row ${isUnread ? "unread" : ""}`}
      aria-current={isChosen ? "true" : undefined}
      onClick={onChoose}
    >
      <span class="thread-who">
        {isUnread && <span class="unseen">unread: </span>}
        {company(conversation, labels)}
        {messages.length > 1 && <span class="muted"> {messages.length}</span>}
      </span>
      <span class="muted thread-when">
        <Moment at={latest.createdAt} />
      </span>
      <span class="thread-subject">{subject}</span>
      <span class="thread-marks">
        <Marks category={urgent.category} priority={urgent.priority} />
      </span>
      <span class="muted thread-glance">
        {latest.senderId === USER && "You: "}
        {firstLine(latest.content)}
      </span>
    </button>
  );
}

/** What waits, what was dealt with lately, and what was sent; looking at the list reads nothing. */
function useConversations() {
  const waiting = useMessages({ status: "open", limit: MOST });
  const settled = useMessages({ status: "acknowledged", limit: LATEST });
  const sent = useMessages({ status: "all", sent: true, limit: LATEST });
  const lists = [waiting, settled, sent].map(({ result }) => result?.messages);
  const all = useMemo(() => conversations(lists.flatMap((list) => list ?? [])), lists);
  const isWaiting = [waiting, settled, sent].find(({ result, problem }) => problem || !result);
  return { all, unread: waiting.result?.total ?? 0, answer: isWaiting ?? waiting };
}

function useMessages(params: ReadMessagesParams) {
  return useAnswer("threadline/messages/read", { agentId: USER, preview: true, ...params }, [
    "messages",
  ]);
}
