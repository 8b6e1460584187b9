/** Tasks. */

import { Empty } from "../pieces";

export function TasksView({ id }: { readonly id: string | undefined }) {
  return <Empty title={id ?? "Nothing here yet."} />;
}
