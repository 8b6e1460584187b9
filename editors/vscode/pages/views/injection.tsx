/** Context: what an assistant is told when it starts now, why, and what it is not told. */

import { useEffect, useState } from "preact/hooks";
import type { Account, GivenItem, Receipt } from "../../shared/protocol.generated";
import { useAnswer } from "../asking";
import { Beginning } from "../making";
import { Empty, Switch, Waiting } from "../pieces";
import { AsText } from "./injection/astext";
import { Given } from "./injection/given";
import { LeftOut } from "./injection/leftout";
import { Meter } from "./injection/meter";
import { Said, useOpinions } from "./injection/opinions";
import { Receipts } from "./injection/receipts";
import { HOSTS, MODES, type Mode } from "./injection/words";

const PATIENCE = 250;

interface Choice {
  readonly host: string;
  readonly mode: Mode;
  readonly query: string;
}

/** What was last chosen, for as long as the page is there. */
let chosen: Choice = { host: "claude-code", mode: "default", query: "" };

export function InjectionView() {
  const [choice, setChoice] = useState(chosen);
  const [isText, setText] = useState(false);
  const query = useCalm(choice.query);
  const { host, mode } = choice;
  // A person who pastes is no agent.
  const who = host === "clipboard" ? {} : { agentId: host, harness: host };
  const answer = useAnswer("threadline/context/explain", { ...who, host, mode, query }, [
    "memories",
    "tasks",
    "messages",
    "documents",
    "sessions",
    "conversations",
  ]);
  const choose = (change: Partial<Choice>) => {
    chosen = { ...choice, ...change };
    setChoice(chosen);
  };
  return (
    <div class="injection">
      <div class="heading">
        <h2>Context</h2>
        <p class="muted">What an assistant is told when it starts now. Looking changes nothing.</p>
      </div>
      <Choices choice={choice} onChoose={choose} />
      <Waiting answer={answer} />
      {answer.result && (
        <Shown
          account={answer.result}
          isText={isText}
          onSwitch={setText}
          onChange={answer.refresh}
        />
      )}
      <Receipts />
    </div>
  );
}

function Choices({
  choice,
  onChoose,
}: {
  readonly choice: Choice;
  readonly onChoose: (change: Partial<Choice>) => void;
}) {
  return (
    <form class="choices" onSubmit={(event) => event.preventDefault()}>
      <label>
        Assistant
        <select
          value={choice.host}
          onChange={(event) => onChoose({ host: event.currentTarget.value })}
        >
          {options(HOSTS)}
        </select>
      </label>
      <label>
        For
        <select
          value={choice.mode}
          onChange={(event) => onChoose({ mode: event.currentTarget.value as Mode })}
        >
          {options(MODES)}
        </select>
      </label>
      <label class="choices-query">
        About
        <input
          type="search"
          placeholder="Try what a conversation may begin with"
          maxLength={2000}
          value={choice.query}
          onInput={(event) => onChoose({ query: event.currentTarget.value })}
        />
      </label>
    </form>
  );
}

interface ShownProps {
  readonly account: Account;
  readonly isText: boolean;
  readonly onSwitch: (isText: boolean) => void;
  readonly onChange: () => void;
}

function Shown({ account, isText, onSwitch, onChange }: ShownProps) {
  const opinions = useOpinions(onChange);
  const { rendered, receipt, words } = account;
  return (
    <>
      <div class="injection-bar">
        <Meter receipt={receipt} />
        <Switch
          label="How to show it"
          name="shape"
          value={isText ? "As text" : "Items"}
          choices={["Items", "As text"]}
          onChoose={(shape) => onSwitch(shape === "As text")}
        />
      </div>
      <Said opinions={opinions} />
      {isText && <AsText rendered={rendered} />}
      {!isText && <Given items={receipt.items} words={words} opinions={opinions} />}
      {!isText && receipt.items.every(isDocument) && <Nothing receipt={receipt} />}
      {!isText && <LeftOut items={receipt.leftOut} words={words} opinions={opinions} />}
    </>
  );
}

function Nothing({ receipt }: { readonly receipt: Receipt }) {
  if (receipt.mode === "none")
    return <Empty title="No memories are told.">Choose another purpose to see some.</Empty>;
  if (receipt.leftOut.length > 0) return null;
  return <Beginning title="There is no memory to tell yet." />;
}

/** Documents are told from the first day on. */
function isDocument({ section }: GivenItem): boolean {
  return section === "documents";
}

function options(names: Readonly<Record<string, string>>) {
  return Object.entries(names).map(([value, name]) => (
    <option key={value} value={value}>
      {name}
    </option>
  ));
}

/** A value once it has not changed for a moment: who types is not asked for after each letter. */
function useCalm(value: string): string {
  const [calm, setCalm] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setCalm(value), PATIENCE);
    return () => clearTimeout(timer);
  }, [value]);
  return calm;
}
