/** The field that one searches memory with. */

import { useEffect, useRef } from "preact/hooks";
import { useScene } from "../../asking";
import { Icon } from "../../icons";

interface SearchProps {
  readonly query: string;
  readonly onChange: (query: string) => void;
}

export function SearchField({ query, onChange }: SearchProps) {
  const { host } = useScene();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => host.searching.heed(() => field.current?.select()), [host]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== "/" || isTyping(event.target)) return;
      event.preventDefault();
      field.current?.select();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  const press = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      document.querySelector<HTMLElement>(".memory-title")?.focus();
    } else if (event.key === "Escape" && query) {
      event.preventDefault();
      onChange("");
    }
  };
  return (
    <search class="search-field">
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        aria-label="Search memory"
        placeholder="Search memory"
        spellcheck={false}
        value={query}
        onInput={(event) => onChange(event.currentTarget.value)}
        onKeyDown={press}
      />
    </search>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select") !== null;
}
