/** Injection. */

import { Empty } from "../pieces";

export function InjectionView() {
  return <Empty title="Nothing here yet." />;
}
