"""What is repeated of a user's prompts: their own words, without logs, code and mere nods."""

import re
from collections.abc import Iterable

from sidecar.text import wording
from sidecar.text.patterns import late

LONGEST = 330
"""Characters up to which a prompt is repeated as it was said, where there are many."""
KEPT = 1_000
"""Characters of a prompt that are kept, and repeated where there is room for all."""
LAST_WORDS = 400
"""Characters that are kept of what an agent said last."""
GAP = " … "
_FENCED = late(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_SENTENCE = late(r"(?<=[.!?])\s+(?=\S)|(?<=[\u3002\uff01\uff1f])|\n+")
_WORD = late(r"[^\W_]+")
_COMMAND = late(r"/[\w:.-]+(?![\w/.])")
_LOG = late(
    r"""\s*(?:
    \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d | \[?\d\d:\d\d:\d\d\b        # a moment
    | \[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE)\b[\]:\s]   # a level
    | at\s\S.*[:(]\S*\d+\)?\s*$ | File\s".*",\sline\s\d+ | Traceback\s\(most | \.\.\.\s\d+\smore
    | >?\s*\d+\s\|(?:\s|$) | [|^~\s]+$ | [-=_*\#+\s]{3,}$         # an excerpt, a ruler
    | [$%>]\s\S | PS\s[A-Z]:\\ | npm\s(?:ERR!|WARN) | (?:\S+\.\w+):\d+(?::\d+)?\b
    | (?:\w+\.)*\w*(?:Error|Exception)(?::|\s*$) | \S+\s+\|\s.*\s\|  | [{}()\[\];,\s]+$
    )""",
    re.VERBOSE,
)
_ERROR = late(
    r"\b\w*(?:error|exception)\b|\b(?:fatal|panic|fail(?:ed|ure)?|cannot|not found|denied|refused)\b",
    re.IGNORECASE,
)
_NODDING = (
    "continue go on ahead proceed ok okay k yes yep yeah y sure thanks thank you thx please great nice good cool "
    "perfect fine done next hi hello hey there morning no nope lol right correct carry keep going again resume start do it approved agreed lgtm "
    "weiter ja danke bitte gut super genau hallo nein mach "
    "oui merci continuer continuez vas y parfait bonjour d accord non "
    "si sí gracias sigue adelante continua continúa dale hola por favor perfecto vale "
    "sim obrigado obrigada continuar prossiga segue oi ola olá pronto "
    "sì grazie avanti ciao bene "
    "да нет спасибо продолжай дальше привет хорошо так дякую"
)
"""Words that say nothing alone: a prompt of nothing else is not repeated."""
_NODS = frozenset(_NODDING.split())
_LOOKED_AT = 300
"""Characters of a line that are looked at to tell whether it is one of a log."""
_NOD = 5
"""Words that a mere nod has at most."""


def condense(text: str, most: int = KEPT) -> str:
    """Return what is worth repeating of a prompt, on one line of at most `most` characters; nothing of a mere nod."""
    prose = _prose(text)
    return "" if _is_nod(prose) else shorten(prose, most)


def shorten(text: str, most: int) -> str:
    """Return a text as it is, or by its first and its last sentence, then inwards, as far as they fit."""
    flat = " ".join(text.split())
    if len(flat) <= most:
        return flat
    parts = sentences(text)
    taken: set[int] = set()
    size = 0
    for place in _inwards(len(parts)):
        more = len(parts[place]) + 1
        if size + more <= most and len(_joined(parts, taken | {place})) <= most:
            taken.add(place)
            size += more
    return _joined(parts, taken) if taken else wording.clipped(flat, most)


def sentences(text: str) -> list[str]:
    """Return the sentences of a condensed prompt, in their order."""
    return [one for part in text.split(GAP) for one in _sentences(part)]


def _prose(text: str) -> str:
    """Return a text without fenced code and logs; the first line of a log that names an error where nothing else is left."""
    bare = _FENCED.sub("\n", text)
    lines = [line for line in bare.splitlines() if line.strip()]
    spoken = [line for line in lines if not _LOG.match(line[:_LOOKED_AT])]
    if not any(map(_says_something, spoken)):
        spoken = _first_error(text.splitlines())
    return "\n".join(line.strip() for line in spoken)


def _first_error(lines: Iterable[str]) -> list[str]:
    return next(([line.strip()] for line in lines if _ERROR.search(line[:_LOOKED_AT])), [])


def _says_something(line: str) -> bool:
    return bool(_WORD.search(line))


def _is_nod(prose: str) -> bool:
    words = [word.casefold() for word in _WORD.findall(prose)]
    if _COMMAND.fullmatch(prose.strip()):
        return True
    return len(words) <= _NOD and all(word in _NODS for word in words)


def _sentences(text: str) -> list[str]:
    return [one for part in _SENTENCE.split(text) if (one := " ".join(part.split()))]


def _inwards(count: int) -> Iterable[int]:
    return (step // 2 if step % 2 == 0 else count - 1 - step // 2 for step in range(count))


def _joined(parts: list[str], taken: set[int]) -> str:
    text, last = "", -1
    for place in sorted(taken):
        between = "" if not text and place == 0 else GAP if place > last + 1 else " "
        text += between + parts[place]
        last = place
    return (text + (GAP if last + 1 < len(parts) else "")).strip()
