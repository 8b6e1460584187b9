"""Read events by rules or with a language model."""

import functools
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from protocol.errors import CancelledError, ModelFailedError
from protocol.jobs import ProviderName
from sidecar.memory.extract import compose
from sidecar.memory.extract.compose import Found, Standing
from sidecar.memory.llm import prompts, replies
from sidecar.memory.llm.prompts import Completion, Model, Piece
from sidecar.memory.rules.drafts import Draft, Reading
from sidecar.memory.stages import TRIES, Begin, Count, Read
from sidecar.text import token_counts
from sidecar.text.token_counts import Caps, Spending

QUESTION = 12_000
"""Tokens of one question: enough for an hour's events, little enough for small models."""
ANSWER = 2_000
"""Tokens of one answer."""

Spend = Callable[[Callable[[Spending | None], Spending]], Spending]
"""Changes what was spent today, for all processes."""

_log = logging.getLogger(__name__)


@dataclass
class Modelled:
    """Reads by asking a model; whatever the model does wrong fails the job and can be retried."""

    name: ProviderName
    model: Model
    caps: Caps
    spend: Spend
    today: Callable[[], date]
    _tokens: int = 0

    def read(self, session_id: str, readings: Sequence[Reading], tell: Count, begin: Begin) -> Read:
        """Ask about the events in as few questions as the budget allows."""
        del session_id
        pieces = list(prompts.pieces(readings, tokens=QUESTION))
        drafts: list[Draft] = []
        for number, piece in enumerate(pieces):
            tell(number, len(pieces))
            begin([shown.event.event_id for shown in piece.shown])
            heard = functools.partial(_is_cancelled, tell, number, len(pieces))
            completion = self._ask(piece, heard)
            reply = replies.read(completion.text, piece)
            for rejection in reply.rejections:
                _log.info("%s: item %d: %s", self.model.name, rejection.number, rejection.reason)
            drafts += reply.drafts
        tell(len(pieces), len(pieces))
        return Read(drafts=tuple(drafts), tokens=self._tokens)

    def _ask(self, piece: Piece, cancelled: Callable[[], bool]) -> Completion:
        """Ask one question; its cost is counted before it is sent."""
        most = piece.prompt.tokens + ANSWER
        self._reserve(most)
        used = most
        try:
            completion = self.model.complete(piece.prompt, max_tokens=ANSWER, cancelled=cancelled)
            used = completion.input_tokens + completion.output_tokens
        finally:
            self._tokens += used
            self.spend(
                lambda now: token_counts.settle(_some(now, self.today()), reserved=most, used=used)
            )
        return completion

    def _reserve(self, tokens: int) -> None:
        today = self.today()

        def reserve(spending: Spending | None) -> Spending:
            problem = token_counts.refusal(
                self.caps, tokens, by_job=self._tokens, today=token_counts.spent(spending, today)
            )
            if problem is not None:
                raise ModelFailedError(problem)
            return token_counts.reserve(spending, tokens, today)

        self.spend(reserve)


def _some(spending: Spending | None, today: date) -> Spending:
    return spending if spending is not None else Spending(day=today)


def _is_cancelled(tell: Count, done: int, total: int) -> bool:
    try:
        tell(done, total)
    except CancelledError:
        return True
    return False


@dataclass
class Rules:
    """Reads without a model, a key or a network; the same events give the same drafts."""

    name: ProviderName = "rules"
    standing: Standing = set
    """Tells which names of code still stand at HEAD."""

    def read(self, session_id: str, readings: Sequence[Reading], tell: Count, begin: Begin) -> Read:
        """Read one event after the other, then put together what they say."""
        found: list[Found] = []
        parked: list[str] = []
        for number, reading in enumerate(readings):
            tell(number, len(readings))
            begin([reading.event.event_id])
            event = _read(reading)
            if event is None:
                parked.append(reading.event.event_id)
            else:
                found.append(event)
        drafts = compose.put_together(session_id, found, self.standing)
        tell(len(readings), len(readings))
        return Read(drafts=drafts, parked=tuple(parked))


def _read(reading: Reading) -> Found | None:
    for _ in range(TRIES):
        try:
            return compose.read(reading)
        except Exception:  # noqa: BLE001  # the boundary of an event: the others are read all the same
            _log.exception("event %s could not be read", reading.event.event_id)
    return None
