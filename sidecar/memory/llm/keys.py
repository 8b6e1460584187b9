"""API keys from the environment or the system keyring."""

import importlib
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from urllib.parse import urlsplit

from protocol.errors import ModelFailedError
from protocol.settings import KEY_VARIABLE
from sidecar.memory.llm import http

VARIABLE = "THREADLINE_MODEL_KEY"
SERVICE = "threadline"
_PATIENCE = 5.0
"""Seconds; a keyring may ask its user something that nobody sees."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key, which is never shown, and where it was found."""

    value: str = field(repr=False)
    origin: str


@dataclass(frozen=True, slots=True)
class NoKey:
    """Why there is no key, and how there could be one; a server of one's own may need none."""

    reason: str


def find(
    base_url: str,
    *,
    variable: str | None = None,
    environment: Mapping[str, str] = os.environ,
    patience: float = _PATIENCE,
) -> Key | NoKey:
    """Find the key for a provider: our own variable, then the one the settings name, then the keyring.

    Raises `ModelFailedError` for a variable that may hold some other secret.
    """
    if variable and not re.fullmatch(KEY_VARIABLE, variable):
        raise ModelFailedError(
            f"`threadline.modelKeyVariable` names {variable!r}, which is never sent to a model: a key is in a"
            " variable called THREADLINE_… or …_API_KEY"
        )
    for name in (VARIABLE, variable):
        if name and (value := environment.get(name, "").strip()):
            return Key(value, f"the environment variable {name}")
    host = urlsplit(base_url).hostname or base_url
    way_out = f"set {variable or VARIABLE}, or run `keyring set {SERVICE} {host}`"
    found = _ask_keyring(host, patience)
    return found if isinstance(found, Key) else NoKey(f"{found}; {way_out}")


def _ask_keyring(host: str, patience: float) -> Key | str:
    """Ask the system's keyring; tells why it has no key."""
    if find_spec("keyring") is None:
        return (
            f"no key for {host} is in the environment, and the package `keyring` is not installed"
        )
    answer = http.begin(lambda: _password(host), "threadline-keyring")
    try:
        value = http.wait(answer, until=time.monotonic() + patience)
    except TimeoutError:
        return (
            f"the keyring did not answer in {patience:g} s; it may be locked or ask for a password"
        )
    except Exception as error:  # noqa: BLE001 - keyrings are plug-ins and raise what they like
        return f"the keyring cannot be read ({type(error).__name__})"
    if not value:
        return f"neither the environment nor the keyring has a key for {host}"
    return Key(value, f"the keyring, as {SERVICE} / {host}")


def _password(host: str) -> str | None:
    """Read the keyring; it is loaded here because it looks for its plug-ins, which takes time."""
    value = importlib.import_module("keyring").get_password(SERVICE, host)
    return value.strip() if isinstance(value, str) else None
