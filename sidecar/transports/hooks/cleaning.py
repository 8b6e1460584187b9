"""Decide what of an observation may be stored: nothing while capture is paused, and nothing private or secret."""

import os
import time

from sidecar.privacy import prefilter
from sidecar.transports.hooks import notation
from sidecar.transports.hooks.observing import LONGEST, Observation, digest

_TEXTS = ("prompt", "response", "summary")
_CUT = LONGEST + LONGEST // 10
_MOST = 1024 * 1024
_SECRET_FILES = (
    *(".env", "secret", "credential", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".key"),
    *(".pem", ".p12", ".pfx", ".p8", ".ppk", ".pgpass", ".pypirc", ".npmrc", "netrc", ".jks"),
    *(".kdbx", ".asc", ".gpg", ".age", "known_hosts", "authorized_keys", ".my.cnf", ".htpasswd"),
    *(".docker", "kube", ".tfvars", ".tfstate", "service-account", ".ovpn"),
    *(".ssh", ".aws", ".gnupg", ".azure"),
)
"""Parts of names; every file that may hold secrets has one of them."""


def clean(seen: Observation) -> Observation:
    """Return an observation as it may be stored."""
    cleaned = dict(seen)
    for field in _TEXTS:
        text = seen.get(field)
        if isinstance(text, str) and text:
            cleaned[field] = clean_text(text)
    files = seen.get("files")
    if isinstance(files, list):
        cleaned["files"] = [path for path in files if not _is_secret(path)]
    return {field: value for field, value in cleaned.items() if value}


def name(session: str) -> str:
    """Return the id of a conversation, or a hash of one that contains a secret."""
    return session if clean_text(session) == session else digest(session)


def clean_text(text: str) -> str:
    """Return a text without what is marked private and without secrets, clipped to what is stored at most."""
    public = _clipped(_public(text))
    if not prefilter.may_hold(public):
        return public[:LONGEST]
    from sidecar.privacy.redaction import redact  # noqa: PLC0415  # its patterns take a while to compile

    return redact(public)[:LONGEST]


def _public(text: str) -> str:
    if "<" not in text:
        return text
    from sidecar.privacy import marks  # noqa: PLC0415  # most texts do not need it

    return marks.public(text)


def _clipped(text: str) -> str:
    if len(text) <= _CUT:
        return text
    end = max(text.rfind(" ", 0, _CUT), text.rfind("\n", 0, _CUT))
    return text[: max(end, 0)]


def _is_secret(path: str) -> bool:
    lower = path.lower()
    if not any(part in lower for part in _SECRET_FILES):
        return False
    from sidecar.privacy import secret_files  # noqa: PLC0415  # most files do not need it

    return secret_files.is_secret(path.replace("\\", "/"))


def is_paused(home: str, root: str) -> bool:
    """Return whether capture is certainly paused in the project of a folder.

    What is not known without opening the project is decided when an observation is placed, by its own time.
    """
    try:
        projects = os.listdir(f"{home}/projects")
    except OSError:
        return False
    paused = [name for name in projects if _is_on(f"{home}/projects/{name}/pauses.json")]
    if not paused:
        return False
    from sidecar.storage.prepared import find_top  # noqa: PLC0415  # most folders are not paused

    lists = [_read(f"{home}/projects/{name}/folders.json") for name in paused]
    return find_top(root) in [str(name).removesuffix("/.git") for names in lists for name in names]


def _is_on(path: str) -> bool:
    """Return whether a pause is on; one that ends with a process is left to who can look for that process."""
    now = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
    pauses = [pause for pause in _read(path) if isinstance(pause, dict)]
    return any(
        not pause.get("process") and (pause.get("until") is None or str(pause["until"])[:19] > now)
        for pause in pauses
    )


def _read(path: str) -> list[object]:
    try:
        with open(path, "rb") as file:
            value = notation.decode_or_none(file.read(_MOST).decode("utf-8", "replace"))
    except OSError:
        return []
    return value if isinstance(value, list) else []
