/** How much room is taken, and by what. */

import type { Receipt } from "../../../shared/protocol.generated";
import { bySection } from "./words";

export function Meter({ receipt }: { readonly receipt: Receipt }) {
  const { chars, cap, items } = receipt;
  const parts = bySection(items).map(({ name, title, items }) => ({
    name,
    title,
    chars: items.reduce((sum, item) => sum + item.chars, 0),
  }));
  const rest = Math.max(chars - parts.reduce((sum, part) => sum + part.chars, 0), 0);
  const all = [...parts, { name: "rest", title: "Headings and what else is said", chars: rest }];
  return (
    <div class="meter">
      <p>
        <b>{chars.toLocaleString("en")}</b>{" "}
        <span class="muted">of {cap.toLocaleString("en")} characters</span>
      </p>
      <div class="meter-bar" aria-hidden="true">
        {all.map(({ name, title, chars }) => (
          <span
            key={name}
            class={name}
            title={`${title}: ${chars.toLocaleString("en")}`}
            style={{ width: `${(chars / cap) * 100}%` }}
          />
        ))}
      </div>
    </div>
  );
}
