"""Rules files: what an agent reads by itself; ours for as long as nobody else changes them."""

import re

from msgspec import Struct

from sidecar.domain.connections.contents import SIGN
from sidecar.domain.connections.sums import LENGTH, add_up

LIMIT = 6_000
"""Characters of a whole file; more of it may not be read."""
LIMITS = {"windsurf": LIMIT, "cursor": 10_000}
"""The same for each agent."""
PLACES = {
    "windsurf": ".windsurf/rules/threadline.md",
    "cursor": ".cursor/rules/threadline.mdc",
}
"""Where in a project each agent looks for a file of ours."""
LIVING = frozenset({"windsurf"})
"""Agents that can be told nothing otherwise: what they are connected to is renewed as conversations begin."""
OWN_SIGN = "Written by `threadline rules`"
"""Stands in a file that only a command writes."""
_NONE = "0" * LENGTH
_SUM = re.compile(rf"(?<= sum )[0-9a-f]{{{LENGTH}}}(?= -->)")


class _Form(Struct, frozen=True):
    """How a file of one agent begins."""

    front: str
    note: str
    empty: str


_FORMS = {
    "windsurf": _Form(
        "trigger: always_on",
        f"{SIGN} or `threadline rules` and renewed by conversations as they begin, unless it was edited;",
        "Nothing is known yet. What should be known here is written when a conversation begins.",
    ),
    "cursor": _Form(
        "description: What Threadline remembers about this repository\nalwaysApply: true",
        f"{OWN_SIGN} and renewed by `threadline rules refresh`, unless it was edited;",
        "Nothing is known yet. `threadline rules refresh` writes here what is known by then.",
    ),
}


def room(agent: str) -> int:
    """Count the characters that a file of an agent leaves for what is told."""
    return LIMITS[agent] - len(_fill(agent, ""))


def write(text: str = "", agent: str = "windsurf") -> str:
    """Write a rules file that tells a text; one without a text says that there is none."""
    plain = _fill(agent, text.strip("\n") or _FORMS[agent].empty)
    return _SUM.sub(add_up(plain), plain, count=1)


def is_ours(text: str) -> bool:
    """Tell whether a file says that it is one of ours."""
    return SIGN in text or OWN_SIGN in text


def is_intact(text: str) -> bool:
    """Tell whether a file is one of ours and says what we have written; how its lines end does not matter."""
    found = _SUM.search(text)
    if not is_ours(text) or found is None:
        return False
    return found[0] == add_up(text[: found.start()] + _NONE + text[found.end() :])


def _fill(agent: str, text: str) -> str:
    form = _FORMS[agent]
    return f"---\n{form.front}\n---\n\n<!-- {form.note} sum {_NONE} -->\n\n{text}\n"


ROOM = room("windsurf")
"""Characters that are left for what is told."""
