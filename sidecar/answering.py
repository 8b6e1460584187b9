"""Turn any outcome of a request into exactly one answer."""

import logging
from collections.abc import Callable

from msgspec import Raw

from protocol.answers import Answer, Failure, failure
from protocol.errors import Code, ThreadlineError

INTERNAL = Failure(code=Code.INTERNAL_ERROR, message="internal error; the log has more")
"""What a client is told of a failure that nobody has foreseen."""

_log = logging.getLogger(__name__)


def answer(identifier: int | str | None, name: str, act: Callable[[], Raw]) -> Answer:
    """Answer one request by what an act gives or raises: the boundary that all transports share."""
    try:
        return Answer(id=identifier, result=act())
    except ThreadlineError as error:
        return Answer(id=identifier, error=failure(error))
    except Exception:  # noqa: BLE001  # it is answered, and the log has the rest
        _log.exception("%s failed unexpectedly", name)
        return Answer(id=identifier, error=INTERNAL)
