"""Files whose name says they hold secrets."""

import functools
import re
from pathlib import PurePosixPath

_NAMES = (
    *(".env", ".env.*", ".envrc", "*.env"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.p8", "*.ppk", "*.jks", "*.keystore", "*.kdbx"),
    *("*.asc", "*.gpg", "*.age"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "authorized_keys", "known_hosts"),
    *(".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd"),
    *(".git-credentials", ".dockercfg", ".dockerconfigjson", "credentials", "credentials.*"),
    *("kubeconfig", "kubeconfig.*", "*.kubeconfig", "*.tfvars", "*.tfstate", "*.tfstate.*"),
    *("secret", "secret.*", "secrets", "secrets.*", "service-account*.json", "*.ovpn"),
)
_FOLDERS = {".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", "secrets", ".secrets"}


def is_secret(path: str) -> bool:
    """Return whether a file is likely to hold a secret, by its name and the folders it is in."""
    *folders, name = PurePosixPath(path).parts
    return _pattern().match(name) is not None or not _FOLDERS.isdisjoint(map(str.lower, folders))


@functools.cache
def _pattern() -> "re.Pattern[str]":
    """Compile the names when they are needed: most processes save no file."""
    import fnmatch  # noqa: PLC0415  # likewise

    return re.compile("|".join(map(fnmatch.translate, _NAMES)), re.IGNORECASE)
