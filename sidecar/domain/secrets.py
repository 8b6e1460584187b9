"""Files whose very name says that nobody else should hear of them."""

import fnmatch
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
_PATTERN = re.compile("|".join(fnmatch.translate(name) for name in _NAMES), re.IGNORECASE)


def is_secret(path: str) -> bool:
    """Tell whether a file is likely to hold a secret, by its name and the folders it is in."""
    *folders, name = PurePosixPath(path).parts
    return bool(_PATTERN.match(name)) or not _FOLDERS.isdisjoint(map(str.lower, folders))
