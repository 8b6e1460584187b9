"""Agent keys: who may read or write which vaults over MCP and HTTP; only their hashes are kept."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from protocol.errors import (
    ConflictError,
    ForbiddenError,
    InvalidParamsError,
    NotFoundError,
    StoreRefusedError,
)
from protocol.messages import USER
from sidecar.storage import files
from sidecar.storage.locks import Lock

Access = Literal["read", "write"]
ALL = "all"
"""Stands for every vault, also those that are made later."""
ENVIRONMENT = "THREADLINE_KEY"
"""Where a server on standard input and output finds its client's key."""
PREFIX = "tlk_"
"""How a key begins, so that redaction knows one."""
_FILE = "keys.json"
_BYTES = 32
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_RESERVED = {USER, ALL, "any"}
"""Names that mean somebody else where agents are named."""


class AgentKey(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One key, as it is kept: without the words that open."""

    name: str
    """The agent; each has one key at a time."""
    digest: str
    """The SHA-256 of the key. 256 random bits need no slow hash."""
    vaults: tuple[str, ...]
    """Project ids, or `all`."""
    may_write: bool = False
    created_at: datetime
    revoked_at: datetime | None = None

    @property
    def is_for_all(self) -> bool:
        """Whether it opens every vault, and so may look into all of them at once."""
        return ALL in self.vaults

    def check(self, access: Access, vault: str) -> None:
        """Raise ForbiddenError where the key does not allow this."""
        if not self.is_for_all and vault not in self.vaults:
            raise ForbiddenError(
                f"the key of {self.name} does not open vault {vault}; "
                f"a new one does: threadline keys create {self.name} --vaults {vault}"
            )
        if access == "write" and not self.may_write:
            raise ForbiddenError(
                f"the key of {self.name} may only read; one that may write is made by "
                f"threadline keys create {self.name} --vaults {vault} --write"
            )


class AgentKeys:
    """The keys of a home. Each question reads the file again, so that a revoked key opens nothing from then on."""

    def __init__(self, home: Path) -> None:
        self._path = home / _FILE
        self._lock = Lock(home / "lock")

    def all(self) -> tuple[AgentKey, ...]:
        """Return all keys, also revoked ones; a file that cannot be read is refused, never taken as no keys."""
        data = files.read(self._path)
        try:
            return () if data is None else msgspec.json.decode(data, type=tuple[AgentKey, ...])
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise StoreRefusedError(
                f"cannot read {self._path}: {error}; `threadline keys off` removes it with all keys"
            ) from error

    def are_on(self) -> bool:
        """Whether keys are asked for: from the first one that is made until `threadline keys off`."""
        return bool(self.all())

    def find(self, shown: str | None) -> AgentKey:
        """Return the key that was shown; raise ForbiddenError for none, an unknown or a revoked one."""
        if not shown:
            raise ForbiddenError(
                f"this memory asks for a key; set {ENVIRONMENT} to one made by `threadline keys create`"
            )
        digest = _digest(shown)
        for key in self.all():
            if key.revoked_at is None and hmac.compare_digest(key.digest, digest):
                return key
        raise ForbiddenError("the key is unknown or revoked; `threadline keys create` makes one")

    def create(self, name: str, vaults: tuple[str, ...], access: Access, now: datetime) -> str:
        """Make a key for an agent and return it: this is the only time that it can be seen."""
        if not _NAME.fullmatch(name) or name.lower() in _RESERVED:
            raise InvalidParamsError(
                f"{name} is no name for an agent: up to 64 letters, digits, dots, dashes; not "
                + ", ".join(sorted(_RESERVED)),
                field="name",
            )
        token = PREFIX + secrets.token_urlsafe(_BYTES)
        made = AgentKey(
            name=name,
            digest=_digest(token),
            vaults=vaults,
            may_write=access == "write",
            created_at=now,
        )

        def add(known: tuple[AgentKey, ...]) -> tuple[AgentKey, ...]:
            if any(key.name == name and key.revoked_at is None for key in known):
                raise ConflictError(
                    f"{name} has a key; `threadline keys revoke {name}` takes it back"
                )
            return (*(key for key in known if key.name != name), made)

        self._change(add)
        return token

    def revoke(self, name: str, now: datetime) -> None:
        """Let an agent's key open nothing from now on."""

        def take_back(known: tuple[AgentKey, ...]) -> tuple[AgentKey, ...]:
            if not any(key.name == name and key.revoked_at is None for key in known):
                raise NotFoundError(f"{name} has no key; `threadline keys` lists them")
            return tuple(
                msgspec.structs.replace(key, revoked_at=key.revoked_at or now)
                if key.name == name
                else key
                for key in known
            )

        self._change(take_back)

    def turn_off(self) -> None:
        """Forget all keys, and ask for none."""
        with self._lock.held():
            self._path.unlink(missing_ok=True)

    def _change(self, act: Callable[[tuple[AgentKey, ...]], tuple[AgentKey, ...]]) -> None:
        with self._lock.held():
            files.replace(self._path, msgspec.json.encode(act(self.all())))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()
