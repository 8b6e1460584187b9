/** Timeline. */

import { Empty } from "../pieces";

export function TimelineView() {
  return <Empty title="Nothing here yet." />;
}
