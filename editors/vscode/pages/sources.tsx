/** Who saw something: a picture and a name. */

import { sourceKind, sourceName } from "../shared/hosts";
import { Icon } from "./icons";

export function Source({ name }: { readonly name: string }) {
  return (
    <span class="source">
      <Icon name={sourceKind(name)} />
      {sourceName(name)}
    </span>
  );
}
