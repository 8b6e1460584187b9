"""What changes between two texts, as a unified diff."""

import difflib
from collections.abc import Iterator, Sequence

_CONTEXT = 3
_WIDTH = 500
"""Letters of a line that are shown; some programs write all they know on one."""


def compare(name: str, old: str | None, new: str | None) -> str:
    """Write a unified diff; None stands for a file that is not there."""
    before, after = (old or "").splitlines(), (new or "").splitlines()
    if old == new:
        return ""
    head = [
        f"--- {'/dev/null' if old is None else name}",
        f"+++ {'/dev/null' if new is None else name}",
    ]
    return "\n".join([*head, *_hunks(before, after)]) + "\n"


def _hunks(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Compare only the part between the lines that both begin and end with, which may be many."""
    start = _alike(before, after)
    end = _alike(before[start:][::-1], after[start:][::-1])
    skipped = max(start - _CONTEXT, 0)
    kept = max(end - _CONTEXT, 0)
    old, new = before[skipped : len(before) - kept], after[skipped : len(after) - kept]
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        yield _header(group, skipped)
        for how, first, last, begin, until in group:
            if how == "equal":
                yield from (" " + line[:_WIDTH] for line in old[first:last])
            else:
                yield from ("-" + line[:_WIDTH] for line in old[first:last])
                yield from ("+" + line[:_WIDTH] for line in new[begin:until])


def _header(group: Sequence[tuple[str, int, int, int, int]], skipped: int) -> str:
    old = _span(group[0][1] + skipped, group[-1][2] + skipped)
    new = _span(group[0][3] + skipped, group[-1][4] + skipped)
    return f"@@ -{old} +{new} @@"


def _span(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    for index, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return index
    return min(len(one), len(other))
