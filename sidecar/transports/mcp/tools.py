"""The one table of tools: what agents call, and which method answers it."""

from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct

from protocol import conversions
from protocol.errors import InvalidParamsError
from protocol.rows import Method
from protocol.tasks import NewTask, WrittenTasks
from sidecar.transports.mcp import schemas
from sidecar.transports.mcp.schemas import Schema

Arguments = dict[str, Any]
Effect = Literal["reads", "adds", "sets", "replaces"]
"""`sets` can be repeated without harm; `replaces` loses what was there."""

_OURS = ("harness", "vaultId", "preview", "transcriptPath", "branch")
"""What agents are not asked for: the client has told it, or it is not theirs to choose."""
_PROJECT: Schema = {
    "type": "string",
    "description": "With several folders open: the path of the one that is meant.",
}
_BESIDES: Schema = {
    "notice": {"type": "string", "description": "What the rest is."},
    "start": {
        "type": ["object", "null"],
        "description": "What session_start gives, once, to an agent that did not ask for it.",
    },
    "reminder": {"type": "string", "description": "Something to do soon."},
}
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
    agent: str | None = None
    """The argument that says which agent acts, filled in where it is absent."""
    talk: str | None = None
    """The argument that says in which conversation, likewise."""
    hidden: tuple[str, ...] = ()
    """What else is not the agent's to choose."""
    own: Schema = {}
    """Arguments of the tool that its method does not know."""
    borrowed: tuple[str, tuple[str, ...]] | None = None
    """A record, and which of its fields are arguments of the tool."""
    shape: Callable[[Arguments], Arguments] | None = None
    """Makes the method's arguments from the tool's, where they differ."""
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
        return schemas.objects(
            {**self.own, **self._borrow(), **schema["properties"], "project": _PROJECT},
            self.required if self.shape else [*needed, *self.required],
        )

    def _borrow(self) -> Schema:
        if self.borrowed is None:
            return {}
        record, names = self.borrowed
        fields = schemas.record(record)["properties"]
        return {name: fields[name] for name in names}

    def gives(self) -> Schema:
        """Describe its answer."""
        besides = {key: one for key, one in _BESIDES.items() if key != "start" or not self.begins}
        return schemas.given(self.method, besides)

    @property
    def begins(self) -> bool:
        """Whether it is how a conversation asks for its context."""
        return self.name == START


def _capture(arguments: Arguments) -> Arguments:
    """Make an event of an agent's own account of its work."""
    event = {
        "kind": "capture",
        "text": arguments.pop("summary", None),
        "files": [{"path": path} for path in arguments.pop("files", None) or ()],
        "agentId": arguments.pop("agentId", None),
    }
    kept = {key: arguments.pop(key) for key in ("idempotencyKey", "occurredAt") if key in arguments}
    return {**arguments, "events": [event | kept]}


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
_SUMMARY: Schema = {
    "type": "string",
    "minLength": 1,
    "maxLength": 100_000,
    "description": "What was done, decided and left open, written for the next reader.",
}
_FILES: Schema = {
    "type": "array",
    "items": {"type": "string", "minLength": 1, "maxLength": 4096},
    "maxItems": 500,
    "description": "Files that were changed, relative to the repository.",
}

TOOLS: tuple[Tool, ...] = (
    Tool(
        name=START,
        title="Start with what is known",
        doc="Load what this project's memory knows before you work: where earlier work stopped, decisions, "
        "constraints, open tasks, messages for you, the project's documents. Call it once, at the beginning "
        "of a conversation, with what the user wants as `query`; call it again with `occasion` `compact` "
        "after your context was cut. Skip it if such a context was given to you already.",
        method="threadline/context/start",
        effect="sets",
        agent="agentId",
        talk="sessionKey",
        tells_start=True,
    ),
    Tool(
        name="session_track",
        title="Note a turn of this conversation",
        doc="Report what just happened in this conversation (what the user said, what you answered, files you "
        "worked on), so that it survives a cut of your context. Not needed where the host's hooks do it.",
        method="threadline/context/track",
        effect="adds",
        agent="agentId",
        talk="sessionKey",
        tells_start=True,
    ),
    Tool(
        name="context_checkpoint",
        title="Save memories and a summary",
        doc="Save what must outlast this conversation: up to 50 memories (decisions with their reasons, "
        "constraints, preferences, corrections) and a summary that briefs the next reader: what was "
        "accomplished, decided, left open. Call it when a piece of work is done, every 15 to 20 exchanges, "
        "and before you stop. Repetitions are recognised; retrying is safe. Messages for you come back.",
        method="threadline/context/checkpoint",
        effect="sets",
        agent="agentId",
        talk="agentRunId",
        tells_start=True,
        is_checkpoint=True,
    ),
    Tool(
        name="session_digest",
        title="Save where you stand",
        doc="Save in your own words where you stand right now (goal, state, decisions, blockers, next step), "
        "to be given back word by word after your context is cut. For lasting knowledge use "
        "context_checkpoint or write_memory.",
        method="threadline/context/digest",
        effect="adds",
        agent="agentId",
        talk="sessionKey",
        tells_start=True,
        is_checkpoint=True,
    ),
    Tool(
        name="ingest_turn",
        title="Hand over one turn",
        doc="Hand over one turn of the conversation, word by word, so that what is worth keeping is found in "
        "it. Only turns with a signal (a decision, a rule, a correction …) are read further; the answer says "
        "which. Not needed where the host's hooks do it.",
        method="threadline/turns/ingest",
        effect="sets",
        agent="agentId",
        talk="sessionKey",
        hidden=("agentRunId",),
    ),
    Tool(
        name="save_session",
        title="Record what was done",
        doc="Record an account of work that was done, as an event of the current activity session, beside its "
        "commits and saves; generate_memory reads it later. For single facts use write_memory.",
        method="threadline/ingest",
        effect="adds",
        agent="agentId",
        hidden=("events", "source"),
        own={"summary": _SUMMARY, "files": _FILES},
        borrowed=("NewEvent", ("occurredAt", "idempotencyKey", "agentId")),
        required=("summary",),
        shape=_capture,
    ),
    Tool(
        name="search_memories",
        title="Search memory",
        doc="Find what is known about a question: decisions, constraints, preferences, how things were done and "
        "why, with their evidence. Use it before you decide something, before you ask the user what may have "
        "been said already, and before write_memory. Ask in plain words; name the files at hand.",
        method="threadline/memories/search",
        effect="reads",
        talk="sessionKey",
        hidden=("pinned", "sessionKey"),
    ),
    Tool(
        name="read_memories",
        title="Read memories in full",
        doc="Read memories by their ids, in full, with their evidence and what they are linked with. Search "
        "results and the start context name the ids; clipped items continue here.",
        method="threadline/memories/read",
        effect="reads",
        talk="sessionKey",
        hidden=("sessionKey",),
    ),
    Tool(
        name="write_memory",
        title="Remember something",
        doc="Keep one statement that the next reader cannot see in the code: a decision with its reason, a "
        "constraint, a preference, a correction, a lesson. One statement each, with the files it concerns. "
        "Search first. Not for what the code or git says already, not for secrets, not for small talk.",
        method="threadline/memories/write",
        effect="adds",
        agent="agentId",
        talk="sessionKey",
        hidden=("createdAt", "sessionId", "sessionKey"),
    ),
    Tool(
        name="update_memory",
        title="Correct a memory",
        doc="Change what a memory says, or how it counts (importance, pinned, stale). Where something new was "
        "decided, write that instead: it supersedes the old.",
        method="threadline/memories/update",
        effect="replaces",
        agent="agentId",
        hidden=("expectedUpdatedAt",),
    ),
    Tool(
        name="forget_memory",
        title="Forget memories",
        doc="Remove memories for good, in every copy. Only when the user asks for it, or when one holds what "
        "must not be kept. For what is merely outdated use update_memory.",
        method="threadline/memories/forget",
        effect="replaces",
        agent="agentId",
    ),
    Tool(
        name="add_link",
        title="Link two things",
        doc="Say that one memory, task, file or document has to do with another: it relates to, blocks, causes, "
        "documents, supersedes, implements, contradicts or follows it. Both ends show it from then on.",
        method="threadline/memories/link",
        effect="sets",
        agent="agentId",
    ),
    Tool(
        name="create_task",
        title="Write down tasks",
        doc="Write down a task (`title` …), or a whole plan at once (`tasks`, which may depend on each other). "
        "With a checkable `doneWhen` (`path exists: …`, `path gone: …`, `commit touches: …`, `commit message matches: …`, "
        "`symbol exists: …`) a task completes itself.",
        method="threadline/tasks/create",
        effect="adds",
        agent="agentId",
        borrowed=("NewTask", _TASK),
        shape=_plan,
    ),
    Tool(
        name="update_task",
        title="Change a task",
        doc="Take a task, move it on (`backlog`, `todo`, `in_progress`, `blocked`, `done`), hand it to another "
        "agent, or add a note. When you finish one, set it to `done` with the evidence. If one is said to seem "
        "done and is not, say so with `notDone`.",
        method="threadline/tasks/update",
        effect="sets",
        agent="agentId",
    ),
    Tool(
        name="list_tasks",
        title="List tasks",
        doc="List what is to be done, the most urgent first, with what each waits for; filter by state, agent "
        "or words. With `suggest`, each also tells what makes it seem done.",
        method="threadline/tasks/list",
        effect="reads",
    ),
    Tool(
        name="read_document",
        title="Read a document",
        doc="Read one of the project's own texts: `soul`, `instructions`, `skills`, `checks`, or another that "
        "the start context names.",
        method="threadline/documents/read",
        effect="reads",
    ),
    Tool(
        name="write_document",
        title="Write a document",
        doc="Write one of the project's texts, if agents may change it. Read it first and give its version as "
        "`expectedVersion`: a newer one is not overwritten. Earlier versions are kept.",
        method="threadline/documents/write",
        effect="sets",
        agent="agentId",
        hidden=("agentEditable",),
        required=("content",),
    ),
    Tool(
        name="send_message",
        title="Send a message",
        doc="Tell something to another agent by its id, to all agents (`*`, also those that come later) or to "
        "the person (`user`): hand over work, warn, ask. `list_active_agents` knows the ids.",
        method="threadline/messages/send",
        effect="adds",
        agent="senderId",
    ),
    Tool(
        name="read_messages",
        title="Read messages",
        doc="Read what others have sent you, the most urgent first; reading counts as delivered. With `sent`, "
        "see who has read what you sent; with `threadOf`, a thread in full.",
        method="threadline/messages/read",
        effect="sets",
        agent="agentId",
    ),
    Tool(
        name="ack_message",
        title="Acknowledge a message",
        doc="Say that you have dealt with a message; its sender sees it.",
        method="threadline/messages/ack",
        effect="sets",
        agent="agentId",
    ),
    Tool(
        name="list_active_agents",
        title="See who works here",
        doc="List the agents that were active lately: what they last did, their open tasks and messages.",
        method="threadline/agents/list",
        effect="reads",
    ),
    Tool(
        name="list_sessions",
        title="List activity sessions",
        doc="List the periods of work in this project, newest first: when, by which programs, how many events, "
        "which files.",
        method="threadline/sessions/list",
        effect="reads",
    ),
    Tool(
        name="generate_memory",
        title="Make memory from a session",
        doc="Read a session's commits, saves and accounts, and make memories of what is worth keeping. It takes "
        "seconds and tells how far it is. Use it when a piece of work is done, or when the user asks.",
        method="threadline/enrichment/start",
        effect="sets",
        agent="agentId",
        hidden=("provider", "agentId"),
    ),
)
