"""Words: when a text says what a sentence says, in any of the labels' languages."""

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W_]+")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|ies|es|s|e|y)$")
_STOP = frozenset(
    _WORD.findall(
        """
    a an and are as at be because been but by can do does for from has have if in instead into is it its no
    not of on only or so than that the their them then there they this to use used uses was we were when
    which with without you your
    als am an auf aus bei das dass dem den der des die ein eine einen er es für hat im in ist mit nicht nur
    oder sich sie sind statt und vom von war weil wenn wird zu zum zur
    au avec ce ces dans de des du elle en est et il la le les mais ne on ou par pas plus pour que qui se son
    sur un une y
    al como con cuando del el entre era es esta este la las lo los más no o para pero por porque que se ser
    si sin su un una
    ao com da das do dos e em foi mais não na nas no nos os ou pelo que sem ser só um uma
    """
    )
)


def content(text: str) -> frozenset[str]:
    """Find the words that carry a text's meaning; writing without spaces counts in pairs of letters."""
    folded = text.casefold()
    pairs = {run[at : at + 2] for run in _HAN.findall(folded) for at in range(len(run) - 1)}
    words = {word for word in _WORD.findall(_HAN.sub(" ", folded)) if word not in _STOP}
    return frozenset(pairs | {_ENDING.sub("", word) for word in words})


def coverage(sentence: str, text: str) -> float:
    """Tell which part of a sentence's words a text has."""
    wanted = content(sentence)
    return len(wanted & content(text)) / len(wanted) if wanted else 1.0


def mentioned(mentions: Iterable[str], text: str) -> int:
    """Count the mentions that a text makes."""
    folded = text.casefold()
    return sum(any(part in folded for part in each.casefold().split("|")) for each in mentions)
