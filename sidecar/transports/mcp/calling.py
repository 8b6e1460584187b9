"""Calling: a tool's arguments go to its method, and what comes back to its caller."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import msgspec
from mcp.server.session import ServerSession
from msgspec import UNSET, Struct, UnsetType

from protocol.answers import Failure
from protocol.contexts import ContextParams
from protocol.errors import CancelledError, ForbiddenError, InvalidParamsError, ThreadlineError
from protocol.jobs import STAGES
from protocol.turns import Activity, Category
from sidecar.conversations.rules.conversations import Report
from sidecar.projects.progress import Tell
from sidecar.text import characters, own_words
from sidecar.transports.mcp import schemas
from sidecar.transports.mcp.clients import Client, Talk
from sidecar.transports.mcp.tools import Arguments, Tool

LIMIT = 4_000_000
"""Bytes that an answer may have, as it is sent."""
_ROOM = 10_000
"""Bytes for what stands around what it says."""
_CAP = "maxResponseChars"
_CHARS, _LEAST = ContextParams().max_response_chars, 200
"""Characters of a start where no cap is named, and the lowest that may be."""
_LABEL = len(f'"notice": "{own_words.NOTICE}", ')
"""Characters that the notice takes."""

_NOTED = {"search_memories", "read_memories", "write_memory"}
"""Tools whose methods note themselves what was asked and found."""
_TELLING = ("title", "subject", "query", "name", "summary", "prompt", "content")
"""Arguments that say what a call is about, the most telling first."""
_SUMMARY = 120
_CATEGORIES: dict[str, Category] = {"reads": "read"}


class Reply(Struct, frozen=True, kw_only=True):
    """What a tool says."""

    text: str
    content: dict[str, Any] | None = None
    """The same as data; None for an error."""


def call(client: Client, tool: Tool, arguments: Arguments, tell: Tell) -> Reply:
    """Answer a call of a tool; whatever is wrong with it is said so that a model can mend it."""
    try:
        reply = _call(client, tool, dict(arguments), tell)
    except ThreadlineError as error:
        return Reply(text=_complaint(str(error), error.field))
    # Its text and its structure say the same: once escaped, once as it is.
    if is_too_long(reply.text, len(reply.text.encode())):
        return Reply(text="the answer is too long; ask for less: a lower limit, fewer ids, filters")
    return reply


def is_too_long(text: str, besides: int = 0) -> bool:
    """Return whether an answer with this text, as it is escaped in JSON, and these bytes besides is too long."""
    return len(msgspec.json.encode(text)) + besides + _ROOM > LIMIT


def _call(client: Client, tool: Tool, arguments: Arguments, tell: Tell) -> Reply:
    client.hold_key()  # before anything is said about projects
    _check(client, tool, arguments)
    place = _place(client, arguments)
    client.admit(tool.access, place)
    _check_reach(client, arguments)
    folder = str(place)
    talk = client.conversation(place)
    params = {"project": folder, **_filled(client, tool, arguments, talk)}
    dialogue = client.app.dialogue
    dialogue.gives_once = True
    is_due = not (tool.tells_start or talk.is_followed)
    unasked = dialogue.prepare(_asked(client, folder, talk)) if is_due else None
    answer = client.app.answer(None, tool.method, params, tell)
    if answer.error is not UNSET or answer.result is UNSET:
        return Reply(text=_explain(answer.error).replace(tool.method, tool.name))
    if tool.begins:
        client.introduce(arguments.get("agentId"), arguments.get("sessionKey"))
    if not talk.is_followed:
        client.alone[place] = client.key
    _note(client, tool, params, talk)
    besides = {"start": dialogue.give(unasked), "reminder": _count(client, tool)}
    label = {"notice": own_words.NOTICE} if _is_labelled(tool, arguments) else {}
    return _reply(label, _shortened(tool, answer.result), besides)


def _check_reach(client: Client, arguments: Arguments) -> None:
    """Refuse what reaches beyond one project, unless a key says that it may."""
    key = client.hold_key()
    is_free = key is not None and key.is_for_all
    if arguments.get("allProjects") and not is_free:
        raise ForbiddenError(
            "searching all projects needs a key for all of them; the person makes one: "
            f"threadline keys create {client.agent_id} --vaults all"
        )
    if arguments.get("scope") == "user" and key is not None and not is_free:
        raise ForbiddenError(
            f"the key of {key.name} is not for all projects, and scope user concerns all; leave out `scope`"
        )


def _place(client: Client, arguments: Arguments) -> Path:
    vault, project = arguments.pop("vaultId", None), arguments.pop("project", None)
    if vault is None:
        return client.folder(project)
    try:
        place = client.folder(vault)
        if project is None or client.app.project(str(client.folder(project))).project_id == vault:
            return place
    except InvalidParamsError as error:
        raise InvalidParamsError(str(error), field="vaultId") from error
    raise InvalidParamsError(f"{project} is another project than {vault}", field="vaultId")


def _note(client: Client, tool: Tool, params: Arguments, talk: Talk) -> None:
    """Write down that a tool was used, where its method does not; what saves a conversation leaves nothing waiting."""
    if tool.name in _NOTED or tool.is_checkpoint:
        return
    app = client.app
    said = next((params[name] for name in _TELLING if isinstance(params.get(name), str)), "")
    category: Category = "system" if tool.tells_start else _CATEGORIES.get(tool.effect, "write")
    done = Activity(tool=tool.name, category=category, input_summary=said[:_SUMMARY])
    key = client.key if tool.begins else talk.key
    vault = app.vault(params["project"])
    app.dialogue.note(vault, key, Report(), done)


def _shortened(tool: Tool, result: msgspec.Raw) -> msgspec.Raw:
    if tool.shorten is None:
        return result
    return msgspec.Raw(msgspec.json.encode(tool.shorten(msgspec.json.decode(result))))


def _check(client: Client, tool: Tool, arguments: Arguments) -> None:
    """Refuse arguments that are not the tool's, also those that its method would take."""
    known = tool.takes()["properties"]
    for name in arguments:
        if name not in known and name != "vaultId":
            near = ", ".join(known)
            raise InvalidParamsError(f"{tool.name} knows no `{name}`; it takes {near}", field=name)
    for name in tool.required:
        if arguments.get(name) is None:
            raise InvalidParamsError(f"{tool.name} needs `{name}`", field=name)
    if tool.agent is not None:
        client.check_agent(arguments.get(tool.agent))
    project = arguments.get("project")
    if project is not None and not isinstance(project, str):
        raise InvalidParamsError("`project` is the path of a folder", field="project")


def _filled(client: Client, tool: Tool, arguments: Arguments, talk: Talk) -> Arguments:
    """Add what the client is known by, where a call leaves it out."""
    known: Arguments = (
        {"harness": client.harness} if "harness" in schemas.names(tool.method) else {}
    )
    if tool.agent is not None:
        known[tool.agent] = client.agent_id
    if tool.talk is not None:
        known[tool.talk] = talk.key
    given = {key: value for key, value in arguments.items() if value is not None}
    if _has_room(tool, given):
        known[_CAP] = given.pop(_CAP, _CHARS) - _LABEL
    return (tool.shape or dict)({**known, **given})


def _has_room(tool: Tool, given: Arguments) -> bool:
    cap = given.get(_CAP, _CHARS)
    return _CAP in schemas.names(tool.method) and isinstance(cap, int) and cap >= _LEAST + _LABEL


def _is_labelled(tool: Tool, given: Arguments) -> bool:
    return _CAP not in schemas.names(tool.method) or _has_room(tool, given)


def _asked(client: Client, folder: str, talk: Talk) -> ContextParams:
    return ContextParams(
        project=folder, session_key=talk.key, agent_id=client.agent_id, harness=client.harness
    )


def _count(client: Client, tool: Tool) -> str | None:
    return client.count(is_checkpoint=tool.is_checkpoint)


def _reply(label: dict[str, str], result: msgspec.Raw, besides: dict[str, Any]) -> Reply:
    said = {name: value for name, value in besides.items() if value is not None}
    parts = (bytes(result), msgspec.json.encode(said))
    content: dict[str, Any] = dict(label)
    for part in parts:
        content |= msgspec.json.decode(characters.visible_json(part))
    return Reply(text=msgspec.json.encode(content).decode(), content=content)


def _explain(failure: Failure | UnsetType) -> str:
    if failure is UNSET:
        return "there is no answer"
    field = failure.data.field if failure.data is not UNSET else None
    return _complaint(failure.message, field)


def _complaint(message: str, field: str | None) -> str:
    return message if field is None or field in message else f"{field}: {message}"


class Work:
    """A call that a client waits for; it may be told from any thread how far it is."""

    def __init__(self, session: ServerSession) -> None:
        """Work for the client of this session."""
        self.over = threading.Event()
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._told: float | None = None
        self._total = 0

    def tell(self, done: int, total: int, stage: str = "") -> None:
        """Say how much is done, of all or of one stage; raise CancelledError once nobody wants it."""
        if self.over.is_set():
            raise CancelledError("nobody waits for it any more")
        reached, self._total = _reached(done, total, stage)
        if self._told is None or reached > self._told:
            self._told = reached
            report = self._session.report_progress(reached, self._total, stage or None)
            asyncio.run_coroutine_threadsafe(report, self._loop)

    async def finish(self) -> None:
        """Tell that all is done, whether or not the last of it was worth a word."""
        if self._told is not None and self._told < self._total:
            self._told = self._total
            await self._session.report_progress(self._total, self._total)


def _reached(done: int, total: int, stage: str) -> tuple[float, int]:
    """Return how much is done, and of how much: of all stages where there are some."""
    if stage not in STAGES:
        return done, total
    return STAGES.index(stage) + (min(done / total, 1.0) if total else 0.0), len(STAGES)
