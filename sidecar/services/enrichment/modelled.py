"""A language model as a reader of events: within its budget, and believed only where it quotes."""

import functools
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from protocol.errors import CancelledError, ModelFailedError
from protocol.jobs import ProviderName
from sidecar.domain.asking import budgets, prompts, replies
from sidecar.domain.asking.budgets import Caps, Spending
from sidecar.domain.asking.completions import Completion, Model
from sidecar.domain.asking.prompts import Piece
from sidecar.domain.drafts import Draft, Reading
from sidecar.services.enrichment.stages import Begin, Count, Read

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
                lambda now: budgets.settle(_some(now, self.today()), reserved=most, used=used)
            )
        return completion

    def _reserve(self, tokens: int) -> None:
        today = self.today()

        def reserve(spending: Spending | None) -> Spending:
            problem = budgets.refusal(
                self.caps, tokens, by_job=self._tokens, today=budgets.spent(spending, today)
            )
            if problem is not None:
                raise ModelFailedError(problem)
            return budgets.reserve(spending, tokens, today)

        self.spend(reserve)


def _some(spending: Spending | None, today: date) -> Spending:
    return spending if spending is not None else Spending(day=today)


def _is_cancelled(tell: Count, done: int, total: int) -> bool:
    try:
        tell(done, total)
    except CancelledError:
        return True
    return False
