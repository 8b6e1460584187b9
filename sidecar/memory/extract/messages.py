"""Messages: what an author said of an event, taken apart, whatever convention they follow."""

import re
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from protocol.events import Commit, Event
from sidecar.memory.extract import noise
from sidecar.text import statements
from sidecar.text.patterns import late
from sidecar.text.statements import Statement

# ruff: noqa: RUF001 - other scripts have letters that look like ours


Kind = Literal[
    "feature",
    "fix",
    "performance",
    "security",
    "removal",
    "refactoring",
    "docs",
    "tests",
    "upkeep",
    "other",
]


class Message(Struct, frozen=True, kw_only=True):
    """What was said of one event."""

    event: Event
    kind: Kind = "other"
    headline: str = ""
    """A commit's subject without its marks; empty for captures."""
    scope: str | None = None
    is_breaking: bool = False
    is_silent: bool = False
    """A program wrote the subject, or git did for a merge: nobody says anything by it."""
    subject: Statement | None = None
    statements: tuple[Statement, ...] = ()
    """Of a commit's body, or of a capture."""

    @property
    def is_capture(self) -> bool:
        """Tell whether somebody said it outside a commit."""
        return self.event.commit is None


_TYPES: dict[str, Kind] = {
    "feat": "feature",
    "feature": "feature",
    "fix": "fix",
    "bugfix": "fix",
    "hotfix": "fix",
    "perf": "performance",
    "security": "security",
    "sec": "security",
    "refactor": "refactoring",
    "revert": "other",
    "docs": "docs",
    "doc": "docs",
    "test": "tests",
    "tests": "tests",
    "style": "upkeep",
    "chore": "upkeep",
    "build": "upkeep",
    "ci": "upkeep",
    "deps": "upkeep",
    "release": "upkeep",
    "wip": "upkeep",
}
_PICTURES: dict[str, Kind] = {
    "✨": "feature",
    ":sparkles:": "feature",
    "🐛": "fix",
    ":bug:": "fix",
    "🚑": "fix",
    "⚡": "performance",
    ":zap:": "performance",
    "🔒": "security",
    ":lock:": "security",
    "♻": "refactoring",
    ":recycle:": "refactoring",
    "🔥": "removal",
    ":fire:": "removal",
    "📝": "docs",
    ":memo:": "docs",
    "🌐": "docs",
    ":globe_with_meridians:": "docs",
    "✏": "docs",
    ":pencil2:": "docs",
    "✅": "tests",
    ":white_check_mark:": "tests",
    "⬆": "upkeep",
    ":arrow_up:": "upkeep",
    "🔧": "upkeep",
    ":wrench:": "upkeep",
    "👷": "upkeep",
    ":construction_worker:": "upkeep",
    "🔖": "upkeep",
    ":bookmark:": "upkeep",
    "🎨": "upkeep",
    ":art:": "upkeep",
    "👥": "upkeep",
    "🍱": "upkeep",
    ":bento:": "upkeep",
    "🔨": "upkeep",
    "💚": "upkeep",
    ":green_heart:": "upkeep",
    "🚀": "upkeep",
    "🚧": "upkeep",
}
_VERBS: tuple[tuple[str, Kind], ...] = (
    (
        r"(?:fix|bump|correct|clarif|doc'?|document|tweak|updat|improv|add|refs?|mov|remov|reword|rewrit)\w*\b.{0,60}\b(?:docs?|documentation|readme|docstrings?|release notes?|changelog|tutorial|comment|link|spelling|grammar|typos?|wording|translations?|sponsors?)\b",
        "docs",
    ),
    (r"(?:document|doc'd|clarif)\w*\b", "docs"),
    (
        r"(?:add|fix|improv|updat|mov|remov|refactor|cover|isolat)\w*\b.{0,50}\btests?\b|tests?\b",
        "tests",
    ),
    (r"(?:bump|releas|prepar|format|lint|reformat|merg|isort|black|pin|unpin)\w*\b", "upkeep"),
    (
        r"(?:stop\b.{3,40}\bfrom|surviv|toler|guard|recover|unbreak|work(?:ed)? around|don't|do not|fix|repair|resolv|correct|handl|prevent|avoid|ensur|crash|behebe?|corrig|corrige|répar)\w*\b|修复|修正|解决",
        "fix",
    ),
    (
        r"(?:add|introduc|implement|support|allow|enabl|creat|provid|expos|new|initial|füge|ajout|añad|agreg|adicion)\w*\b|新增|添加|增加|追加|实现",
        "feature",
    ),
    (r"(?:optimi[sz]|speed|accelerat|cach)\w*\b", "performance"),
    (r"(?:remov|delet|drop|deprecat|ditch|entfern|supprim|elimin)\w*\b|删除|移除|削除", "removal"),
    (
        r"(?:refactor|renam|simplif|clean|extract|mov|reorgani[sz]|split|restructur|rewrit|us|replac|switch|migrat|port|mak|chang)\w*\b",
        "refactoring",
    ),
)
_KINDS = tuple((late(pattern, re.IGNORECASE), kind) for pattern, kind in _VERBS)
_PICTURE = late(r"(?::[a-z0-9_+-]{2,40}:|[\u2190-\u2bff\U0001f300-\U0001faff]\ufe0f?)[ \t]*")
_BRANCH = late(r"\[[\w./-]{1,30}\][ \t]*")
_TICKET = late(
    r"(?:(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?|refs?|see)[ \t]+)?(?:#\d+|CVE-\d+-\d+|[A-Z][A-Z0-9]{1,9}-\d+)"
    r"(?:,?[ \t]*(?:and[ \t]+)?(?:refs[ \t]+)?(?:#\d+|CVE-[\d-]+))*[ \t]*(?:--|[:–—-])[ \t]*",
    re.IGNORECASE,
)
_CONVENTIONAL = late(
    r"(?P<type>[A-Za-z][\w./,-]{0,30})(?:\((?P<scope>[^()]{1,60})\))?(?P<bang>!)?:[ \t]+(?=\S)"
)
_NUMBER = late(
    r"[ \t]*\((?:(?:fix(?:es|ed)?|close[sd]?|refs?)[ \t]*)?(?:#|GH-|gh-|!)\d+\)[ \t]*$",
    re.IGNORECASE,
)
_BREAKING = late(r"^BREAKING[ -]CHANGES?\b", re.MULTILINE)


def read(event: Event) -> Message:
    """Read what was said of an event."""
    if event.commit is None:
        return Message(event=event, statements=statements.read(event.text or "", "capture"))
    return _read_commit(event, event.commit)


def _read_commit(event: Event, commit: Commit) -> Message:
    subject = statements.clean(commit.subject)[: statements.LONGEST]
    headline, kind, scope, is_breaking = _taken_apart(subject)
    first = _first(commit.subject.strip(), headline)
    is_machine = noise.is_machine(commit)
    body = () if is_machine else statements.read(commit.body, "body")
    return Message(
        event=event,
        kind=kind,
        headline=headline,
        scope=scope,
        is_silent=is_machine or noise.is_merge(commit),
        is_breaking=is_breaking or _BREAKING.search(commit.body) is not None,
        subject=first,
        statements=body,
    )


def bare(subject: str) -> str:
    """Give a subject without the ticket before it."""
    ticket = _TICKET.match(subject)
    return subject[ticket.end() :] if ticket else subject


def _first(subject: str, headline: str) -> Statement | None:
    """Read a subject; nothing where it is ours, cannot be quoted or is no sentence."""
    if len(subject) > statements.LONGEST:
        return None
    said = statements.read(subject, "subject") or statements.read(headline, "subject")
    if not said or not headline:
        return said[0] if said else None
    return Statement(text=headline, quote=subject, place="subject")


def _taken_apart(subject: str) -> tuple[str, Kind, str | None, bool]:
    """Take the marks off a subject: pictures, tickets, conventional types and scopes, numbers."""
    kind: Kind | None = None
    scope: str | None = None
    is_breaking = "💥" in subject[:4]
    rest = _BRANCH.sub("", subject, count=1) if _BRANCH.match(subject) else subject
    while picture := _PICTURE.match(rest):
        kind = kind or _PICTURES.get(picture[0].strip().rstrip("\ufe0f"))
        rest = rest[picture.end() :]
    if ticket := _TICKET.match(rest):
        kind = kind or ("fix" if rest[:3].lower() == "fix" else None)
        rest = rest[ticket.end() :]
    if head := _CONVENTIONAL.match(rest):
        typed = _TYPES.get(head["type"].lower())
        kind = kind or typed
        scope = head["scope"] or (head["type"] if typed is None else None)
        is_breaking = is_breaking or head["bang"] is not None
        rest = rest[head.end() :]
        rest = f'Revert "{rest}"' if head["type"].lower() == "revert" else rest
    rest = _NUMBER.sub("", _NUMBER.sub("", rest)).strip()
    told = _kind(rest)
    is_ticket = ticket is not None and told not in ("other", "upkeep")
    if kind is None or (kind == "fix" and (is_ticket or told in ("docs", "tests"))):
        kind = told
    return rest.rstrip(".").strip(), kind, scope.strip() if scope else None, is_breaking


def _kind(headline: str) -> Kind:
    """Guess from its verb what a commit is about."""
    kinds: Iterable[Kind] = (kind for pattern, kind in _KINDS if pattern.match(headline))
    return next(iter(kinds), "other")
