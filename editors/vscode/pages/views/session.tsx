/** Session. */

import { Empty } from "../pieces";

export function SessionView({ id }: { readonly id: string }) {
  return <Empty title={id} />;
}
