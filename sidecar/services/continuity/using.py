"""Using: what a conversation does with memory, so that one can tell later what its context was worth."""

from collections.abc import Iterable

import msgspec

from protocol.turns import Activity
from sidecar.domain.continuity import conversations, usage
from sidecar.domain.continuity.conversations import Report
from sidecar.services.continuity import collecting, meeting
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault


def note(vault: Vault, session_key: str, report: Report, done: Iterable[Activity] = ()) -> list[Op]:
    """Say how to write down what a known conversation searched, read or kept."""
    talk = meeting.find(vault, session_key)
    if talk is None:
        return []
    told = conversations.told(talk, report, talk.last_seen_at)
    told = msgspec.structs.replace(told, ended_at=talk.ended_at)
    added = collecting.add(vault, talk.session_key, done=done, now=vault.clock())
    return [*([] if told == talk else [vault.conversations.put(talk.session_key, told)]), *added]


def listen(vault: Vault, session_key: str, text: str) -> list[Op]:
    """Say how to write down which of the memories that it was given a conversation quotes."""
    talk = meeting.find(vault, session_key)
    given = vault.memories.some(talk.given) if talk else {}
    quoted = usage.quoted(text, given.values())
    return note(vault, session_key, Report(memory_ids=quoted)) if quoted else []
