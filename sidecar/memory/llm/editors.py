"""The editor's language model, reached over its own connection."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import msgspec

from protocol.enrichment import ModelAnswer, ModelParams
from protocol.errors import ModelFailedError, ThreadlineError
from sidecar.memory.llm import http
from sidecar.memory.llm.prompts import Cancelled, Completion, Prompt
from sidecar.text import token_counts

Ask = Callable[[ModelParams], "Future[Any]"]
"""Sends the request and gives what will be its result; cancelling that cancels the request."""


@dataclass(frozen=True, slots=True)
class EditorModel:
    """Whatever model the editor's user has chosen there."""

    ask: Ask
    editor: str
    seconds: float = 180.0

    @property
    def name(self) -> str:
        """Say whose model answers."""
        return f"the model of {self.editor}"

    def complete(self, prompt: Prompt, *, max_tokens: int, cancelled: Cancelled) -> Completion:
        """Answer once; the editor is told when nobody waits for its answer any more."""
        answer = self.ask(
            ModelParams(system=prompt.system, prompt=prompt.user, max_tokens=max_tokens)
        )
        try:
            raw = http.wait(answer, until=time.monotonic() + self.seconds, cancelled=cancelled)
            result = msgspec.convert(raw, ModelAnswer)
        except TimeoutError:
            raise ModelFailedError(f"{self.name} did not answer in {self.seconds:g} s") from None
        except msgspec.ValidationError as error:
            raise ModelFailedError(f"{self.name} answered in the wrong form: {error}") from None
        except ThreadlineError:
            raise
        except Exception as error:
            raise ModelFailedError(f"{self.name} cannot be asked: {error}") from error
        finally:
            answer.cancel()
        return _counted(result, prompt, self.name)


def _counted(result: ModelAnswer, prompt: Prompt, name: str) -> Completion:
    if not result.text.strip():
        raise ModelFailedError(f"{name} answered with an empty text; try another model")
    return Completion(
        text=result.text,
        input_tokens=max(0, result.input_tokens or 0) or prompt.tokens,
        output_tokens=max(0, result.output_tokens or 0) or token_counts.estimate(result.text),
    )
