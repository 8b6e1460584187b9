/** What the tabs of pages are called. */

import { cut } from "../../shared/formats";
import type { PageName, Place } from "../../shared/places";
import type { Change } from "../../shared/protocol.generated";
import { title } from "../../shared/stories";
import type { Requests } from "../requests";

const MOST = 40;
const PAGES: Readonly<Record<PageName, string>> = {
  timeline: "Timeline",
  sessions: "Sessions",
  session: "Session",
  memory: "Memory",
  injection: "Context",
  tasks: "Tasks",
  inbox: "Inbox",
};

/** By the page, as long as nothing more is known. */
export function pageTitle({ page }: Place): string {
  return `Threadline: ${PAGES[page]}`;
}

/** By the one thing that is looked at; undefined where there is none, or where it is not to be had. */
export async function ownTitle(requests: Requests, place: Place): Promise<string | undefined> {
  const name = await ask(requests, place).catch(() => undefined);
  return name && `${PAGES[place.page]}: ${cut(name, MOST)}`;
}

/** Whether what has changed may be what a tab is called by. */
export function isRenamed({ page, id }: Place, { what, ids }: Change): boolean {
  if (id === undefined || (ids.length > 0 && !ids.includes(id))) return false;
  return (page === "session" && what === "sessions") || (page === "memory" && what === "memories");
}

async function ask(requests: Requests, { page, id, project }: Place): Promise<string | undefined> {
  if (id === undefined) return undefined;
  const of = project === undefined ? {} : { project };
  switch (page) {
    case "session":
      return title(await requests.request("threadline/sessions/get", { ...of, sessionId: id }));
    case "memory": {
      const params = { ...of, memoryIds: [id] };
      const { memories } = await requests.request("threadline/memories/read", params);
      return memories[0]?.title;
    }
    default:
      return undefined;
  }
}
