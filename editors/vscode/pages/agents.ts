/** Who has been here, by name. */

import { useMemo } from "preact/hooks";
import { type Labels, labels } from "../shared/names";
import type { Change } from "../shared/protocol.generated";
import { useAnswer } from "./asking";

const YEAR = 365;
const MOST = 100;

/** Names of the agents of this project, also of those that come while one looks. */
export function useAgents(...subjects: Change["what"][]): Labels {
  const params = { daysBack: YEAR, limit: MOST };
  const { result } = useAnswer("threadline/agents/list", params, ["conversations", ...subjects]);
  return useMemo(() => labels(result?.agents ?? []), [result]);
}
