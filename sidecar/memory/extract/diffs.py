"""Diffs: what the lines of a commit say that its message does not: tasks, dependencies, decision records."""

import re
from collections.abc import Callable, Iterator, Sequence

from sidecar.memory.extract.findings import Finding
from sidecar.memory.extract.messages import Message
from sidecar.memory.rules.drafts import FileDiff
from sidecar.text import own_words, statements, wording
from sidecar.text.patterns import Late, late, words

# ruff: noqa: RUF001 - other scripts have letters that look like ours


_LINES = 4000
"""Lines of a commit that are looked at."""
_LINE = 400
_FEW = 3
"""Tasks that one commit may leave; more are a list that somebody keeps elsewhere."""
_TODO = late(
    r"(?<![\"'`])(?:^|#|//|/\*|\*|--|<!--|;|%|\"\"\"|'''|\{#)\s{0,8}@?(?:TODO|FIXME|XXX|HACK|BUG)\b[ \t]*(?:\([^)\n]{0,60}\)|\[[^\]\n]{0,60}\])?[ \t]*[:：—-]?[ \t]*(?P<what>\S.{5,})"
)
_END = late(r"\s*(?:\*/|-->|\"\"\"|'''|#\}|%\})\s*$")
_FOREIGN = late(
    r"(?:^|/)(?:node_modules|vendor|third_party|dist|build|fixtures|\.venv|site-packages|locale|migrations)/|\.min\.|\.(?:lock|map|svg|snap|po|csv|json|ipynb)$|(?:^|/)(?:package-lock\.json|.+\.lock|go\.sum)$",
    re.IGNORECASE,
)
_RECORD = late(
    r"(?:^|/)(?:adrs?|decisions?|decision-records?|architecture-decisions?|rfcs?)/[^/]+\.(?:md|rst|txt|adoc)$|(?:^|/)adr[-_ ]?\d+[^/]*\.(?:md|rst|txt|adoc)$",
    re.IGNORECASE,
)
_TITLE = late(r"#\s+(?:(?:ADR|RFC)[- ]?)?(?:\d+\s?[.:—-]\s*)?(?P<title>.{5,})", re.IGNORECASE)
_DECISION = late(
    r"(?:#{1,4}\s*|\*\*)?(?:Decision(?: outcome)?|Entscheidung|Décision|Decisión|Decisão|决定|決定)\**\s*:?\s*$",
    re.IGNORECASE,
)
_HEADING = late(r"#{1,6}\s|\*\*[^*]+\*\*:?\s*$|[=-]{3,}\s*$")
_PENDING = late(
    r"(?:#{1,4}\s*)?(?:\**Status\**\s*:?\s*)?\**(?:proposed|rejected|superseded|draft|deprecated)\b",
    re.IGNORECASE,
)
_NOT_NAMES = words(
    "version python requires-python name edition rust-version node npm vscode license description readme main module line-length minversion resolver engine engines type target target-version python_version"
)
_MANIFESTS: tuple[tuple[Late, Late], ...] = (
    (
        late(r"(?:^|/)package\.json$"),
        late(
            r"\s*\"(?P<name>@?[\w./-]{2,80})\"\s*:\s*\"(?:[~^<>=*]|\d|npm:|workspace:|git)[^\"]{0,80}\",?\s*$"
        ),
    ),
    (
        late(r"(?:^|/)(?:.*requirements.*\.(?:txt|in)|constraints\.txt)$"),
        late(r"(?P<name>[A-Za-z][\w.-]{1,60})(?:\[[\w,-]{1,60}\])?\s*(?:[<>=!~]=?\s*[\d.*].*|$)"),
    ),
    (
        late(r"(?:^|/)(?:pyproject\.toml|setup\.cfg|setup\.py|Pipfile)$"),
        late(
            r"\s*(?:[\"'](?P<quoted>[A-Za-z][\w.-]{1,60})(?:\[[\w,-]{1,60}\])?\s*(?:[<>=!~]=?|;|[\"'],?\s*$).*|(?P<name>[A-Za-z][\w.-]{1,60})\s*=\s*[\"'][~^<>=*]\s*=?\s*[\d.*].*)"
        ),
    ),
    (
        late(r"(?:^|/)Cargo\.toml$"),
        late(
            r"(?P<name>[a-z][\w-]{1,60})\s*=\s*(?:\"[~^=<>]?\d[^\"]{0,40}\"|\{.{0,20}version.*)\s*$"
        ),
    ),
    (
        late(r"(?:^|/)go\.mod$"),
        late(
            r"\s*(?:require\s+)?(?P<name>[a-z][\w.-]*\.[a-z]{2,}(?:/[\w.-]+){1,6})\s+v\d(?!.*// indirect)"
        ),
    ),
    (late(r"(?:^|/)Gemfile$"), late(r"\s*gem\s+[\"'](?P<name>[\w-]{2,60})[\"']")),
)


def read(message: Message, diffs: Sequence[FileDiff]) -> tuple[Finding, ...]:
    """Find what a commit's diffs tell."""
    return tuple(finding for rule in RULES for finding in rule(message, diffs))


def todos(diffs: Sequence[FileDiff], *, removed: bool = False) -> tuple[str, ...]:
    """List the tasks in lines that came, or in those that went."""
    return tuple(what for _, _, what in _todos(diffs, removed=removed))


def left(_: Message, diffs: Sequence[FileDiff]) -> Iterator[Finding]:
    """Find tasks that a commit wrote into the code, and did not only move there."""
    gone = set(todos(diffs, removed=True))
    new = [(path, line, what) for path, line, what in _todos(diffs) if what not in gone]
    for path, line, what in list(dict.fromkeys(new))[:_FEW]:
        title = wording.title(wording.split(what)[0])
        yield Finding(
            type="task",
            title=title,
            content=f"{wording.sentence(what)} (left as a note in {path})",
            quote=line,
            rationale=wording.split(what)[1],
            importance=3,
            confidence=4,
            path=path,
        )


def depended(message: Message, diffs: Sequence[FileDiff]) -> Iterator[Finding]:
    """Find dependencies that came, or came instead of others."""
    for diff in diffs:
        came, gone = _dependencies(diff, diff.added), _dependencies(diff, diff.removed)
        new = [name for name in came if name not in gone]
        old = [name for name in gone if name not in came]
        if len(new) == 1 and len(old) <= 1:
            name = new[0]
            title = f"Depend on {name} instead of {old[0]}" if old else f"Depend on {name}"
            said = f"{wording.sentence(message.headline)} " if message.headline else ""
            yield Finding(
                type="decision",
                title=title,
                content=f"{title} ({diff.path}). {said}".strip(),
                quote=came[name],
                rationale=_why(message, name),
                importance=3,
                confidence=4 if old else 3,
                path=diff.path,
            )


def recorded(_: Message, diffs: Sequence[FileDiff]) -> Iterator[Finding]:
    """Find decisions in decision records."""
    for diff in diffs:
        if not _RECORD.search(diff.path) or any(_PENDING.match(line) for line in diff.added):
            continue
        lines = _theirs(diff.added)
        titles = [(line, mark["title"]) for line in lines if (mark := _TITLE.match(line))]
        told = _section(lines)
        if not told and not titles:
            continue
        line, title = titles[0] if titles else (told[0], told[0])
        yield Finding(
            type="decision",
            title=wording.title(statements.clean(title)),
            content=wording.clipped(" ".join(told) or wording.sentence(title), 600),
            quote=told[0] if told else line,
            rationale=wording.split(" ".join(told))[1],
            importance=4,
            confidence=5,
            path=diff.path,
        )


RULES: list[Callable[[Message, Sequence[FileDiff]], Iterator[Finding]]] = [left, depended, recorded]


def _todos(diffs: Sequence[FileDiff], *, removed: bool = False) -> Iterator[tuple[str, str, str]]:
    seen = 0
    for diff in diffs:
        if _FOREIGN.search(diff.path):
            continue
        lines = diff.removed if removed else _theirs(diff.added)
        for line in lines[: _LINES - seen]:
            mark = _TODO.search(line) if len(line) <= _LINE else None
            if mark and not _is_quoted(line[: mark.start()]):
                what = statements.clean(_END.sub("", mark["what"]))
                if line.isprintable() or line.strip().isprintable():
                    yield diff.path, line.strip(), what
        seen = min(_LINES, seen + len(diff.added))


def _is_quoted(before: str) -> bool:
    """Tell whether what follows stands in a string: then it is data, and nobody's task."""
    return any(before.count(sign) % 2 for sign in "\"'`")


def _theirs(lines: Sequence[str]) -> Sequence[str]:
    """Leave out lines that we have put into a file."""
    if not any(own_words.NAME in line for line in lines):
        return lines
    return own_words.blank("\n".join(lines)).split("\n")


def _dependencies(diff: FileDiff, lines: Sequence[str]) -> dict[str, str]:
    """List the dependencies that lines name, each with its line."""
    forms = [line for path, line in _MANIFESTS if path.search(diff.path)]
    found: dict[str, str] = {}
    for line in lines[:_LINES] if forms else ():
        if len(line) <= _LINE and line.isprintable() and (mark := forms[0].match(line)):
            name = mark["name"] or mark.groupdict().get("quoted") or ""
            if name and name.lower() not in _NOT_NAMES:
                found[name] = line.strip()
    return found


def _section(lines: Sequence[str]) -> list[str]:
    """Give the lines of the section called Decision."""
    told: list[str] = []
    is_inside = False
    for line in lines[:_LINES]:
        if _DECISION.match(line):
            is_inside = True
        elif is_inside and _HEADING.match(line):
            break
        elif is_inside and line.strip() and len(line) <= _LINE * 4:
            told.append(line.strip())
    return told


def _why(message: Message, name: str) -> str | None:
    """Find the sentence that tells why a dependency came."""
    for said in (message.subject, *message.statements):
        if said is not None and name.lower() in said.text.lower():
            return wording.split(said.text)[1]
    return None
