"""Listening: what somebody said in a conversation, without what is private or secret, and what it is worth."""

import logging
from collections.abc import Iterable
from datetime import datetime

import msgspec
from msgspec import Struct

from protocol.conversations import Speaker
from protocol.errors import ThreadlineError
from sidecar.domain.continuity import conversations, turns
from sidecar.domain.continuity.turns import Signal, Turn
from sidecar.services.continuity.tools import Hear

_log = logging.getLogger(__name__)


class Said(Struct, frozen=True, kw_only=True):
    """Something said, as it was heard."""

    text: str
    said_by: Speaker
    key: str
    """What it is known by."""


def listen(session_key: str, said: Iterable[Said], *, hear: Hear, at: datetime) -> tuple[Turn, ...]:
    """Return the turns of what was said: the one way in which any turn comes in, whoever reports it.

    A rule that fails is logged and costs only what it would have found: the words are kept.
    """
    heard = (
        Turn(
            turn_id=turns.name(session_key, one.said_by, one.key),
            said_by=one.said_by,
            text=text,
            at=at,
            signal=Signal(),
        )
        for one in said
        if (text := conversations.kept(one.text))
    )
    return tuple(_weighed(turn, hear) for turn in heard)


def _weighed(turn: Turn, hear: Hear) -> Turn:
    if turn.said_by != "user":
        return turn
    try:
        signal = hear(turn.text, turn.at)
    except (ThreadlineError, OSError):
        # The store is busy or failing: the turn is tried again as a whole.
        raise
    except Exception:  # noqa: BLE001  # the boundary of the rules about words
        _log.exception("a rule about a turn failed; its words are kept")
        return turn
    return msgspec.structs.replace(turn, signal=signal)
