/** Memory: what is remembered, to be searched, corrected, and forgotten. */

import { useAgents } from "../agents";
import { useAnswer } from "../asking";
import { Empty, Waiting, Way } from "../pieces";
import { useTitle } from "../titles";
import { Browser } from "./memory/browser";
import { MemoryCard } from "./memory/card";

export function MemoryView({ id }: { readonly id: string | undefined }) {
  return id ? <OneMemory id={id} /> : <Browser />;
}

function OneMemory({ id }: { readonly id: string }) {
  const answer = useAnswer("threadline/memories/read", { memoryIds: [id] }, ["memories", "links"]);
  const labels = useAgents();
  const memory = answer.result?.memories[0];
  useTitle(memory?.title);
  return (
    <>
      <p class="way-back">
        <Way to={{ page: "memory" }}>← All Memories</Way>
      </p>
      {!answer.isMissing && <Waiting answer={answer} />}
      {(answer.isMissing || (answer.result && !memory)) && (
        <Empty title="There is no such memory.">It may belong to another project.</Empty>
      )}
      {memory?.status === "forgotten" && (
        <Empty title="This memory was forgotten.">Nothing of what it said is kept.</Empty>
      )}
      {memory && memory.status !== "forgotten" && (
        <MemoryCard memory={memory} labels={labels} query="" isAlone />
      )}
    </>
  );
}
