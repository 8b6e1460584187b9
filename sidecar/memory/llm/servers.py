"""Language models behind OpenAI-compatible servers, and what their errors mean."""

import ipaddress
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec
from msgspec import Struct

from protocol.errors import ModelFailedError
from sidecar.memory.llm import http
from sidecar.memory.llm.http import Answer, Patience, Question
from sidecar.memory.llm.prompts import Cancelled, Completion, Prompt
from sidecar.privacy.redaction import MARK, redact
from sidecar.text import token_counts

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
    """Return why a server refused, and the way out; never with the key, whatever the server says."""
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
        output_tokens=_count(usage, "completion_tokens") or token_counts.estimate(text),
    )


def _count(usage: object, name: str) -> int:
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and count > 0 else 0


_OPTIONAL = ("max_tokens", "temperature", "response_format")
"""What some servers do not know, and say so."""
PATIENT = Patience()


@dataclass(frozen=True, slots=True)
class HttpModel:
    """A model behind a server's address; make one with `connect`."""

    base_url: str
    model: str
    key: str | None = field(default=None, repr=False)
    patience: Patience = PATIENT

    @property
    def name(self) -> str:
        """Return which model answers, and where."""
        return f"{self.model} at {urlsplit(self.base_url).netloc}"

    def complete(self, prompt: Prompt, *, max_tokens: int, cancelled: Cancelled) -> Completion:
        """Answer once, within the patience there is for all tries together."""
        begun = time.monotonic()
        body = _question(self.model, prompt, max_tokens)
        answer = self._ask(body, begun, cancelled)
        while (simpler := _simpler(body, answer)) is not None:
            body = simpler
            answer = self._ask(body, begun, cancelled)
        if answer.status != httpx.codes.OK:
            raise ModelFailedError(explain(answer, self.base_url, self.model, self.key))
        return completion(answer, prompt, self.base_url)

    def _ask(self, body: dict[str, object], begun: float, cancelled: Cancelled) -> Answer:
        url, until = f"{self.base_url}/chat/completions", begun + self.patience.total
        question = Question(url, body, self.key, direct=is_local(self.base_url))
        return http.post(question, self.patience, until=until, cancelled=cancelled)


def connect(
    base_url: str,
    model: str,
    key: str | None = None,
    *,
    patience: Patience = PATIENT,
    allow_plain: bool = False,
) -> HttpModel:
    """Prepare a model; nothing is sent yet. Raises `ModelFailedError` for an address that is not safe."""
    address = base_url.strip().rstrip("/").removesuffix("/chat/completions")
    for is_wrong, problem in _CHECKS:
        if is_wrong(address):
            raise ModelFailedError(f"the model's address {_shown(address)} {problem}")
    if urlsplit(address).scheme == "http" and not (allow_plain or is_local(address)):
        raise ModelFailedError(
            f"the model's address {_shown(address)} would send the key and the events in the open;"
            " use https, or allow plain HTTP for it in the settings"
        )
    if not model.strip():
        raise ModelFailedError("no model is named; set the model to one that the server offers")
    if key is not None and not (key.isascii() and key.isprintable()):
        raise ModelFailedError("the model's key holds signs that no key has; set it anew")
    return HttpModel(address, model.strip(), key or None, patience)


def is_local(address: str) -> bool:
    """Return whether an address is on this machine."""
    host = (urlsplit(address).hostname or "").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_no_address(address: str) -> bool:
    try:
        parts = urlsplit(address)
        is_whole = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return True
    return not is_whole or parts.scheme not in {"http", "https"}


_CHECKS: tuple[tuple[Callable[[str], bool], str], ...] = (
    (_is_no_address, "is none; it has to look like https://host/v1"),
    (
        lambda address: "@" in urlsplit(address).netloc,
        "holds a user's name or password; put the key into the environment or the keyring instead",
    ),
    (
        lambda address: bool(urlsplit(address).query or urlsplit(address).fragment),
        "has a part after `?` or `#`, which cannot be kept; leave it out",
    ),
)


def _shown(address: str) -> str:
    """Show an address without what may be secret in it."""
    return repr(address.partition("?")[0].rpartition("@")[2])


def _question(model: str, prompt: Prompt, max_tokens: int) -> dict[str, object]:
    return {
        "model": model,
        "messages": [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ],
        "max_tokens": max_tokens,
        "temperature": 0,
        "response_format": {"type": "json_object"},
        "stream": False,
    }


def _simpler(body: dict[str, object], answer: Answer) -> dict[str, object] | None:
    """Ask again without the option that a server complains of; it has another name for the cap."""
    if answer.status not in {httpx.codes.BAD_REQUEST, httpx.codes.UNPROCESSABLE_ENTITY}:
        return None
    said = answer.text()
    for option in _OPTIONAL:
        if option in body and option in said:
            simpler = {name: value for name, value in body.items() if name != option}
            if option == "max_tokens":
                simpler["max_completion_tokens"] = body[option]
            return simpler
    return None
