// The first page: sessions with their events, and a search in memory. Texts of others are only ever text.

import { Client } from "./rpc.js";

const PAGE = 50;
const $ = (id) => document.getElementById(id);
const shown = { project: null, session: null, limit: PAGE };
/** The session that was chosen by hand; without one the newest is shown. */
let chosen = null;
const client = new Client({ hear, change });

function change(state) {
  $("state").className = state;
  $("state").textContent = state === "live" ? "Live" : "Not connected; has `threadline dashboard` ended?";
  if (state === "live") attempt(begin);
}

function hear(method, params) {
  if (method !== "threadline/didChange" || params.projectId !== shown.project) return;
  if (params.what === "sessions") attempt(showSessions);
  if (params.what === "memories") attempt(showMemories);
}

async function begin() {
  const [own, all] = await Promise.all([
    client.call("threadline/projects/list"),
    client.call("threadline/projects/list", { everywhere: true }),
  ]);
  const projects = new Map([...own.projects, ...all.projects].map((one) => [one.projectId, one]));
  $("project").replaceChildren(...[...projects.values()].map(option));
  if (!projects.has(shown.project)) shown.project = own.projects[0]?.projectId ?? null;
  $("project").value = shown.project;
  await Promise.all([showSessions(), showMemories()]);
}

async function showSessions() {
  const { project, limit } = shown;
  const page = await client.call("threadline/sessions/list", { project, limit });
  if (project !== shown.project) return;
  const sessions = page.sessions;
  $("earlier").hidden = page.next === null || limit >= 1000;
  if (sessions.length === 0) {
    shown.session = null;
    $("session").replaceChildren();
    $("session-list").replaceChildren(
      empty("No sessions yet.", "Commits and saves appear here as they happen. `threadline scan` imports what was committed so far."),
    );
    return;
  }
  shown.session = (sessions.find((one) => one.sessionId === chosen) ?? sessions[0]).sessionId;
  const days = Map.groupBy ? Map.groupBy(sessions, day) : group(sessions, day);
  const focused = document.activeElement?.dataset?.session;
  $("session-list").replaceChildren(
    ...[...days].flatMap(([name, some]) => [
      make("h2", { className: "day" }, name),
      make("ul", {}, ...some.map((one) => make("li", {}, choice(one)))),
    ]),
  );
  if (focused) document.querySelector(`[data-session="${focused}"]`)?.focus();
  await showSession(sessions.find((one) => one.sessionId === shown.session));
}

async function showSession(session) {
  const { project } = shown;
  const page = await client.call("threadline/sessions/events", { project, sessionId: session.sessionId, limit: 1000 });
  if (session.sessionId !== shown.session) return;
  const rest = page.total - page.events.length;
  $("session").replaceChildren(
    make("h2", {}, title(session)),
    session.summary ? make("p", { className: "more" }, parts(session.summary)[1]) : "",
    make("ul", { className: "facts" }, ...facts(session).map((one) => make("li", {}, one))),
    make("ol", {}, ...page.events.map(event)),
    rest > 0 ? make("p", { className: "muted" }, `and ${rest} more`) : "",
  );
}

async function showMemories() {
  const { project } = shown;
  const query = $("query").value;
  const result = await client.call("threadline/memories/search", { project, query, topK: 25 });
  if (project !== shown.project || query !== $("query").value) return;
  const none = query
    ? empty("Nothing found.", "Try other words, or fewer.")
    : empty("No memory yet.", "`threadline enrich --all` makes memory from what happened; assistants and you can add to it.");
  $("found").textContent = result.total ? `${result.memories.length} of ${plural(result.total, "memory", "memories")}` : "";
  $("memories").replaceChildren(...(result.memories.length ? result.memories.map(memory) : [none]));
}

function option(project) {
  return make("option", { value: project.projectId }, project.name);
}

function choice(session) {
  const button = make(
    "button",
    { type: "button", className: "choice" },
    make("strong", {}, title(session)),
    make("span", {}, [span(session), plural(session.messageCount, "event"), session.sources.join(", ")].join(" · ")),
  );
  button.dataset.session = session.sessionId;
  if (session.sessionId === shown.session) button.setAttribute("aria-current", "true");
  button.addEventListener("click", () => {
    chosen = session.sessionId;
    attempt(showSessions);
  });
  return button;
}

function title(session) {
  if (session.summary) return parts(session.summary)[0];
  const [first, ...more] = session.filesModified;
  if (!first) return "Work without files";
  const count = more.length + session.filesOverflow;
  return count ? `${first} and ${plural(count, "file")} more` : first;
}

/** The first sentence of a text, and what follows it. */
function parts(text) {
  const end = text.search(/[.!?](\s|$)|\n/);
  return end < 0 ? [text, ""] : [text.slice(0, end), text.slice(end + 1).trim()];
}

function facts(session) {
  const state = { active: "active now", closed: "closed", compacted: "compacted" }[session.status];
  const made = { none: "no memory made yet", pending: "memory is to be made", processing: "memory is being made", completed: "memory made", failed: "making memory failed" };
  return [`${day(session)}, ${span(session)}`, state, plural(session.messageCount, "event"), session.sources.join(", "), made[session.enrichmentStatus]];
}

function event(one) {
  const files = one.files.map((file) => file.path);
  const named = files.slice(0, 6).join(", ") + (files.length > 6 ? ` and ${files.length - 6} more` : "");
  const headline = one.commit?.subject ?? one.text ?? `Saved ${files[0]}`;
  const detail = make("p", { className: "detail" }, `${time(one.occurredAt)} · ${one.source}`);
  if (one.commit) detail.append(" · ", make("code", {}, one.commit.sha.slice(0, 8)));
  if (one.kind !== "save" && named) detail.append(` · ${named}`);
  return make("li", { className: one.kind }, make("p", {}, headline), detail);
}

function memory({ memory: one }) {
  const about = [date(one.occurredAt), one.agentId, ...one.files.slice(0, 4)].filter(Boolean).join(" · ");
  return make(
    "article",
    { className: "memory" },
    make("h3", {}, make("span", { className: "kind" }, one.pinned ? `${one.type}, pinned` : one.type), one.title),
    one.content === one.title ? "" : make("p", {}, one.content),
    one.rationale ? make("p", { className: "muted" }, `Why: ${one.rationale}`) : "",
    ...one.evidence.slice(0, 2).map((each) => make("blockquote", {}, each.quote)),
    make("p", { className: "detail" }, about),
  );
}

function empty(words, help) {
  return make("div", { className: "empty" }, make("p", {}, words), make("p", {}, help));
}

function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function group(items, key) {
  const groups = new Map();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}

function day(session) {
  return new Date(session.startedAt).toLocaleDateString(undefined, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
}

function date(stamp) {
  return new Date(stamp).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });
}

function time(stamp) {
  return new Date(stamp).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
}

function span(session) {
  const [from, to] = [time(session.startedAt), time(session.lastEventAt)];
  return from === to ? from : `${from} – ${to}`;
}

function plural(count, one, many = `${one}s`) {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

async function attempt(action) {
  try {
    await action();
  } catch (error) {
    $("state").textContent = error.message;
  }
}

function turn() {
  const isMemory = location.hash === "#memory";
  $("sessions").hidden = isMemory;
  $("memory").hidden = !isMemory;
  for (const [id, isHere] of [["to-sessions", !isMemory], ["to-memory", isMemory]]) {
    if (isHere) $(id).setAttribute("aria-current", "page");
    else $(id).removeAttribute("aria-current");
  }
  if (isMemory) $("query").focus();
}

let waiting;
$("query").addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => attempt(showMemories), 150);
});
$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(showMemories);
});
$("earlier").addEventListener("click", () => {
  shown.limit = Math.min(shown.limit + PAGE, 1000);
  attempt(showSessions);
});
$("project").addEventListener("change", () => {
  Object.assign(shown, { project: $("project").value, session: null, limit: PAGE });
  chosen = null;
  attempt(() => Promise.all([showSessions(), showMemories()]));
});
addEventListener("hashchange", turn);
turn();
