"""Warn about conditions that probably do not mean what their author intended."""

import re
from collections.abc import Callable, Collection, Iterator
from pathlib import PurePosixPath

from sidecar.tasks.rules import conditions
from sidecar.tasks.rules.conditions import Condition, Facts
from sidecar.text.patterns import late
from sidecar.text.wording import clipped

NamesIn = Callable[[str], Collection[str]]
"""Names what is in a folder of the repository; nothing where there is no such folder."""
_ALIKE = late(
    r"[-*]?\s*(?:(?:path|paths|file|commits?|symbol)\b[\w ]{0,40}:|(?:path|file|symbol)\s+(?:exists|gone|is gone)\s+\S"
    r"|commit\s+(?:touches|message\s+matches)\s+\S)",
    re.IGNORECASE,
)
"""What was meant to be checked, by the look of it."""
_LITERAL = (
    (late(r"^[\"'“]|[\"'”]$"), "“{}” is taken as it stands, with its quotation marks"),
    (
        late(r"[,;]|\s(?:and|or|und|oder|&&|\|\|)\s", re.IGNORECASE),
        "“{}” is taken as one name: conditions stand one in each line, and all of them must hold",
    ),
    (late(r"[*?\[\]{}]"), "“{}” is taken as it stands: `*` and the like stand for nothing else"),
)
"""What some may take for a notation of ours, and what to say of it."""
_LEAST = 4
"""Letters of a name in which a wrong one hardly makes another word."""
_SHOWN = 80


def holds(text: str, facts: Facts) -> str | None:
    """Return the evidence that conditions hold already, or None."""
    found = conditions.parse(text)
    return conditions.judge(found, facts) if found else None


def tell(text: str, facts: Facts, names_in: NamesIn) -> Iterator[str]:
    """Return warnings about a task's conditions."""
    found = conditions.parse(text)
    if found is None:
        yield from _unreadable(text)
        return
    for condition in found:
        yield from _mistyped(condition, facts, names_in)
    shown = conditions.judge(found, facts)
    if shown is not None:
        yield f"it holds already ({shown}), so it shows nothing: this task will not complete by itself"


def is_slip(typed: str, known: str) -> bool:
    """Return whether one name looks like the other with a letter too much, too few, wrong or swapped."""
    if typed == known:
        return False
    if typed.casefold() == known.casefold():
        return True
    shorter, longer = sorted((typed, known), key=len)
    begin = _common(shorter, longer)
    end = min(_common(shorter[::-1], longer[::-1]), len(shorter) - begin)
    rest, more = shorter[begin : len(shorter) - end], longer[begin : len(longer) - end]
    if any(letter.isdigit() for letter in rest + more):
        return False
    if len(rest) == len("ab") and rest == more[::-1]:
        return True
    is_long = min(len(PurePosixPath(name).stem) for name in (typed, known)) >= _LEAST
    return is_long and len(rest) <= 1 and len(more) == 1


def _unreadable(text: str) -> Iterator[str]:
    """Return the line that keeps conditions from being checked, if one looks meant as a condition."""
    for line in conditions.expressions(text):
        yield (
            f"“{clipped(line, _SHOWN)}” cannot be checked: it is a regular expression, and only words and `*` (any "
            "letters of a line) are understood, as in `commit message matches: fix* #12`"
        )
        return
    failed = conditions.prose(text)
    alike = [line for line in failed if _ALIKE.match(line)]
    is_meant = alike or len(failed) < sum(bool(line.strip()) for line in text.splitlines())
    if is_meant and failed:
        line = (alike or failed)[0]
        yield (
            f"“{clipped(line, _SHOWN)}” cannot be checked, so nothing of it will be: conditions are "
            "`path exists:`, `path gone:`, `commit touches:`, `commit message matches:` and `symbol exists:`, "
            "one in each line, with paths inside the repository"
        )


def _mistyped(condition: Condition, facts: Facts, names_in: NamesIn) -> Iterator[str]:
    if condition.kind == "commit message matches":
        return
    name = "::".join(filter(None, (condition.value, condition.symbol)))
    is_there = facts.path_exists(condition.value)
    if is_there and not condition.symbol:
        return
    literal = next((words for sign, words in _LITERAL if sign.search(name)), None)
    if literal is not None:
        yield literal.format(name)
    elif not is_there:
        known = _meant(condition.value, names_in)
        if known is not None:
            yield f"there is no “{condition.value}”, but “{known}”: is that what is meant?"


def _meant(path: str, names_in: NamesIn) -> str | None:
    folder: list[str] = []
    for part in path.strip("/").split("/"):
        names = names_in("/".join(folder))
        if part not in names:
            alike = sorted(name for name in names if is_slip(part, name))
            return "/".join([*folder, alike[0]]) if alike else None
        folder.append(part)
    return None


def _common(one: str, other: str) -> int:
    return next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
