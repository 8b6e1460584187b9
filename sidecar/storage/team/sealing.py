"""End-to-end encryption of entries: AES-256-GCM with a team key that no server sees, the header authenticated."""

import base64
import os
import threading
from pathlib import Path
from typing import Any

from protocol.errors import ConflictError, InvalidParamsError, TeamFailedError
from sidecar.storage import files
from sidecar.storage.team.entries import hashed
from sidecar.storage.team.sync import Codec

FILE = "team.key"
"""Holds the keys where there is no keyring."""
_SERVICE = "threadline-team"
_KEY, _NONCE, _NAME = 32, 12, 8
_SEALED = b"\x01"
_CHECK = b"threadline"
_PATIENCE = 5.0
"""Seconds; a keyring may ask its user something that nobody sees."""


def new_key() -> str:
    """Make a team key, as people pass it on."""
    return os.urandom(_KEY).hex()


def read_key(text: str) -> bytes:
    """Read a team key as people pass it on."""
    try:
        key = bytes.fromhex(text.strip())
    except ValueError:
        key = b""
    if len(key) != _KEY:
        raise InvalidParamsError(
            "that is no team key; `threadline team key` shows one", field="key"
        )
    return key


def codec(keys: list[str]) -> Codec:
    """Seal with the first of these keys, and read what was sealed with any."""
    ciphers = {_name(read_key(key)): _cipher(read_key(key)) for key in keys}
    current = _name(read_key(keys[0]))

    def seal(header: bytes, change: bytes) -> bytes:
        nonce = os.urandom(_NONCE)
        sealed: bytes = ciphers[current].encrypt(nonce, change, header)
        return _SEALED + current + nonce + sealed

    def unseal(header: bytes, payload: bytes) -> bytes:
        name = payload[1 : 1 + _NAME]
        if payload[:1] != _SEALED:
            raise ValueError("it is not sealed, though the team's entries are")
        if name not in ciphers:
            raise ValueError(
                "it is sealed with a key that this machine does not have: `team key --set`"
            )
        return _unsealed(ciphers[name], payload[1 + _NAME :], header)

    return Codec(seal=seal, open=unseal)


def check_of(key: str) -> str:
    """Return what only a holder of the key can read."""
    sealed = codec([key]).seal(_CHECK, _CHECK)
    return base64.b64encode(sealed).decode()


def verify(keys: list[str], check: str) -> None:
    """Raise for keys of which none is the team's current one."""
    try:
        if keys and codec(keys).open(_CHECK, base64.b64decode(check)) == _CHECK:
            return
    except ValueError:
        pass
    what = "that is not the team's key" if keys else "the team's entries are encrypted"
    raise ConflictError(
        f"{what}; nothing was written: ask a member for what `threadline team key` shows",
        field="key",
    )


def load(folder: Path, team_id: str) -> list[str]:
    """Return the team's keys that this machine has, the current one first."""
    kept = files.read(folder / FILE)
    text = (
        kept.decode()
        if kept is not None
        else _ask(lambda ring: ring.get_password(_SERVICE, team_id))
    )
    return text.split() if text else []


def store(folder: Path, team_id: str, keys: list[str]) -> str:
    """Keep the team's keys in the system's keyring, or in a private file where there is none; say where."""
    text = "\n".join(keys)

    def put(ring: Any) -> str:  # noqa: ANN401  # a module that may be missing
        ring.set_password(_SERVICE, team_id, text)
        return str(ring.get_password(_SERVICE, team_id))

    if not (folder / FILE).exists() and _ask(put) == text:
        return "the keyring"
    files.replace(folder / FILE, text.encode())
    return str(folder / FILE)


def forget(folder: Path, team_id: str) -> None:
    """Keep the team's keys no longer."""
    (folder / FILE).unlink(missing_ok=True)
    _ask(lambda ring: ring.delete_password(_SERVICE, team_id))


def _cipher(key: bytes) -> Any:  # noqa: ANN401  # of a package that may be missing
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415  # few encrypt
    except ImportError as error:
        raise TeamFailedError(
            "encryption needs a package: pip install 'threadline[team]'"
        ) from error
    return AESGCM(key)


def _unsealed(cipher: Any, sealed: bytes, header: bytes) -> bytes:  # noqa: ANN401  # likewise
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415  # likewise

    try:
        opened: bytes = cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], header)
    except InvalidTag as error:
        raise ValueError("it was changed after it was sealed") from error
    return opened


def _name(key: bytes) -> bytes:
    return bytes.fromhex(hashed(b"name of a team key" + key))[:_NAME]


def _ask(question: Any) -> str | None:  # noqa: ANN401  # a function of the keyring's module
    """Ask the system's keyring; None where there is none, or it does not answer in time."""
    answer: list[str | None] = []

    def ask() -> None:
        try:
            import keyring  # noqa: PLC0415  # it looks for its plug-ins, which takes time

            answer.append(question(keyring))
        except Exception:  # noqa: BLE001  # keyrings are plug-ins and raise what they like
            answer.append(None)

    thread = threading.Thread(target=ask, daemon=True, name="threadline-keyring")
    thread.start()
    thread.join(_PATIENCE)
    return answer[0] if answer else None
