"""What a model's server answered: the completion, or in a sentence what is wrong and the way out."""

from typing import Any

import msgspec
from msgspec import Struct

from protocol.errors import ModelFailedError
from sidecar.adapters.models.exchanges import Answer
from sidecar.domain.asking import budgets
from sidecar.domain.asking.completions import Completion, Prompt
from sidecar.domain.redaction.texts import MARK, redact

_EXCERPT = 200
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_REDIRECTS = range(300, 400)


class _Message(Struct):
    content: str | None = None


class _Choice(Struct):
    message: _Message | None = None
    finish_reason: str | None = None


class _Completed(Struct):
    choices: list[_Choice]
    usage: Any = None
    """Read with care: an odd count is no reason to lose an answer."""


class _Complaint(Struct):
    message: str


class _Complained(Struct):
    error: _Complaint | str


_COMPLETED = msgspec.json.Decoder(_Completed)
_COMPLAINED = msgspec.json.Decoder(_Complained)


def completion(answer: Answer, prompt: Prompt, base_url: str) -> Completion:
    """Read a completion; raises `ModelFailedError` for what is none, or is cut off."""
    if not answer.body.strip():
        raise ModelFailedError(f"{base_url} answered with nothing; try again")
    try:
        completed = _COMPLETED.decode(answer.body)
    except _UNREADABLE:
        kind = answer.headers.get("content-type", "no type")[:60]
        raise ModelFailedError(
            f"{base_url} answered with something that is no completion ({kind}, {len(answer.body):,}"
            " bytes); check that the address ends where the server's documentation says, often in /v1"
        ) from None
    if not completed.choices or (message := completed.choices[0].message) is None:
        raise ModelFailedError(f"{base_url} answered without a choice; try again")
    if completed.choices[0].finish_reason == "length":
        raise ModelFailedError(
            f"the answer of {base_url} was cut off at its cap of tokens; raise the cap"
        )
    if message.content is None or not message.content.strip():
        raise ModelFailedError(f"{base_url} answered with an empty text; try another model")
    return _counted(message.content, completed.usage, prompt)


def explain(answer: Answer, base_url: str, model: str, key: str | None) -> str:
    """Say why a server refused, and the way out; never with the key, whatever the server says."""
    status = answer.status
    match status:
        case 401 | 403 if key is None:
            why = "wants a key", "set THREADLINE_MODEL_KEY, or store one in the keyring"
        case 401 | 403:
            why = "does not accept the key", "set another one"
        case 404:
            why = f"is the wrong address, or knows no model {model!r}", "many addresses end in /v1"
        case 413:
            why = "finds the question too long", "lower the tokens of a question"
        case 429:
            why = "says that the account has nothing left", "add to it, or choose another provider"
        case _ if status in _REDIRECTS:
            why = "points elsewhere and is not followed with a key", "set the new address"
        case _:
            why = f"refuses: {_said(answer, key)}", "check the model and the settings"
    return f"{base_url} {why[0]} ({status}); {why[1]}"


def _said(answer: Answer, key: str | None) -> str:
    """Quote a server's own reason, as far as it is safe to show."""
    try:
        error = _COMPLAINED.decode(answer.body).error
        text = error if isinstance(error, str) else error.message
    except _UNREADABLE:
        text = answer.text()
    if key:
        text = text.replace(key, MARK)
    return redact(" ".join(text.split()))[:_EXCERPT] or "without a reason"


def _counted(text: str, usage: object, prompt: Prompt) -> Completion:
    return Completion(
        text=text,
        input_tokens=_count(usage, "prompt_tokens") or prompt.tokens,
        output_tokens=_count(usage, "completion_tokens") or budgets.estimate(text),
    )


def _count(usage: object, name: str) -> int:
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and count > 0 else 0
