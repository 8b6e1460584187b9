/** Inbox. */

import { Empty } from "../pieces";

export function InboxView() {
  return <Empty title="Nothing here yet." />;
}
