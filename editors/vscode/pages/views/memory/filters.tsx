/** Choosing which memories are shown. */

import {
  countActive,
  type Filters,
  NO_FILTERS,
  PERIODS,
  STATUSES,
  TYPES,
  toggled,
} from "../../../shared/filters";
import type { Labels } from "../../../shared/names";
import { Icon } from "../../icons";

interface FiltersProps {
  readonly filters: Filters;
  readonly labels: Labels;
  readonly tags: readonly string[];
  readonly onChange: (filters: Filters) => void;
}

export function FilterPanel({ filters, labels, tags, onChange }: FiltersProps) {
  const set = (some: Partial<Filters>) => onChange({ ...filters, ...some });
  return (
    <>
      <fieldset class="toggles" aria-label="Type">
        <button
          type="button"
          class="toggle"
          aria-pressed={filters.isPinned}
          onClick={() => set({ isPinned: !filters.isPinned })}
        >
          <Icon name="pin" />
          Pinned
        </button>
        {TYPES.map(([type, name]) => (
          <button
            key={type}
            type="button"
            class={`toggle ${type}`}
            aria-pressed={filters.types.includes(type)}
            onClick={() => set({ types: toggled(filters.types, type) })}
          >
            <span class="dot" />
            {name}
          </button>
        ))}
      </fieldset>
      <div class="selects">
        <label>
          <span>State</span>
          <select
            value={filters.status}
            onChange={(event) => set({ status: event.currentTarget.value as Filters["status"] })}
          >
            {STATUSES.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>Since</span>
          <select
            value={filters.days}
            onChange={(event) => set({ days: Number(event.currentTarget.value) })}
          >
            {PERIODS.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>Agent</span>
          <select
            value={filters.agent}
            onChange={(event) => set({ agent: event.currentTarget.value })}
          >
            <option value="">Anyone</option>
            {[...labels].map(([id, label]) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>Tag</span>
          <input
            value={filters.tag}
            list="memory-tags"
            placeholder="any"
            onInput={(event) => set({ tag: event.currentTarget.value })}
          />
          <datalist id="memory-tags">
            {tags.map((tag) => (
              <option key={tag} value={tag} />
            ))}
          </datalist>
        </label>
        <label class="wide">
          <span>File or Folder</span>
          <input
            value={filters.path}
            placeholder="src/store"
            onInput={(event) => set({ path: event.currentTarget.value })}
          />
        </label>
      </div>
      {countActive(filters) > 0 && (
        <button type="button" class="link" onClick={() => onChange(NO_FILTERS)}>
          Clear Filters
        </button>
      )}
    </>
  );
}
