/** Tabs, walked through with the arrow keys as everywhere. */

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { neighbour } from "./keys";

export interface Tab<T extends string> {
  readonly name: T;
  readonly title: string;
  /** How many there are behind it, once that is known. */
  readonly count?: number | undefined;
}

interface TabsProps<T extends string> {
  readonly label: string;
  readonly tabs: readonly Tab<T>[];
  readonly chosen: T;
  readonly onChoose: (name: T) => void;
  readonly children: ComponentChildren;
}

export function Tabs<T extends string>({ label, tabs, chosen, onChoose, children }: TabsProps<T>) {
  const list = useRef<HTMLDivElement>(null);
  const walk = (event: KeyboardEvent) => {
    const names = tabs.map(({ name }) => name);
    const next = neighbour(names, chosen, event.key);
    if (next === undefined) return;
    event.preventDefault();
    onChoose(next);
    list.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={walk}>
        {tabs.map(({ name, title, count }) => (
          <button
            key={name}
            id={`tab-${name}`}
            type="button"
            role="tab"
            aria-selected={name === chosen}
            aria-controls={`panel-${name}`}
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => onChoose(name)}
          >
            {title}
            {count !== undefined && <span class="tab-count">{count.toLocaleString("en")}</span>}
          </button>
        ))}
      </div>
      <div id={`panel-${chosen}`} role="tabpanel" aria-labelledby={`tab-${chosen}`} class="panel">
        {children}
      </div>
    </>
  );
}
