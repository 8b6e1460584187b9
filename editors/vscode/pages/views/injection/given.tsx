/** What is given, section by section, each item with the reasons for it. */

import { typeName } from "../../../shared/filters";
import { count } from "../../../shared/formats";
import type { GivenItem, ItemWords } from "../../../shared/protocol.generated";
import { Chip, Moment, Way } from "../../pieces";
import { OpinionButtons, type Opinions } from "./opinions";
import { bySection, signals, signed, standing, unranked } from "./words";

const SHOWN = 4;

interface Props {
  readonly items: readonly GivenItem[];
  readonly words: Readonly<Record<string, ItemWords>>;
  /** Absent where it is too late to say what one thinks. */
  readonly opinions?: Opinions;
}

export function Given({ items, words, opinions }: Props) {
  const best = Math.max(0.01, ...items.map(({ score }) => score));
  return (
    <>
      {bySection(items).map(({ name, title, items }) => (
        <section key={name} class={`given ${name}`} aria-label={title}>
          <h3>
            {title} <span class="muted">{items.length > 1 ? items.length : ""}</span>
          </h3>
          <ul>
            {items.map((item) => (
              <li key={item.id} class="card item">
                <Item item={item} best={best} words={words[item.id]} opinions={opinions} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

interface ItemProps {
  readonly item: GivenItem;
  /** The best score of all. */
  readonly best: number;
  readonly words: ItemWords | undefined;
  readonly opinions: Opinions | undefined;
}

function Item({ item, best, words, opinions }: ItemProps) {
  const { id } = item;
  const type = words?.type;
  return (
    <>
      <div class="item-words">
        <p class="item-title">
          {type && <span class={`sample bead ${type}`} title={typeName(type)} />}
          {type ? <Way to={{ page: "memory", id }}>{words.title}</Way> : (words?.title ?? id)}
          {words?.pinned && <Chip>pinned</Chip>}
          {!!words?.feedback && (
            <Chip tone={words.feedback > 0 ? "good" : "warm"}>{standing(words.feedback)}</Chip>
          )}
        </p>
        {words?.text && <p class="item-text">{words.text}</p>}
        <p class="muted item-facts">
          {[words?.origin, count(item.chars, "character")].filter(Boolean).join(" · ")}
          {words?.occurredAt && (
            <>
              {" · "}
              <Moment at={words.occurredAt} />
            </>
          )}
        </p>
        <Why item={item} best={best} />
      </div>
      {type && opinions && <OpinionButtons id={id} words={words} opinions={opinions} />}
    </>
  );
}

function Why({ item, best }: Pick<ItemProps, "item" | "best">) {
  const found = signals(item).slice(0, SHOWN);
  if (found.length === 0) return <p class="why muted">{sentence(unranked(item.section))}</p>;
  return (
    <p class="why muted">
      <span class="why-bar" aria-hidden="true">
        {found.map(({ name, value }) => (
          <span
            key={name}
            class={value < 0 ? "against" : ""}
            style={{ width: `${(Math.abs(value) / best) * 100}%` }}
          />
        ))}
      </span>
      {found.map(({ name, value }) => `${name} ${signed(value)}`).join(", ")}
    </p>
  );
}

function sentence(words: string): string {
  return words && `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
