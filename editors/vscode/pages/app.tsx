/** The frame around all views: where one is, in which project, and whether what is shown is true. */

import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { USER } from "../shared/names";
import type { PageName, Place } from "../shared/places";
import type { ProjectList } from "../shared/protocol.generated";
import { type Answer, SceneContext, useAnswer, useLive, useScene } from "./asking";
import type { Host } from "./hosts";
import { Icon, type IconName } from "./icons";
import { Button, Empty, Waiting, Way } from "./pieces";
import { useTitle } from "./titles";
import { InboxView } from "./views/inbox";
import { InjectionView } from "./views/injection";
import { MemoryView } from "./views/memory";
import { SessionView } from "./views/session";
import { SessionsView } from "./views/sessions";
import { TasksView } from "./views/tasks";
import { TimelineView } from "./views/timeline";

const NAVIGATION: readonly { page: PageName; icon: IconName; title: string }[] = [
  { page: "timeline", icon: "timeline", title: "Timeline" },
  { page: "sessions", icon: "sessions", title: "Sessions" },
  { page: "memory", icon: "memory", title: "Memory" },
  { page: "injection", icon: "injection", title: "Context" },
  { page: "tasks", icon: "tasks", title: "Tasks" },
  { page: "inbox", icon: "inbox", title: "Inbox" },
];
const NOTICE_TIME = 8_000;

interface Notice {
  readonly sentence: string;
  readonly isGood: boolean;
}

export function App({ host }: { readonly host: Host }) {
  const [place, setPlace] = useState(host.place);
  const { isLive, remedy } = useLink(host);
  const [notice, tell] = useNotice();
  /** Who is led to a task or a message again sees it again, though it was closed meanwhile. */
  const [visits, setVisits] = useState(0);
  useEffect(
    () =>
      host.places.add((next) => {
        setPlace(next);
        if (next.id !== undefined) setVisits((before) => before + 1);
      }),
    [host],
  );
  const listed: Answer<ProjectList> = useLive(
    host,
    "threadline/projects/list",
    { everywhere: !host.open },
    (change) => !projects.some(({ projectId }) => projectId === change.projectId),
  );
  const projects = listed.result?.projects ?? [];
  const project = place.project ?? projects[0]?.projectId ?? "";
  const dismiss = () => {
    tell("");
    focusMain();
  };
  const scene = useMemo(() => ({ host, project, tell }), [host, project, tell]);

  return (
    <SceneContext.Provider value={scene}>
      {!host.isBare && <Skip />}
      <header class={`frame ${host.isBare ? "bare" : ""}`}>
        {!host.isBare && <Navigation place={place} />}
        {projects.length > 1 && (
          <label class="project">
            <span class="unseen">Project</span>
            <select
              value={project}
              onChange={(event) =>
                host.visit({ page: listOf(place), project: event.currentTarget.value })
              }
            >
              {projects.map(({ projectId, name }) => (
                <option key={projectId} value={projectId}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
      </header>
      {!isLive && (
        <p class="banner" role="status">
          <Icon name="warning" /> Not connected: what you see may be old. {remedy}
        </p>
      )}
      <main id="main" tabIndex={-1}>
        <Waiting answer={listed} />
        {listed.result && !project && (
          <Empty title="No project yet.">
            Run <code>threadline scan</code> in a repository, or open it in your editor.
          </Empty>
        )}
        {listed.result && project && (
          <View key={`${place.page} ${place.id} ${project} ${visits}`} place={place} />
        )}
      </main>
      <div class={`notice ${notice?.sentence ? (notice.isGood ? "good" : "bad") : "none"}`}>
        <p role="status">{notice?.sentence}</p>
        <Button icon="close" label="Dismiss" onClick={dismiss} />
      </div>
    </SceneContext.Provider>
  );
}

function Skip() {
  return (
    <button type="button" class="skip" onClick={focusMain}>
      Skip to content
    </button>
  );
}

function Navigation({ place }: { readonly place: Place }) {
  const unread = useUnread();
  return (
    <>
      <h1>
        <Icon name="thread" />
        Threadline
      </h1>
      <nav aria-label="Pages">
        {NAVIGATION.map(({ page, icon, title }) => (
          <Way key={page} to={{ page }} aria-current={listOf(place) === page ? "page" : undefined}>
            <Icon name={icon} />
            {title}
            {page === "inbox" && unread > 0 && (
              <span class="badge">
                {unread > 99 ? "99+" : unread}
                <span class="unseen"> unread</span>
              </span>
            )}
          </Way>
        ))}
      </nav>
    </>
  );
}

/** How many messages the person has not dealt with. */
function useUnread(): number {
  const { project } = useScene();
  const params = { agentId: USER, status: "open", preview: true, limit: 1 } as const;
  const answer = useAnswer("threadline/messages/read", project ? params : null, ["messages"]);
  return answer.result?.total ?? 0;
}

function View({ place }: { readonly place: Place }) {
  useTitle(NAVIGATION.find(({ page }) => page === listOf(place))?.title);
  switch (place.page) {
    case "timeline":
      return <TimelineView />;
    case "sessions":
      return <SessionsView />;
    case "session":
      return <SessionView id={place.id ?? ""} />;
    case "memory":
      return <MemoryView id={place.id} />;
    case "injection":
      return <InjectionView />;
    case "tasks":
      return <TasksView id={place.id} />;
    case "inbox":
      return <InboxView id={place.id} />;
  }
}

/** Whether the sidecar is there; who has just begun to ask is not told that it is not. */
function useLink(host: Host): Pick<Host, "isLive" | "remedy"> {
  const [link, setLink] = useState({ isLive: true, remedy: "" });
  useEffect(() => host.links.add((isLive) => setLink({ isLive, remedy: host.remedy })), [host]);
  return link;
}

function useNotice(): [Notice | undefined, (sentence: string, isGood?: boolean) => void] {
  const [notice, setNotice] = useState<Notice>();
  useEffect(() => {
    const timer = setTimeout(() => setNotice(undefined), NOTICE_TIME);
    return () => clearTimeout(timer);
  }, [notice]);
  const tell = useCallback(
    (sentence: string, isGood = false) => setNotice({ sentence, isGood }),
    [],
  );
  return [notice, tell];
}

/** The list that something belongs to: another project has the same lists, but other things. */
function listOf({ page }: Place): PageName {
  return page === "session" ? "sessions" : page;
}

function focusMain(): void {
  document.getElementById("main")?.focus();
}
