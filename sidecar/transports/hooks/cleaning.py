"""Cleaning: what is private or secret leaves an observation before it is written anywhere."""

from sidecar.privacy import prefilter
from sidecar.transports.hooks.observing import LONGEST, Observation, digest

_TEXTS = ("prompt", "response", "summary")
_CUT = LONGEST + LONGEST // 10
_SECRET_FILES = (
    *(".env", "secret", "credential", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".key"),
    *(".pem", ".p12", ".pfx", ".p8", ".ppk", ".pgpass", ".pypirc", ".npmrc", "netrc", ".jks"),
    *(".kdbx", ".asc", ".gpg", ".age", "known_hosts", "authorized_keys", ".my.cnf", ".htpasswd"),
    *(".docker", "kube", ".tfvars", ".tfstate", "service-account", ".ovpn"),
    *(".ssh", ".aws", ".gnupg", ".azure"),
)
"""One of these stands in the name of every file that may hold secrets."""


def clean(seen: Observation) -> Observation:
    """Give an observation as it may be kept."""
    cleaned = dict(seen)
    for field in _TEXTS:
        text = seen.get(field)
        if isinstance(text, str) and text:
            cleaned[field] = _clean(text)
    files = seen.get("files")
    if isinstance(files, list):
        cleaned["files"] = [path for path in files if not _is_secret(path)]
    return {field: value for field, value in cleaned.items() if value}


def name(session: str) -> str:
    """Give the name of a conversation, or a hash of one with a secret in it."""
    return session if _clean(session) == session else digest(session)


def _clean(text: str) -> str:
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
    """Shorten a text between two words, so that nothing is cut that would have been known as a secret."""
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
