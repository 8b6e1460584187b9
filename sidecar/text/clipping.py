"""Shorten text at word boundaries; show what changed as a unified diff."""

import difflib
import unicodedata
from collections.abc import Iterator, Sequence

LIMIT = 120
"""Characters of an item that is told in short."""
MORE = "…"

_LOOSE = " ,;:"
_JOINER = "\u200d"
_LONGEST_CLUSTER = 32
"""Marks on one letter that are kept together; nobody writes more of them for a reader."""


def clip(text: str, limit: int = LIMIT) -> tuple[str, bool]:
    """Write a text on one line of at most so many characters, cut at a word; tell whether it was cut."""
    line = _one_line(text, limit)
    if len(line) <= limit:
        return line, False
    if limit < 1:
        return "", True
    return _at_word(line, limit - 1) + MORE, True


def clip_lines(text: str, limit: int) -> tuple[str, bool]:
    """Keep as many whole lines as fit, or words where a line is very long; tell whether it was cut."""
    if len(text) <= limit:
        return text, False
    if limit < 1:
        return "", True
    room = limit - len(MORE) - 1
    end = text.rfind("\n", 0, max(room + 1, 0))
    whole = text[: max(end, 0)].rstrip()
    if whole and end >= room // 2:
        return f"{whole}\n{MORE}", True
    return _at_word(text, limit - 1) + MORE, True


def _one_line(text: str, limit: int) -> str:
    """Join a text's lines; of a long one no more than is needed to see that it is too long."""
    start = " ".join(text[: 4 * max(limit, 0)].split())
    return start if len(start) > limit else " ".join(text.split())


def _at_word(text: str, room: int) -> str:
    """Return the words that fit; of a single long word, what fits of it."""
    words = text[:room]
    if room and not (text[room].isspace() or text[room - 1].isspace()):
        before, *last = words.rsplit(None, 1)
        words = before if last else ""
    return words.rstrip().rstrip(_LOOSE) or text[: _before_cluster(text, room)]


def _before_cluster(text: str, at: int) -> int:
    start = at
    while start > max(at - _LONGEST_CLUSTER, 0) and _goes_on(text, start):
        start -= 1
    return at if _goes_on(text, start) or start == 0 else start


def _goes_on(text: str, at: int) -> bool:
    """Return whether what stands here belongs to what stands before it."""
    letter, before = text[at], text[at - 1] if at else ""
    if not before:
        return False
    if _JOINER in {letter, before}:
        return True
    if _is_flag_part(letter):
        return _flag_parts_before(text, at) % 2 == 1
    return _extends(letter)


def _extends(letter: str) -> bool:
    is_tag_or_tone = (
        "\U000e0020" <= letter <= "\U000e007f" or "\U0001f3fb" <= letter <= "\U0001f3ff"
    )
    return is_tag_or_tone or unicodedata.category(letter).startswith("M")


def _is_flag_part(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"


def _flag_parts_before(text: str, at: int) -> int:
    start = at
    while start > 0 and _is_flag_part(text[start - 1]):
        start -= 1
    return at - start


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
