"""Read conversations that SpecStory has saved as Markdown in a project."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from sidecar.conversations.imports import past
from sidecar.conversations.imports.past import Damaged, Piece, Reader, Transcript

_TITLE = re.compile(r"<!-- (?P<host>[\w .-]+?) Session (?P<id>\S+) \((?P<at>[^)]*)\) -->")
_SPEAKER = re.compile(
    r"_\*\*(?P<who>User|Agent|Assistant)\b[^*]*?(?P<at>\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?\)?\*\*_\s*"
)
_TOOL = re.compile(r"<(tool-use|details|think)\b.*?(?:</\1>|\Z)", re.DOTALL)
_NAMED = re.compile(r"(\d{4}-\d\d-\d\d)_(\d\d)-(\d\d)(?:-(\d\d))?Z?")


def find(home: Path, folders: Sequence[str]) -> Iterator[Transcript]:
    """Find the files in the folders of a project."""
    del home
    for folder in folders:
        for path in sorted(Path(folder).glob(".specstory/history/*.md")):
            yield _transcript(path, folder)


def _transcript(path: Path, folder: str) -> Transcript:
    title = next(filter(None, map(_TITLE.match, _first(path))), None)
    begun = past.moment(title["at"]) if title else None
    return Transcript(
        host="specstory",
        session_key=title["id"] if title else path.stem,
        stamp=past.stamp(path),
        pieces=lambda damaged: _pieces(path, begun or _named(path), damaged),
        folder=folder,
    )


def _first(path: Path) -> list[str]:
    found = past.texts(path, lambda: None)
    return [line for line, _ in zip(found, range(20), strict=False)]


def _named(path: Path) -> datetime | None:
    found = _NAMED.match(path.name)
    return past.moment(f"{found[1]}T{found[2]}:{found[3]}:{found[4] or '00'}Z") if found else None


def _pieces(path: Path, begun: datetime | None, damaged: Damaged) -> Iterator[Piece]:
    speaker, at, said, number = "", begun, list[str](), 0
    for line in (*past.texts(path, damaged), "_**User**_"):
        heading = _SPEAKER.fullmatch(line)
        if heading is None:
            said.append(line)
            continue
        words = _TOOL.sub("", "\n".join(said)).strip().removesuffix("---").strip()
        if speaker and words:
            yield Piece(at, past.speaker(speaker == "User"), words, f"{path.stem}:{number}")
        speaker, said, number = heading["who"], [], number + 1
        at = past.moment(heading["at"]) or at


READER = Reader("specstory", "SpecStory", find)
