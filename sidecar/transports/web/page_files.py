"""The files of our pages, by the paths they are asked for."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

PAGES = Path(__file__).with_name("pages")
DOOR = Path(__file__).with_name("door")
"""What everyone may see: how to come in."""
_HOME = "index.html"
_MADE = ("page.js", "page.css")
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ttf": "font/ttf",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}


class File(msgspec.Struct, frozen=True):
    """What is sent for a path."""

    kind: str
    content: bytes


def are_built() -> bool:
    """Return whether there are pages to show: they are made from the extension's source, and not kept with ours."""
    return all((PAGES / name).is_file() for name in _MADE)


def load(folder: Path) -> Mapping[str, File]:
    """Read all files of a folder, by the paths they are asked for: pages without `.html`, `index` as `/`."""
    return {
        _address(path.relative_to(folder)): File(_TYPES[path.suffix], path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.suffix in _TYPES and path.is_file() and not path.is_symlink()
    }


def _address(path: Path) -> str:
    if path.as_posix() == _HOME:
        return "/"
    return f"/{path.with_suffix('') if path.suffix == '.html' else path}".replace("\\", "/")
