/** What came into question and is not given, by the reason for that. */

import { typeName } from "../../../shared/filters";
import type { ItemWords, UngivenItem } from "../../../shared/protocol.generated";
import { Button, Way } from "../../pieces";
import type { Opinions } from "./opinions";
import { reason, SECTIONS } from "./words";

interface Props {
  readonly items: readonly UngivenItem[];
  readonly words: Readonly<Record<string, ItemWords>>;
  readonly opinions?: Opinions;
}

export function LeftOut({ items, words, opinions }: Props) {
  if (items.length === 0) return null;
  const reasons = [...new Set(items.map(reason))];
  return (
    <section class="left-out" aria-label="Left out">
      <h3>
        Left out <span class="muted">{items.length}</span>
      </h3>
      {reasons.map((why, number) => {
        const found = items.filter((item) => reason(item) === why);
        return (
          <details key={why} open={number === 0 && found.length <= 8}>
            <summary>
              Because {why} <span class="muted">{found.length}</span>
            </summary>
            <ul>
              {found.map((item) => (
                <li key={`${item.section} ${item.id}`}>
                  <Left item={item} words={words[item.id]} opinions={opinions} />
                </li>
              ))}
            </ul>
          </details>
        );
      })}
    </section>
  );
}

function Left({
  item,
  words,
  opinions,
}: {
  readonly item: UngivenItem;
  readonly words: ItemWords | undefined;
  readonly opinions: Opinions | undefined;
}) {
  const { id, section } = item;
  return (
    <>
      {words?.type ? (
        <>
          <span class={`sample bead ${words.type}`} title={typeName(words.type)} />
          <Way to={{ page: "memory", id }}>{words.title}</Way>
        </>
      ) : (
        <span>{words?.title ?? id}</span>
      )}
      <span class="muted">{(SECTIONS[section] ?? section).toLowerCase()}</span>
      {item.reason === "wrong" && opinions && (
        <Button isOff={opinions.isBusy} onClick={() => opinions.takeBack(id)}>
          Take Back
        </Button>
      )}
    </>
  );
}
