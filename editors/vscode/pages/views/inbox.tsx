/** Inbox. */

import { Empty } from "../pieces";

export function InboxView({ id }: { readonly id: string | undefined }) {
  return <Empty title={id ?? "Nothing here yet."} />;
}
