"""Cues by which a turn is worth noting: decisions, tasks, rules, facts as users word them.

They decide what a checkpoint keeps and which turns are read for memory; what becomes memory is decided there.
"""

import re

from protocol.memories import MemoryType
from sidecar.text.patterns import Late, late

# ruff: noqa: RUF001 - other scripts have letters that look like ours

CUES: tuple[tuple[MemoryType, Late], ...] = (
    ("correction", late(r"^correction\b", re.IGNORECASE)),
    (
        "task",
        late(
            r"^(?:todo|fixme|tasks?|next(?: steps?| up)?|remaining|follow-?ups?|still (?:open|to do|missing)|open)(?=\s?[:：—]\s?\S)|^(?-i:TODO|FIXME)\b"
            r"|\b(?:don't forget|do not forget|remember|remind (?:me|us)) to \w|\bstill (?:need|needs|have|has|missing|to be|unresolved|open)\b|\bneeds? (?:a )?follow-?up\b"
            r"|\b(?:we|someone|somebody) (?:still )?(?:need|needs|have|has|should) to (?!know|see|check|look|be\b)\w+|\b(?:is|are|hasn't|haven't|not) (?:\w+ ){0,3}yet\b|\bfor (?:tomorrow|next (?:week|sprint))\b"
            r"|\b(?:noch (?:offen|zu tun)|fehlt noch|muss noch|reste à|pas encore|falta|pendiente|pendente|ainda (?:falta|não))\b|待办|まだ|残",
            re.IGNORECASE,
        ),
    ),
    (
        "decision",
        late(
            r"^(?:final )?(?:decisions?|decided|agreed|entscheidung|décision|decisión|decisão)\s?[:：—]|\b(?:we|i|the team)(?:'ve| have)? (?:\w+ly |just |now |also )?(?:decided|agreed|chose|opted|settled|picked)\b"
            r"|\b(?:let's|let us|we(?:'ll| will|'re| are)(?: going)?(?: to)?|i'd) (?:go with|use|using|stick with|keep|keeping|drop|dropping|switch|switching|move|moving|adopt|stay with|staying with|going with|take)\b"
            r"|\b(?:go with|instead of|rather than|in favou?r of|it is(?: decided)? then|\w+ (?:it is|then)[.!]?$)|\b(?:entschieden|wir (?:nehmen|bleiben bei|verwenden)|décidé|decidimos|decidido|vamos (?:con|com|usar|a usar)|on (?:garde|utilise|part sur))\b|决定|採用|決め",
            re.IGNORECASE,
        ),
    ),
    (
        "constraint",
        late(
            r"\b(?:must(?:n't| not)?|never|always|do not|don['\u2019]t|dont|may (?:not|only)|cannot|can't|not allowed|forbidden|required|at (?:most|least)|no more than|only use|under no circumstances|off[- ]limits|has to|have to (?:be|stay|keep|support))\b"
            r"|\b(?:muss|müssen|darf|dürfen|nie(?:mals)?|immer|doit|il faut|jamais|toujours|debe|hay que|nunca|siempre|deve|sempre)\b|必须|禁止|不要|必ず",
            re.IGNORECASE,
        ),
    ),
    (
        "preference",
        late(
            r"\b(?:i|we)(?:'d| would)? (?:rather|prefer|like|love|hate|want)\b|\bprefer(?:s|red)?\b|\bplease (?:use|keep|write|avoid|stick)\b|\b(?:lieber|bevorzug\w+|je préfère|prefiero|prefiro)\b|希望",
            re.IGNORECASE,
        ),
    ),
    (
        "fact",
        late(
            r"\b(?:root cause|turns? out|turned out|the (?:reason|cause|culprit|problem) (?:is|was)|caused by|because of|is (?:stored|kept|served|hosted|located|generated|deployed)|lives? in|listens? on|comes? from|expires?|belongs? to)\b",
            re.IGNORECASE,
        ),
    ),
)


def find(text: str) -> MemoryType | None:
    """Return the kind of what a sentence says, or None."""
    return next((kind for kind, cue in CUES if cue.search(text)), None)
