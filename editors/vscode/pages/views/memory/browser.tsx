/** All memories: searched as one types, else those that are pinned, then the latest. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { countActive, type Filters, NO_FILTERS, paramsOf } from "../../../shared/filters";
import type { Memory } from "../../../shared/protocol.generated";
import { divide, type Finding } from "../../../shared/results";
import { useAgents } from "../../agents";
import { type Answer, useAnswer } from "../../asking";
import { useKept } from "../../keeping";
import { Beginning } from "../../making";
import { Button, Empty, Waiting } from "../../pieces";
import { useSettled } from "../../timing";
import { MemoryCard } from "./card";
import { type Draft, EMPTY } from "./drafts";
import { FilterPanel } from "./filters";
import { SearchField } from "./search";
import { Writer } from "./writing";

const PAUSE = 150;
const PAGE = 30;
const MOST_LISTED = 1000;
const MOST_FOUND = 50;

export function Browser() {
  const [query, setQuery] = useKept("query", "");
  const [filters, setFilters] = useKept<Filters>("filters", NO_FILTERS);
  const [isFiltering, setFiltering] = useKept("filtering", false);
  const [open, setOpen] = useKept<string | null>("opened", null);
  const [draft, setDraft] = useKept<Draft | null>("new memory", null);
  const [held, hold] = useHeld();
  const [limit, setLimit] = useState(PAGE);
  const labels = useAgents();
  const wanted = useSettled(query.trim(), PAUSE);
  const { direct, related, count, total, answer } = useMemories(wanted, filters, limit);
  const [areRelatedShown, showRelated] = useState(false);
  useEffect(() => {
    setLimit(PAGE);
    showRelated(false);
  }, [wanted, filters]);
  const shown = withHeld([...direct, ...(areRelatedShown ? related : [])], held);
  const tags = useMemo(() => [...new Set(direct.flatMap((one) => one.tags))].sort(), [direct]);
  const active = countActive(filters);
  const most = wanted ? MOST_FOUND : MOST_LISTED;
  return (
    <div class="memory-page">
      <div class="heading">
        <h2>Memory</h2>
        <p class="muted" role="status">
          {answer.result ? summary(direct.length, total, wanted) : "Searching …"}
        </p>
        <span class="heading-end">
          <Button icon="add" label="Add a memory" onClick={() => setDraft(draft ?? EMPTY)}>
            <span class="words">Add Memory</span>
          </Button>
        </span>
      </div>
      <div class="memory-search">
        <SearchField query={query} onChange={setQuery} />
        <button
          type="button"
          class="button filter-switch"
          aria-expanded={isFiltering}
          aria-controls="memory-filters"
          onClick={() => setFiltering(!isFiltering)}
        >
          Filters{active > 0 ? ` (${active})` : ""}
        </button>
      </div>
      <aside
        id="memory-filters"
        class={`memory-filters ${isFiltering ? "open" : ""}`}
        aria-label="Filters"
      >
        <FilterPanel filters={filters} labels={labels} tags={tags} onChange={setFilters} />
      </aside>
      <div class="memory-list">
        {draft && <Writer draft={draft} onDraft={setDraft} />}
        {(answer.problem || shown.length === 0) && <Waiting answer={answer} />}
        {answer.result && shown.length === 0 && !draft && (
          <Nothing
            query={wanted}
            related={related.length}
            isNarrow={active > 0}
            onRelated={() => showRelated(true)}
            onClear={() => setFilters(NO_FILTERS)}
          />
        )}
        <ul class="cards" onKeyDown={walk}>
          {shown.map((memory) => (
            <li key={memory.memoryId}>
              <MemoryCard
                memory={memory}
                labels={labels}
                query={wanted}
                isOpen={open === memory.memoryId || held.has(memory.memoryId)}
                onToggle={() => setOpen(open === memory.memoryId ? null : memory.memoryId)}
                onHold={hold}
              />
            </li>
          ))}
        </ul>
        {direct.length > 0 && related.length > 0 && !areRelatedShown && (
          <Button onClick={() => showRelated(true)}>Show {related.length} Related</Button>
        )}
        {count >= limit && count < total && limit < most && (
          <Button onClick={() => setLimit(Math.min(limit + PAGE, most))}>Show More</Button>
        )}
      </div>
    </div>
  );
}

type Held = ReadonlyMap<string, Memory>;

/** Memories that are being edited: they stay, whatever the search finds meanwhile. */
function useHeld(): [Held, (memoryId: string, memory: Memory | null) => void] {
  const [held, setHeld] = useState<Held>(new Map());
  const hold = useCallback((memoryId: string, memory: Memory | null) => {
    setHeld((before) => {
      if (!memory && !before.has(memoryId)) return before;
      const after = new Map(before);
      if (memory) after.set(memoryId, memory);
      else after.delete(memoryId);
      return after;
    });
  }, []);
  return [held, hold];
}

function withHeld(memories: readonly Memory[], held: Held): readonly Memory[] {
  const found = new Set(memories.map(({ memoryId }) => memoryId));
  return [...[...held.values()].filter(({ memoryId }) => !found.has(memoryId)), ...memories];
}

interface Memories extends Finding {
  /** How many were given, shown or not. */
  readonly count: number;
  readonly total: number;
  readonly answer: Answer<unknown>;
}

const NONE: Finding = { direct: [], related: [] };

/** Words are searched for; without them all that pass the filters are listed. */
function useMemories(query: string, filters: Filters, limit: number): Memories {
  const asked = paramsOf(filters, Date.now());
  const isSearch = query !== "" && filters.status !== "forgotten";
  const subjects = ["memories"] as const;
  const search = { ...asked, query, topK: Math.min(limit, MOST_FOUND), allBranches: true };
  const found = useAnswer("threadline/memories/search", isSearch ? search : null, subjects);
  const listed = useAnswer(
    "threadline/memories/list",
    isSearch ? null : { ...asked, limit },
    subjects,
  );
  const answer = isSearch ? found : listed;
  const now = isSearch
    ? found.result && divide(found.result.memories)
    : listed.result && { direct: listed.result.memories, related: [] };
  // What was shown before stays until the first answer is there.
  const last = useRef(NONE);
  if (now) last.current = now;
  const { memories = [], total = 0 } = answer.result ?? {};
  return { ...last.current, count: memories.length, total, answer };
}

interface NothingProps {
  readonly query: string;
  /** How many have to do with what nothing says. */
  readonly related: number;
  readonly isNarrow: boolean;
  readonly onRelated: () => void;
  readonly onClear: () => void;
}

function Nothing({ query, related, isNarrow, onRelated, onClear }: NothingProps) {
  if (related > 0)
    return (
      <Empty
        title={`Nothing says “${query}”, but something is near to it.`}
        deeds={<Button onClick={onRelated}>Show {related} Related</Button>}
      />
    );
  if (isNarrow)
    return (
      <Empty title={query ? `Nothing about “${query}” here.` : "Nothing passes these filters."}>
        <button type="button" class="link" onClick={onClear}>
          Clear Filters
        </button>
      </Empty>
    );
  if (query)
    return (
      <Empty title={`Nothing about “${query}” is remembered.`}>
        Try other words, or write it down with Add Memory.
      </Empty>
    );
  return (
    <Beginning title="Nothing is remembered yet.">
      What everybody should know can be written down with Add Memory.
    </Beginning>
  );
}

function summary(shown: number, total: number, query: string): string {
  if (query) return shown === 1 ? "1 found" : `${shown} found`;
  const all = `${total.toLocaleString("en")} ${total === 1 ? "memory" : "memories"}`;
  return shown < total ? `${shown} of ${all}` : all;
}

/** Up and down lead from memory to memory. */
function walk(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !(event.target as Element).matches(".memory-title")) return;
  const all = [...document.querySelectorAll<HTMLElement>(".memory-title")];
  const next = all.indexOf(event.target as HTMLElement) + step;
  event.preventDefault();
  if (next < 0) document.querySelector<HTMLElement>(".search-field input")?.focus();
  else all[next]?.focus();
}
