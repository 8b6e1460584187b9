"""Completions: what is asked of a language model, whichever it is, and what it answers."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from sidecar.domain.asking import budgets

Cancelled = Callable[[], bool]
"""Tells whether whoever asked does not want it any more."""


class Prompt(Struct, frozen=True, kw_only=True):
    """What is asked: what to do, and what to do it with."""

    system: str
    user: str

    @property
    def tokens(self) -> int:
        """Tell how many tokens it takes at most."""
        return budgets.estimate(self.system) + budgets.estimate(self.user)


class Completion(Struct, frozen=True, kw_only=True):
    """What a model answered, and what it took; estimated where the model does not tell."""

    text: str
    input_tokens: int
    output_tokens: int


class Model(Protocol):
    """A language model: over HTTP, or the editor's own."""

    @property
    def name(self) -> str:
        """Say who answers, for people and records."""

    def complete(self, prompt: Prompt, *, max_tokens: int, cancelled: Cancelled) -> Completion:
        """Answer once; raises `ModelFailedError`, or `CancelledError` soon after `cancelled` says so."""
