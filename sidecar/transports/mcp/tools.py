"""The one table of tools: what agents call, and which method answers it."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Struct

from protocol import conversions
from protocol.errors import InvalidParamsError
from protocol.rows import Method
from protocol.tasks import NewTask, WrittenTasks
from sidecar.storage.agent_keys import Access
from sidecar.transports.mcp import lists, schemas
from sidecar.transports.mcp.lists import Content
from sidecar.transports.mcp.schemas import Schema

Arguments = dict[str, Any]
Effect = Literal["reads", "adds", "sets", "replaces"]
"""`sets` can be repeated without harm; `replaces` loses what was there."""

_SOURCE = "mcp-server"
"""Who reports what an agent hands over itself."""
_OURS = ("harness", "vaultId", "preview", "transcriptPath", "branch")
"""What agents are not asked for: the client has told it, or it is not theirs to choose."""
_PROJECT: Schema = {"type": "string"}
_TASK = (
    *("title", "description", "status", "priority", "assignedAgentId", "doneWhen", "dependsOn"),
    "note",
)
_ONE_TASK = Method(name="create_task", params=NewTask, result=WrittenTasks, doc="")


class Tool(Struct, frozen=True, kw_only=True):
    """One row of the table."""

    name: str
    title: str
    doc: str
    """When to use it, and what comes back: by this a model chooses."""
    method: str
    effect: Effect
    access: Access
    """What a key must allow. Reading leaves receipts, which change no memory."""
    agent: str | None = None
    """The argument that says which agent acts, filled in where it is absent."""
    talk: str | None = None
    """The argument that says in which conversation, likewise."""
    hidden: tuple[str, ...] = ()
    """What else is not the agent's to choose."""
    own: Schema = {}
    """Arguments of the tool that its method does not know."""
    words: Mapping[str, str] = {}
    """What arguments mean whose names do not say it."""
    brief: Schema = {}
    """Arguments that are described in fewer words than the protocol does."""
    borrowed: tuple[str, tuple[str, ...]] | None = None
    """A record, and which of its fields are arguments of the tool."""
    shape: Callable[[Arguments], Arguments] | None = None
    """Makes the method's arguments from the tool's, where they differ."""
    shorten: Callable[[Content], Content] | None = None
    """Shortens its answer to what a model needs of it."""
    required: tuple[str, ...] = ()
    """What it needs, beyond what its method does; all of it, where it has arguments of its own."""
    tells_start: bool = False
    """Its method itself gives a conversation its context."""
    is_checkpoint: bool = False
    """Saves the conversation: what was to be reminded of is done."""

    def takes(self) -> Schema:
        """Describe its arguments."""
        hidden = (*_OURS, *self.hidden, "project")
        schema = schemas.taken(self.method, hidden)
        needed = [name for name in schema.get("required", ()) if name != self.talk]
        properties = {**self.own, **self._borrow(), **schema["properties"], "project": _PROJECT}
        return schemas.objects(
            schemas.explain({**properties, **self.brief}, self.words),
            self.required if self.shape else [*needed, *self.required],
        )

    def _borrow(self) -> Schema:
        if self.borrowed is None:
            return {}
        record, names = self.borrowed
        fields = schemas.record(record)["properties"]
        return {name: fields[name] for name in names}

    @property
    def begins(self) -> bool:
        """Whether it is how a conversation asks for its context."""
        return self.name == START


def _capture(arguments: Arguments) -> Arguments:
    event = {
        "kind": "capture",
        "text": arguments.pop("summary", None),
        "files": [{"path": path} for path in arguments.pop("files", None) or ()],
        "agentId": arguments.pop("agentId", None),
    }
    kept = {key: arguments.pop(key) for key in ("idempotencyKey", "occurredAt") if key in arguments}
    return {**arguments, "source": _SOURCE, "events": [event | kept]}


def _plan(arguments: Arguments) -> Arguments:
    """Write one task as a plan of one; of a task beside a plan nobody can tell where it belongs."""
    single = {key: arguments.pop(key) for key in _TASK if key in arguments}
    if single and "tasks" in arguments:
        names = ", ".join(f"`{name}`" for name in single)
        raise InvalidParamsError(
            f"create_task takes one task or a plan: {names} beside `tasks` belongs into one of them",
            field="tasks",
        )
    if "tasks" in arguments:
        return arguments
    conversions.convert(
        _ONE_TASK, single
    )  # here, so that a refusal names what the caller has written
    return {**arguments, "tasks": [single]}


START = "session_start"
_STRINGS: Schema = {"type": "array", "items": {"type": "string"}}
_END: Schema = {
    "type": "object",
    "properties": {"kind": {"type": "string"}, "id": {"type": "string"}},
    "required": ["kind", "id"],
}


def _objects(name: str) -> Schema:
    """Describe a list of records by the one field that each must have."""
    items = {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
    return {"type": "array", "items": items}


_AT = "ISO 8601; now where absent"
_DONE_WHEN = "path exists: P, path gone: P, commit touches: P, commit message matches: W, symbol exists: S; or words"

TOOLS: tuple[Tool, ...] = (
    Tool(
        name=START,
        title="Start with what is known",
        doc="Load what memory knows before you work: where work stopped, decisions, constraints, open tasks, messages. "
        "Once per conversation, and with occasion compact after your context was cut; not if it was given to you.",
        method="threadline/context/start",
        effect="sets",
        access="read",
        agent="agentId",
        talk="sessionKey",
        words={"query": "what the user wants", "summaryOnly": "clip items to 120 characters"},
        tells_start=True,
    ),
    Tool(
        name="session_track",
        title="Note a turn of this conversation",
        doc="Report what just happened here, so that it survives a cut of your context. Not needed where hooks do it.",
        method="threadline/context/track",
        effect="adds",
        access="write",
        agent="agentId",
        talk="sessionKey",
        brief={"activities": _objects("tool")},
        words={"prompt": "what the user said", "response": "what you said"},
        tells_start=True,
    ),
    Tool(
        name="context_checkpoint",
        title="Save memories and a summary",
        doc="Save what must outlast this conversation: up to 50 memories and a summary for the next reader. When a "
        "piece of work is done, every 15 to 20 exchanges, before you stop. Retrying is safe. Messages for you "
        "come back.",
        method="threadline/context/checkpoint",
        effect="sets",
        access="write",
        agent="agentId",
        talk="agentRunId",
        brief={
            "memories": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "content": {"type": "string"},
                        "memoryType": {"type": "string", "description": "as type of write_memory"},
                        "files": _STRINGS,
                    },
                    "required": ["content"],
                },
                "description": "also title, rationale, importance, confidence, entities, tags",
            }
        },
        words={"sessionSummary": "what was accomplished, decided and why, left open"},
        tells_start=True,
        is_checkpoint=True,
    ),
    Tool(
        name="session_digest",
        title="Save where you stand",
        doc="Save where you stand (goal, state, decisions, blockers, next step), to be given back word by word after "
        "your context is cut.",
        method="threadline/context/digest",
        effect="adds",
        access="write",
        agent="agentId",
        talk="sessionKey",
        tells_start=True,
        is_checkpoint=True,
    ),
    Tool(
        name="ingest_turn",
        title="Hand over one turn",
        doc="Hand over one turn word by word; what is worth keeping is found in it. Not needed where hooks do it.",
        method="threadline/turns/ingest",
        effect="sets",
        access="write",
        agent="agentId",
        talk="sessionKey",
        hidden=("agentRunId",),
    ),
    Tool(
        name="save_session",
        title="Record what was done",
        doc="Record an account of work as an event of the current session; generate_memory reads it later.",
        method="threadline/ingest",
        effect="adds",
        access="write",
        agent="agentId",
        hidden=("events", "source"),
        own={"summary": {"type": "string"}, "files": _STRINGS},
        borrowed=("NewEvent", ("occurredAt", "idempotencyKey", "agentId")),
        words={"summary": "what was done, decided, left open", "occurredAt": _AT},
        required=("summary",),
        shape=_capture,
    ),
    Tool(
        name="search_memories",
        title="Search memory",
        doc="Find what is known: decisions, constraints, how things were done and why. Before you decide, before you "
        "ask the user, before write_memory. Plain words; name the files at hand.",
        method="threadline/memories/search",
        effect="reads",
        access="read",
        talk="sessionKey",
        hidden=("pinned", "sessionKey"),
        shorten=lists.shorten_hits,
        brief={"topK": {"type": "integer", "maximum": 50}},
        words={"paths": "only about these files or folders", "filesAtHand": "count more"},
    ),
    Tool(
        name="read_memories",
        title="Read memories in full",
        doc="Read memories by their ids, in full, with evidence and links.",
        method="threadline/memories/read",
        effect="reads",
        access="read",
        talk="sessionKey",
        hidden=("sessionKey",),
    ),
    Tool(
        name="write_memory",
        title="Remember something",
        doc="Keep one statement that the next reader cannot see in code or git: a decision with its reason, a "
        "constraint, a preference, a correction, a lesson. Search first. No secrets.",
        method="threadline/memories/write",
        effect="adds",
        access="write",
        agent="agentId",
        talk="sessionKey",
        hidden=("createdAt", "sessionId", "sessionKey"),
        brief={"evidence": _objects("quote"), "scope": {"enum": ["user"]}},
        words={
            "files": "that it concerns",
            "dedup": "skip repetitions (default)",
            "scope": "a preference in all projects",
        },
    ),
    Tool(
        name="update_memory",
        title="Correct a memory",
        doc="Change what a memory says or how it counts. A new decision is written instead: it supersedes the old.",
        method="threadline/memories/update",
        effect="replaces",
        access="write",
        agent="agentId",
        hidden=("expectedUpdatedAt",),
        brief={"type": {"type": "string"}},
        words={"type": "as write_memory"},
    ),
    Tool(
        name="forget_memory",
        title="Forget memories",
        doc="Remove memories for good, in every copy: only when the user asks for it. What is outdated: update_memory.",
        method="threadline/memories/forget",
        effect="replaces",
        access="write",
        agent="agentId",
    ),
    Tool(
        name="add_link",
        title="Link two things",
        doc="Link a memory, task, file or document (kind) with another, read from source to target.",
        method="threadline/memories/link",
        effect="sets",
        access="write",
        agent="agentId",
        brief={"source": _END, "target": _END},
    ),
    Tool(
        name="create_task",
        title="Write down tasks",
        doc="Write down a task (title …) or a plan (tasks, each with the same fields). With a checkable doneWhen a "
        "task completes itself.",
        method="threadline/tasks/create",
        effect="adds",
        access="write",
        agent="agentId",
        borrowed=("NewTask", _TASK),
        brief={"tasks": _objects("title")},
        words={"doneWhen": _DONE_WHEN, "dependsOn": "ids, or places in tasks from 0"},
        shape=_plan,
    ),
    Tool(
        name="update_task",
        title="Change a task",
        doc="Take a task, move it on, hand it over, add a note. When you finish one: status done, with evidence.",
        method="threadline/tasks/update",
        effect="sets",
        access="write",
        agent="agentId",
        words={"notDone": "it seems done and is not"},
    ),
    Tool(
        name="list_tasks",
        title="List tasks",
        doc="List tasks, the most urgent first, with what each waits for.",
        method="threadline/tasks/list",
        effect="reads",
        access="read",
        brief={"statuses": _STRINGS},
        words={"statuses": "as update_task", "suggest": "tell what makes them seem done"},
        shorten=lists.shorten_records,
    ),
    Tool(
        name="read_document",
        title="Read a document",
        doc="Read a text of the project: soul, instructions, skills, checks, or another that the context names.",
        method="threadline/documents/read",
        effect="reads",
        access="read",
    ),
    Tool(
        name="write_document",
        title="Write a document",
        doc="Write a text of the project, if agents may. Read it first; expectedVersion keeps a newer one.",
        method="threadline/documents/write",
        effect="sets",
        access="write",
        agent="agentId",
        hidden=("agentEditable",),
        required=("content",),
    ),
    Tool(
        name="send_message",
        title="Send a message",
        doc="Tell another agent (its id: list_active_agents), all agents (*) or the person (user).",
        method="threadline/messages/send",
        effect="adds",
        access="write",
        agent="senderId",
    ),
    Tool(
        name="read_messages",
        title="Read messages",
        doc="Read what others sent you, the most urgent first; reading counts as delivered.",
        method="threadline/messages/read",
        effect="sets",
        access="read",
        agent="agentId",
        words={"sent": "yours, and who read them", "threadOf": "a message: its whole thread"},
        shorten=lists.shorten_records,
    ),
    Tool(
        name="ack_message",
        title="Acknowledge a message",
        doc="Say that you have dealt with a message; its sender sees it.",
        method="threadline/messages/ack",
        effect="sets",
        access="write",
        agent="agentId",
    ),
    Tool(
        name="list_active_agents",
        title="See who works here",
        doc="List agents that were active lately: what they last did, open tasks, messages.",
        method="threadline/agents/list",
        effect="reads",
        access="read",
        shorten=lists.shorten_records,
    ),
    Tool(
        name="list_sessions",
        title="List activity sessions",
        doc="List periods of work, newest first: id, beginning, state, events, subject.",
        method="threadline/sessions/list",
        effect="reads",
        access="read",
        words={"before": "the next of the page before"},
        shorten=lists.shorten_sessions,
    ),
    Tool(
        name="generate_memory",
        title="Make memory from a session",
        doc="Make memories from a session's events; the active or latest where none is named.",
        method="threadline/enrichment/start",
        effect="sets",
        access="write",
        agent="agentId",
        hidden=("provider", "agentId"),
    ),
)
