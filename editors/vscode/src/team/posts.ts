/** Reading a person's post from the sidecar. */

import { type Labels, labels, USER } from "../../shared/names";
import type {
  MessageList,
  Project,
  ReadMessagesParams,
  ShownMessage,
} from "../../shared/protocol.generated";
import type { Requests } from "../requests";
import type { Post } from "./messages";

const MOST = 100;
const LATEST = 50;
const YEAR = 365;

export type Tell = (fresh: readonly ShownMessage[], labels: Labels) => void;

/** Read a project's post; whoever reads what waits is the only one to get it, so nobody else tells it. */
export async function readPost(requests: Requests, project: Project, tell: Tell): Promise<Post> {
  const of = { project: project.projectId };
  const read = (params: ReadMessagesParams): Promise<MessageList> =>
    requests.request("threadline/messages/read", {
      ...of,
      agentId: USER,
      limit: LATEST,
      ...params,
    });
  const agents = requests.request("threadline/agents/list", { ...of, daysBack: YEAR, limit: MOST });
  const known = labels((await agents).agents);
  const fresh = await read({ status: "pending", limit: MOST });
  if (fresh.messages.length > 0) tell(fresh.messages, known);
  const [unread, acknowledged, sent] = await Promise.all([
    read({ status: "delivered", limit: MOST, preview: true }),
    read({ status: "acknowledged", preview: true }),
    read({ status: "all", sent: true }),
  ]);
  return {
    project,
    labels: known,
    unread: unread.messages,
    acknowledged: acknowledged.messages,
    sent: sent.messages,
    totals: {
      unread: unread.total + fresh.total - fresh.messages.length,
      acknowledged: acknowledged.total,
      sent: sent.total,
    },
  };
}
