/** What was given to conversations of late, and again what it was. */

import { useId, useState } from "preact/hooks";
import { count } from "../../../shared/formats";
import { sourceName } from "../../../shared/hosts";
import type { Receipt } from "../../../shared/protocol.generated";
import { useAnswer } from "../../asking";
import { Icon } from "../../icons";
import { Button, Chip, Moment, Waiting } from "../../pieces";
import { Given } from "./given";
import { LeftOut } from "./leftout";
import { HOSTS, MODES, occasion } from "./words";

const PAGE = 10;
const MOST = 100;

export function Receipts() {
  const [limit, setLimit] = useState(PAGE);
  const answer = useAnswer("threadline/context/receipts", { limit }, ["conversations", "memories"]);
  const found = answer.result;
  return (
    <section class="receipts" aria-label="Given lately">
      <h3>
        Given lately <span class="muted">{found?.total || ""}</span>
      </h3>
      <Waiting answer={answer} />
      {found?.total === 0 && (
        <p class="muted">
          Nothing yet. Whenever an assistant is given context, a receipt of it is kept here:{" "}
          <code>threadline connect</code> lets assistants ask for it.
        </p>
      )}
      <ul>
        {found?.receipts.map((receipt) => (
          <li key={receipt.receiptId} class="card receipt">
            <Row receipt={receipt} />
          </li>
        ))}
      </ul>
      {found && found.total > found.receipts.length && limit < MOST && (
        <Button onClick={() => setLimit(Math.min(limit + PAGE, MOST))}>Show Earlier Ones</Button>
      )}
    </section>
  );
}

function Row({ receipt }: { readonly receipt: Receipt }) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const facts = [
    receipt.host ? `for ${HOSTS[receipt.host] ?? receipt.host}` : "as an answer",
    MODES[receipt.mode].toLowerCase(),
    count(receipt.items.length, "item"),
    `${receipt.chars.toLocaleString("en")} of ${receipt.cap.toLocaleString("en")} characters`,
    receipt.times > 1 && `${receipt.times} times`,
  ];
  return (
    <>
      <button
        type="button"
        class="receipt-head"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={isOpen ? "down" : "forth"} />
        <span class="receipt-who">{sourceName(receipt.agentId)}</span>
        <span class="muted">
          <Moment at={receipt.lastGivenAt} />
        </span>
        <span class="receipt-facts muted">{facts.filter(Boolean).join(" · ")}</span>
        <span class="card-chips">
          {receipt.recoveredFrom && <Chip tone="accent">recovered</Chip>}
          {occasion(receipt) && <Chip>{occasion(receipt)}</Chip>}
        </span>
      </button>
      <div id={id}>{isOpen && <Replayed receipt={receipt} />}</div>
    </>
  );
}

/** What was given, in the words it has now. */
function Replayed({ receipt }: { readonly receipt: Receipt }) {
  const { receiptId } = receipt;
  const answer = useAnswer("threadline/context/receipts", { receiptId, replay: true }, [
    "memories",
  ]);
  const replay = answer.result?.replays[0];
  if (!replay) return <Waiting answer={answer} />;
  const changes = [
    replay.changed.length > 0 && `${count(replay.changed.length, "item")} changed since`,
    replay.forgotten.length > 0 && `${count(replay.forgotten.length, "item")} forgotten since`,
  ].filter(Boolean);
  return (
    <div class="replay">
      {receipt.query && <p class="muted">Asked: “{receipt.query}”</p>}
      <p class="muted">In the words it has now{changes.map((one) => `, ${one}`)}.</p>
      <Given items={receipt.items} words={replay.words} />
      <LeftOut items={receipt.leftOut} words={replay.words} />
    </div>
  );
}
