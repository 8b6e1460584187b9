/** Memory. */

import { Empty } from "../pieces";

export function MemoryView({ id }: { readonly id: string | undefined }) {
  return <Empty title={id ?? "Nothing here yet."} />;
}
