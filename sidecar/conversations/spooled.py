"""What hooks have heard of conversations and nobody has placed yet, read without changing anything."""

import logging
import os
from collections.abc import Iterable, Sequence
from pathlib import PurePath

import msgspec

from protocol.conversations import Conversation
from protocol.values import Record, Timestamp
from sidecar.capture.rules import pauses
from sidecar.conversations.rules import conversations, prompts
from sidecar.conversations.rules.conversations import Report, Who
from sidecar.storage import spool
from sidecar.storage.prepared import find_top
from sidecar.storage.vault import Vault

_log = logging.getLogger(__name__)
SUMMARY = 20_000
"""Letters of a host's summary that are kept."""


class Observation(Record, frozen=True, kw_only=True):
    """What a hook has seen, as it is written in the inbox."""

    key: str
    host: str
    event: str
    root: str
    """The folder that the host works in."""
    at: Timestamp
    session_key: str = ""
    prompt: str = ""
    response: str = ""
    summary: str = ""
    tool: str = ""
    files: tuple[str, ...] = ()
    transcript_path: str = ""
    occasion: str = ""
    receipt: str = ""
    """What a conversation was told that had been prepared, as JSON."""


def read(home: str, but: str) -> list[Observation]:
    """Return what waits in the inbox of a home, the oldest first, but for what has a key that begins so.

    Where the inbox cannot be read that is nothing: a conversation that begins is told all else.
    """
    try:
        lines = spool.peek(home)
    except OSError as error:
        _log.warning("%s; what waits in the inbox is not told", error)
        return []
    waiting = (one for one in map(_decoded, lines) if one is not None)
    kept = (one for one in waiting if one.session_key and not one.key.startswith(but))
    return sorted(kept, key=lambda one: one.at)


def overlay(
    vault: Vault, known: Iterable[Conversation], waiting: Sequence[Observation], who: Who
) -> list[Conversation]:
    """Return conversations as they are once what waits is placed; of other working trees than `who` is in nothing counts."""
    talks = {talk.session_key: talk for talk in known}
    paused = vault.pauses.read() if waiting else []
    tops: dict[str, str] = {}
    here = _top(str(who.folder), tops)
    for heard in waiting:
        if _top(heard.root, tops) != here or pauses.covered(paused, heard.at):
            continue
        key = conversations.known_as(heard.session_key)
        place = msgspec.structs.replace(
            conversations.led(who, None, heard.host), folder=PurePath(heard.root)
        )
        talk = talks.get(key) or conversations.begin(key, vault.project_id, place, heard.at)
        talks[key] = _tell(talk, heard, place)
    return list(talks.values())


def _tell(talk: Conversation, heard: Observation, who: Who) -> Conversation:
    if heard.event == "session.end":
        return msgspec.structs.replace(talk, ended_at=heard.at)
    if heard.event.startswith("compact"):
        # A summary of the time before is not the last any more.
        words = heard.summary if heard.event == "compact.after" else ""
        summary = conversations.kept(words)[:SUMMARY] or None
        talk = msgspec.structs.replace(talk, summary=summary)
    said = conversations.kept(heard.prompt)
    report = Report(
        key=heard.key[:512],
        prompts=int(bool(heard.prompt)),
        said=(prompts.condense(said),),
        last_words=prompts.condense(conversations.kept(heard.response), prompts.LAST_WORDS),
        files=tuple(conversations.name_files(heard.files, who)),
    )
    return conversations.told(talk, report, heard.at)


def _top(root: str, known: dict[str, str]) -> str:
    if root not in known:
        known[root] = os.path.realpath(find_top(root))
    return known[root]


def _decoded(line: bytes) -> Observation | None:
    try:
        return msgspec.json.decode(line, type=Observation)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
