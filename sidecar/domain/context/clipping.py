"""Clipping: a text is cut where a reader would cut it, and says that there is more."""

import unicodedata

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
    """Give the words that fit; of a single long word, what fits of it."""
    words = text[:room]
    if room and not (text[room].isspace() or text[room - 1].isspace()):
        before, *last = words.rsplit(None, 1)
        words = before if last else ""
    return words.rstrip().rstrip(_LOOSE) or text[: _before_cluster(text, room)]


def _before_cluster(text: str, at: int) -> int:
    """Move a cut to before the letter or sign that it would take apart."""
    start = at
    while start > max(at - _LONGEST_CLUSTER, 0) and _goes_on(text, start):
        start -= 1
    return at if _goes_on(text, start) or start == 0 else start


def _goes_on(text: str, at: int) -> bool:
    """Tell whether what stands here belongs to what stands before it."""
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
