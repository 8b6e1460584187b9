"""Pack the plugin folders and write SHA256SUMS: what `make dist` adds to the wheel, the sdist and the extension.

python tools/bundle.py FOLDER    the folder that holds the wheel; the date inside is SOURCE_DATE_EPOCH's
"""

import hashlib
import os
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from protocol.versions import VERSION

ROOT = Path(__file__).resolve().parent.parent
PLUGINS = (
    *("agent-plugin", "claude-code", "claude-code-lsp", "codex", "copilot", "cursor", "gemini-cli"),
    *("openclaw", "opencode", "skills", "windsurf"),
)
"""Folders below `editors/` that a person or a marketplace installs as they are."""
SUMS = "SHA256SUMS"
_FIRST = 315_532_800
"""1980-01-01, before which a zip knows no time."""


def main() -> int:
    """Write an archive of each plugin, then the checksums of every file of this version."""
    folder = Path(sys.argv[1])
    for name in PLUGINS:
        pack(ROOT / "editors" / name, folder / f"threadline-{name}-{VERSION}.zip")
    settle(folder / f"threadline-{VERSION}.vsix")
    files = sorted(path for path in folder.iterdir() if f"-{VERSION}" in path.name)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / SUMS).write_text("".join(lines), "utf-8")
    print(f"{folder}: {', '.join(path.name for path in files)}, {SUMS}")
    return 0


def pack(folder: Path, archive: Path) -> None:
    """Write a folder's files and our licence into a zip whose bytes depend on nothing but these and the date."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    entries = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    _write(archive, {**entries, "LICENSE": (ROOT / "LICENSE").read_bytes()})


def settle(archive: Path) -> None:
    """Write a zip again without what depends on the machine: vsce keeps the modes that a umask left."""
    with zipfile.ZipFile(archive) as packed:
        entries = {name: packed.read(name) for name in packed.namelist()}
    _write(archive, entries)


def _write(archive: Path, entries: dict[str, bytes]) -> None:
    epoch = max(int(os.environ.get("SOURCE_DATE_EPOCH", _FIRST)), _FIRST)
    date = datetime.fromtimestamp(epoch, UTC).timetuple()[:6]
    with zipfile.ZipFile(archive, "w") as packed:
        for name, data in sorted(entries.items()):
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, data)


if __name__ == "__main__":
    sys.exit(main())
