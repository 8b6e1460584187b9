"""Read the chat history that aider keeps as Markdown in a project."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from sidecar.conversations.imports import past
from sidecar.conversations.imports.past import Damaged, Piece, Reader, Transcript

_CHAT, _INPUT = ".aider.chat.history.md", ".aider.input.history"
_BEGUN, _ASKED, _TOLD, _EDITED = "# aider chat started at ", "#### ", "> ", "> Applied edit to "


def find(home: Path, folders: Sequence[str]) -> Iterator[Transcript]:
    """Find each chat in the histories of a project's folders."""
    del home
    for folder in folders:
        path = Path(folder) / _CHAT
        if path.is_file():
            for begun in dict.fromkeys(filter(None, map(_begun, past.texts(path, lambda: None)))):
                yield _transcript(path, folder, begun)


def _transcript(path: Path, folder: str, begun: str) -> Transcript:
    return Transcript(
        host="aider",
        session_key=f"aider:{folder}:{begun}",
        stamp=past.stamp(path),
        pieces=lambda damaged: _pieces(path, begun, damaged),
        folder=folder,
    )


def _begun(line: str) -> str:
    return line.removeprefix(_BEGUN).strip() if line.startswith(_BEGUN) else ""


def _pieces(path: Path, begun: str, damaged: Damaged) -> Iterator[Piece]:
    at, asked, answered, is_ours, number = _local(begun), list[str](), list[str](), False, 0
    moments = _moments(path.with_name(_INPUT), at)
    for line in (*past.texts(path, damaged), _BEGUN):
        is_end, is_question = line.startswith(_BEGUN), line.startswith(_ASKED)
        if answered and (is_end or is_question):
            yield Piece(at, "assistant", "\n".join(answered).strip(), f"{begun}:{number}:answer")
            answered = []
        if asked and not is_question:
            question, asked, number = "\n".join(asked), [], number + 1
            at = next((said for said, words in moments if words == question), at)
            yield Piece(at, "user", question, f"{begun}:{number}")
        if is_end:
            is_ours = _begun(line) == begun
        elif is_ours and is_question:
            asked.append(line.removeprefix(_ASKED).rstrip())
        elif is_ours and line.startswith(_EDITED):
            yield Piece(at, files=(line.removeprefix(_EDITED).strip(),))
        elif is_ours and not line.startswith(_TOLD.strip()) and (line.strip() or answered):
            answered.append(line)


def _moments(path: Path, begun: datetime | None) -> list[tuple[datetime, str]]:
    """Return when each prompt was typed since a chat began: the history of chats itself tells only that."""
    found: list[tuple[datetime, list[str]]] = []
    for line in past.texts(path, lambda: None) if path.is_file() else ():
        at = _local(line.removeprefix("# ")) if line.startswith("# ") else None
        if at is not None:
            found.append((at, []))
        elif line.startswith("+") and found:
            found[-1][1].append(line.removeprefix("+").rstrip())
    return [(at, "\n".join(words)) for at, words in found if begun is None or at >= begun]


def _local(said: str) -> datetime | None:
    try:
        return datetime.fromisoformat(said.strip()).astimezone()
    except ValueError:
        return None


READER = Reader("aider", "aider", find)
