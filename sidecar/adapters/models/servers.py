"""Language models over HTTP: any server that speaks OpenAI's chat completions, trusted with nothing.

Proxies are taken from the environment, which is the user's own, but never for a server on this machine: a
proxy would be shown the key and the events. Redirects are not followed: a key is meant for one host.
"""

import ipaddress
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx

from protocol.errors import ModelFailedError
from sidecar.adapters.models import exchanges, refusals
from sidecar.adapters.models.exchanges import Answer, Patience, Question
from sidecar.domain.asking.completions import Cancelled, Completion, Prompt

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
        """Say which model answers, and where."""
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
            raise ModelFailedError(refusals.explain(answer, self.base_url, self.model, self.key))
        return refusals.completion(answer, prompt, self.base_url)

    def _ask(self, body: dict[str, object], begun: float, cancelled: Cancelled) -> Answer:
        url, until = f"{self.base_url}/chat/completions", begun + self.patience.total
        question = Question(url, body, self.key, direct=is_local(self.base_url))
        return exchanges.post(question, self.patience, until=until, cancelled=cancelled)


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
    """Tell whether an address is on this machine."""
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
