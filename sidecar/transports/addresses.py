"""Addresses: how clients name files."""

import os
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit


def path_of(uri: str) -> Path | None:
    """Read the address of a file of this machine, every byte of it; None for any other."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    name = os.fsdecode(unquote_to_bytes(parts.path))
    if parts.scheme != "file" or parts.netloc not in {"", "localhost"} or "\0" in name:
        return None
    if os.name == "nt":
        name = name.removeprefix("/")
    return Path(name) if os.path.isabs(name) else None  # noqa: PTH117  # a name, not yet a path
