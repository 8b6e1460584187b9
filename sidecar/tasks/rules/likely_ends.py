"""Find the commit that seems to have done a task; kept apart from the rules that judge a pair, which load slowly."""

import re
from collections.abc import Callable, Iterable, Iterator

from protocol.tasks import Task
from sidecar.tasks.rules.conditions import Change, told
from sidecar.text.patterns import late

READ = 2_000
"""Letters of a text that are read."""
_SHORT = 7
"""Letters of a commit's id."""
_REQUEST = late(r"\s*\(#\d+\)\s*$")
_REVERTED = late(r'\W*revert(?:s|ed)?[:\s]+(?:"(.+)"|([^"]+)$)', re.IGNORECASE)
_REVERTED_SHA = late(r"\breverts commit ([0-9a-f]{7,40})", re.IGNORECASE)

Judge = Callable[[Task, Change], bool]
"""Tells whether a commit says that it does what a task asks for."""


def likely_end(task: Task, commits: Iterable[Change], is_done_by: Judge) -> str | None:
    """Find a commit, of these with the newest first, that seems to have done a task and was not taken back."""
    taken_back: set[str] = set()
    for commit in commits:
        if is_done_by(task, commit) and taken_back.isdisjoint(_names(commit)):
            return told(commit)
        taken_back.update(_taken_back(commit.message[:READ]))
    return None


def subject(message: str) -> str:
    """Return the first line of a message."""
    return message.partition("\n")[0]


def without_request(line: str) -> str:
    """Return a subject without the number of its pull request."""
    return _REQUEST.sub("", line)


def _names(commit: Change) -> tuple[str, str]:
    return commit.sha[:_SHORT], _title(subject(commit.message))


def _taken_back(message: str) -> Iterator[str]:
    if "revert" not in message.lower():
        return
    if found := _REVERTED.match(subject(message)):
        yield _title(found[1] or found[2])
    yield from (sha[:_SHORT] for sha in _REVERTED_SHA.findall(message))


def _title(line: str) -> str:
    return without_request(line).strip().lower()
