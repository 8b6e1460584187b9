"""Prompts: what a person can ask for by name, with the memory it needs."""

from collections.abc import Callable

from msgspec import Struct

from protocol.documents import ShownDocument
from protocol.errors import InvalidParamsError
from protocol.events import Event
from protocol.methods import EventPage, SessionPage
from protocol.sessions import Session
from sidecar.text import characters, own_words, quoting
from sidecar.transports.mcp import resources
from sidecar.transports.mcp.clients import Client

Arguments = dict[str, str]

_LINE = 200
"""Letters of an event that are shown."""


class Argument(Struct, frozen=True, kw_only=True):
    """What a person may add."""

    name: str
    doc: str
    is_required: bool = False


class Prompt(Struct, frozen=True, kw_only=True):
    """One row of the table."""

    name: str
    title: str
    doc: str
    write: Callable[[Client, Arguments], str]
    arguments: tuple[Argument, ...] = ()


def write(client: Client, name: str, arguments: Arguments) -> tuple[Prompt, str]:
    """Write a prompt."""
    prompt = next((one for one in PROMPTS if one.name == name), None)
    if prompt is None:
        names = ", ".join(one.name for one in PROMPTS)
        raise InvalidParamsError(f"there is no prompt {name}; there are {names}", field="name")
    for argument in prompt.arguments:
        if argument.is_required and not arguments.get(argument.name):
            raise InvalidParamsError(f"{name} needs `{argument.name}`", field=argument.name)
    return prompt, prompt.write(client, arguments)


def _start(client: Client, arguments: Arguments) -> str:
    about = arguments.get("query", "")
    wish = f"\n\nWhat I want to do: {about}" if about else ""
    return f"{own_words.NOTICE}\n\n{resources.context(client, about)}{wish}"


def _document(client: Client, arguments: Arguments) -> str:
    name = arguments["name"]
    found = resources.ask(client, "threadline/documents/read", ShownDocument, name=name)
    return f"{own_words.NOTICE} The project's document `{found.name}`:\n\n{found.content}"


def _session(client: Client, arguments: Arguments) -> str:
    session = _find(client, arguments.get("sessionId"))
    if session is None:
        return "There are no sessions yet."
    events = resources.ask(
        client, "threadline/sessions/events", EventPage, sessionId=session.session_id
    )
    lines = [f"- {one.occurred_at:%H:%M} {one.kind}: {_line(one)}" for one in events.events]
    head = (
        f"{own_words.NOTICE} What happened in the session of {session.started_at:%Y-%m-%d %H:%M}:"
    )
    return "\n".join(
        [head, "", *lines, "", "Tell me in a few sentences what was done and what is open."]
    )


def _line(event: Event) -> str:
    """Say an event in one line that cannot pose as anything else."""
    files = ", ".join(characters.shown(change.path) for change in event.files)
    said = event.commit.subject if event.commit is not None else event.text or files
    return quoting.line(said, _LINE)


def _find(client: Client, session_id: str | None) -> Session | None:
    if session_id:
        return resources.ask(client, "threadline/sessions/get", Session, sessionId=session_id)
    page = resources.ask(client, "threadline/sessions/list", SessionPage, limit=1)
    return page.sessions[0] if page.sessions else None


def _checkpoint(_client: Client, _arguments: Arguments) -> str:
    return (
        "Save this conversation with context_checkpoint: as memories, each decision with its reason, each "
        "constraint, preference and correction that outlasts it; as the summary, what was accomplished, what "
        "was decided, what is open and where to go on. Search first, so that nothing is written twice."
    )


PROMPTS: tuple[Prompt, ...] = (
    Prompt(
        name="start",
        title="Start with what is known",
        doc="What this project's memory knows, best matching what you want to do.",
        write=_start,
        arguments=(Argument(name="query", doc="What you want to do."),),
    ),
    Prompt(
        name="session",
        title="What happened in a session",
        doc="The events of a session, to be summed up.",
        write=_session,
        arguments=(Argument(name="sessionId", doc="Which session; the latest where absent."),),
    ),
    Prompt(
        name="document",
        title="Read a document",
        doc="One of the project's own texts.",
        write=_document,
        arguments=(
            Argument(name="name", doc="Which one, such as instructions.", is_required=True),
        ),
    ),
    Prompt(
        name="checkpoint",
        title="Save this conversation",
        doc="Asks the assistant to save what must outlast this conversation.",
        write=_checkpoint,
    ),
)
