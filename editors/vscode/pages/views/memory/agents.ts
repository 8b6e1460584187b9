/** Who has been here, by name. */

import { useMemo } from "preact/hooks";
import { type Labels, labels } from "../../../src/names";
import { useAnswer } from "../../asking";

const YEAR = 365;
const MOST = 100;

/** Names of the agents of this project; they come a moment later than what they made. */
export function useAgents(): Labels {
  const params = { daysBack: YEAR, limit: MOST };
  const { result } = useAnswer("threadline/agents/list", params);
  return useMemo(() => labels(result?.agents ?? []), [result]);
}
