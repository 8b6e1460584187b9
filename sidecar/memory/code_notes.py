"""Notes that stand in the code at HEAD: comments that explain, and rules of guides for contributors."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from msgspec import Struct

from protocol.memories import Anchor, Condition, Evidence, MemoryType, RuleName
from sidecar.code import line_origins
from sidecar.memory.codebases import Code
from sidecar.memory.extract import comments, guides
from sidecar.memory.rules import measured
from sidecar.memory.rules.drafts import Draft
from sidecar.privacy import cleaning
from sidecar.text import statements, wording

_FILES = 4_000
"""Files with such words that are read; of more, the first."""
_SHORT, _WORDS = 20, 4
_BLAMED = 60
"""Notes whose commit is looked for."""
_TYPES: dict[RuleName, MemoryType] = {
    "deliberate-comment": "decision",
    "comment": "fact",
    "guideline": "constraint",
}


class CodeNote(Struct, frozen=True, kw_only=True):
    """Something that a file of HEAD says about the code."""

    rule: RuleName
    path: str
    blob: str
    line: int
    text: str
    identifiers: int = 0
    is_remark: bool = False
    """Whether it is shown where its code is, and nowhere else."""


def at_head(code: Code) -> list[CodeNote]:
    """Return all notes of HEAD, each text once; the caller holds HEAD."""
    unique: dict[str, CodeNote] = {}
    for note in (*_commented(code), *_guided(code)):
        # What looks like a secret is none of anybody's business, and could not be found again.
        if cleaning.clean(note.text) == note.text:
            unique.setdefault(note.text.casefold(), note)
    return list(unique.values())


def drafts(code: Code, head: str, known: Iterable[str]) -> list[Draft]:
    """Return a draft of each note of HEAD that is not known; the caller holds HEAD."""
    seen = set(known)
    new = [note for note in at_head(code) if not note.is_remark and key(note) not in seen]
    sure = [note for note in new if note.rule in measured.CREATES]
    symbols = code.symbols((note.path, note.blob) for note in sure)
    origins = {key(note): code.origin(note.path, note.line) for note in sure[:_BLAMED]}
    return [
        _draft(
            note,
            head,
            line_origins.around(symbols.get((note.path, note.blob), ()), note.line)[:1],
            origins.get(key(note)),
        )
        for note in new
    ]


def key(note: CodeNote) -> str:
    """Name a note: the same words in the same file are the same note."""
    words = f"{note.path}\0{comments.plain(note.text)}".encode("utf-8", "replace")
    return f"note:{hashlib.blake2b(words, digest_size=12).hexdigest()}"


def stands(path: str, text: str, value: str) -> bool:
    """Return whether the words of a note stand in a file."""
    shown = guides.unlinked(text) if guides.NAMES.search(path) else text
    return comments.plain(value) in comments.plain(shown)


def _commented(code: Code) -> Iterator[CodeNote]:
    paths = [path for path in code.holding(comments.CUES) if comments.is_source(path)][:_FILES]
    blobs = code.blobs(paths)
    for path, blob, text in _read(code, blobs):
        for note in _cached(code, path, blob, text):
            yield CodeNote(
                rule="deliberate-comment" if note.kind == "deliberate" else "comment",
                path=path,
                blob=blob,
                line=note.first,
                text=note.text,
                identifiers=note.identifiers,
                is_remark=note.kind == "remark",
            )


def _guided(code: Code) -> Iterator[CodeNote]:
    blobs = {path: blob for path, blob in code.paths().items() if guides.NAMES.search(path)}
    for path, blob, text in _read(code, blobs):
        for rule in guides.rules(text or ""):
            line = _line(text or "", rule)
            yield CodeNote(rule="guideline", path=path, blob=blob, line=line, text=rule)


def _line(text: str, rule: str) -> int:
    """Tell on which line a rule begins; its words may be broken over lines there."""
    words = (re.escape(word) for word in rule.split()[:_WORDS])
    place = re.search(r"\s+".join(words), text)
    return text.count("\n", 0, place.start()) + 1 if place else 1


def _cached(code: Code, path: str, blob: str, text: str | None) -> tuple[comments.Note, ...]:
    place = ("notes", path, blob)
    if place not in code.by_blob:
        code.by_blob[place] = comments.find(path, text or "")
    found: tuple[comments.Note, ...] = code.by_blob[place]
    return found


def _read(code: Code, blobs: Mapping[str, str]) -> Iterator[tuple[str, str, str | None]]:
    wanted = {blob for path, blob in blobs.items() if ("notes", path, blob) not in code.by_blob}
    texts = code.read(wanted) if wanted else {}
    for path, blob in blobs.items():
        data = texts.get(blob)
        yield path, blob, None if data is None else data.decode("utf-8", "replace")


def _draft(
    note: CodeNote, head: str, symbols: tuple[str, ...], origin: line_origins.Origin | None
) -> Draft:
    claim, why = wording.split(note.text)
    return Draft(
        type=_TYPES[note.rule],
        title=wording.title(claim if len(claim) > _SHORT else note.text),
        content=note.text,
        rationale=why,
        importance=4 if note.rule == "deliberate-comment" else 3,
        confidence=measured.CONFIDENCE[note.rule],
        entities=statements.found(note.text),
        files=(note.path,),
        evidence=(Evidence(quote=note.text, commit_sha=origin.sha if origin else None),),
        anchors=(
            Anchor(
                path=note.path, commit_sha=head, blob=note.blob, symbol=next(iter(symbols), None)
            ),
        ),
        status="active" if note.rule in measured.CREATES else "proposed",
        rule=note.rule,
        holds=(Condition(kind="text", path=note.path, text=note.text),),
        idempotency_key=key(note),
        occurred_at=_moment(origin),
    )


def _moment(origin: line_origins.Origin | None) -> datetime | None:
    return origin.at if origin else None
