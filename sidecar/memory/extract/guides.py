"""Rules that a project's guides for contributors state."""

import re
from collections.abc import Iterator

from sidecar.memory.extract import noise
from sidecar.text import statements
from sidecar.text.patterns import late

NAMES = late(
    r"(?:^|/)(?:CONTRIBUTING|HACKING|STYLE(?:[-_]?GUIDE)?|CODING[-_]?(?:STYLE|STANDARDS?|GUIDELINES?|CONVENTIONS?)|CONVENTIONS|DEVELOP(?:MENT|ING|ERS?)|GUIDELINES)(?:\.(?:md|rst|txt|adoc|markdown))?$",
    re.IGNORECASE,
)
"""Guides for people; AGENTS.md and its kin are loaded by their hosts."""
MOST = 25
"""Rules of one guide that are proposed; more is a manual."""
_RULE = late(
    r"\b(?:must(?: not)?|mustn't|never|always|do not|don't|avoid|should (?:not|never|always|be|use|have|only)|shouldn't|required|prefer|only use|instead of|rather than)\b",
    re.IGNORECASE,
)
_ASIDE = late(
    r"\b(?:feel free|issues?\b|assign|contributors?\b|maintainers?\b|once you|there (?:may|might|will)|discussion|welcome|thank|please (?:read|see|check|consider|make sure|feel)|code of conduct|open an? (?:issue|pr|pull)|issue tracker|pull requests? (?:should|must) be (?:small|focused)|fork\b|clone\b|star\b|sponsor|discord|slack|gitter|mailing list|stack overflow|security (?:issue|vulnerab)|cla\b|license|be (?:respectful|kind|nice|patient|polite)|bug reports?|if you(?:'re| are| want| have| need| would| don't| do not)|you (?:can|may|might|could|don't need|do not need)|we (?:appreciate|love|encourage)|don't (?:worry|hesitate|be afraid|panic|have to|need)|do not (?:worry|hesitate|have to|need))",
    re.IGNORECASE,
)
_OPENING = late(
    r"(?:this|these|those|that|it|its|they|but|however|also|and|so|then|here|for example|see|if you)\b",
    re.IGNORECASE,
)
_CODELIKE = late(
    r"`[^`]+`|\b\w+_\w+|\b\w+\(\)|\b[a-z]+[A-Z]\w*|\b(?:tests?|types?|functions?|class(?:es)?|modules?|imports?|variables?|methods?|exceptions?|errors?|commits?|branch(?:es)?|docstrings?|comments?|API|names?|packages?|files?|changelog|lines?|strings?|dependenc\w+|release\w*|lint\w*|macros?|headers?|public|private)\b",
    re.IGNORECASE,
)
_LEAST, _LONGEST = 35, 260
_LINK = late(r"\[([^\]\n]{1,200})\]\([^)\n]{1,500}\)|`([^`<\n]{1,100}) <[^>\n]{1,300}>`_+")


def rules(text: str) -> Iterator[str]:
    """Return the sentences of a guide that tell how to work on the code."""
    count = 0
    for statement in statements.read(unlinked(text), "body"):
        said = statement.text
        if count < MOST and _is_rule(said):
            count += 1
            yield said


def _is_rule(said: str) -> bool:
    return (
        _LEAST <= len(said) <= _LONGEST
        and _RULE.search(said) is not None
        and _CODELIKE.search(said) is not None
        and not (_ASIDE.search(said) or _OPENING.match(said))
        and not said.endswith((":", ",", ";"))
        and not (noise.is_question(said) or noise.is_hedged(said) or noise.is_cut(said))
        and said.count("(") == said.count(")")
        and said.count("`") % 2 == 0
    )


def unlinked(text: str) -> str:
    """Return a text with the names of its links in their places."""
    return _LINK.sub(lambda link: link[1] or link[2] or "", text)
