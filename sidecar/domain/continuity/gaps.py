"""Gaps: which notes of a conversation a host's summary of it does not hold.

A note is held where one or two neighbouring sentences of the summary have most of its words, every number, path
and name of it, and say it the same way round. Everything else counts as lost: to say something twice costs a
line, to lose it costs the decision.
"""

# ruff: noqa: RUF001 - other scripts have letters that look like ours

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from protocol.conversations import Note
from sidecar.domain import duplicates
from sidecar.domain.enrichment import wording
from sidecar.domain.enrichment.patterns import compiled
from sidecar.domain.recall import words

_READ = 120_000
"""Letters of a summary that are looked at."""
_SENTENCES = 3_000
"""Sentences of a summary that are looked at."""
_LONGEST = 1_000
"""Letters of a sentence; of what is longer, nobody knows what its end takes back."""
_MOST = 0.7
"""The part of its words without which a note is not said."""
_FEW = 3
"""Words of a note that must all be there."""
_LETTER = re.compile(r"[^\W_]")
_END = re.compile(r"(?<=[.!?…])[\"'`)*]{0,3}\s+|(?<=[。！？])|[\r\n]+")
_HEADING = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]|\d{1,2}\.[ \t]+[^.:]{3,60}:[ \t]*$|[^.!?]{2,60}:\**[ \t]*$|\*\*[^*]{2,60}\*\*)"
)
_NUMBER = re.compile(r"(?<![\w.])[v$€£#~≥≤<>=]*(\d+(?:[.,:]\d+)*)[ \t-]?([a-zµ%]+)?", re.IGNORECASE)
_NAME = re.compile(r"(?<=[\w,;:)(\"'`][ (\"'`])[(\"'`]?([A-ZÀ-Þ]\w+)")
_NO_NAMES = frozenset(["I", "OK", "Ok"])
_NO_MARKS = frozenset(["e.g", "i.e", "etc", "z.b", "u.a", "d.h"])
_COUNTS = {
    word: str(number)
    for number, word in enumerate(
        [
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ],
        2,
    )
}
_COUNT = re.compile(rf"\b(?:{'|'.join(_COUNTS)})\b", re.IGNORECASE)
_UNITS = {
    form: forms.split()[0]
    for forms in (
        "ms millisecond milliseconds msec",
        "s sec secs second seconds sekunden segundos secondes",
        "min mins minute minutes minuten minutos",
        "h hr hrs hour hours stunden horas heures",
        "d day days tage tagen días dias jours",
        "week weeks wochen semanas semaines",
        "month months monate meses mois",
        "year years jahre años anos ans",
        "% percent prozent",
        "b byte bytes",
        "kb kib k",
        "mb mib",
        "gb gib",
        "tb tib",
    )
    for form in forms.split()
}
_SOFT = frozenset(
    [
        "always",
        "never",
        "on",
        "up",
        "more",
        "first",
        "new",
        "test",
        "tests",
        "left",
        "right",
        "end",
        "start",
        "add",
        "adds",
        "added",
        "open",
        "opened",
        "release",
        "old",
        "last",
        "read",
        "write",
        "close",
        "closed",
        "one",
        "begin",
        "debug",
        "second",
        "off",
        "down",
        "less",
    ]
)
"""Opposites that are often said in passing."""
_SMALL = frozenset(
    words.count(
        "we our us i you please let will should must never always have has need still yet again also ok okay the a an"
        " der die das den dem des und ein eine einen wir uns ist sind für mit von zu im auf bitte noch muss müssen nicht"
        " le la les de des du un une et on nous pour est sont dans sur pas ne il faut el los las un una y que para con en"
        " se o os as um uma e do da dos das em no na são está else elsewhere everywhere don t ll ve re isn doesn won go going want stay keep make sure only"
    )
)
_MEASURES = frozenset(words.count(" ".join(_UNITS)))
"""Units are compared with their numbers."""
_AGAINST = compiled(
    r"\b(?:avoid\w*|forbid\w*|forbidden|reject\w*|refus\w+|abandon\w*|discard\w*|declin\w+|against|ruled out|dropp?(?:ed|ing|s)?|stop(?:ped|s|ping)?|no longer|remov\w+|revert\w*|replaced(?! by| with)|instead|rather than|unlike|prohibit\w*|disallow\w*|nobody|no one|lack\w*|niemals|niemand|nichts|weder|aucun\w*|ning[uú]n\w*|nadie|nenhum\w*|vermeide\w*|verboten|statt|anstatt|évit\w+|au lieu|plutôt que|interdit\w*|evit\w+|prohib\w+|en (?:lugar|vez) de|em vez d\w+|proib\w+|non|mai)\b|禁止|避免|而不是|やめ"
)
"""Words that turn what is said without a not."""
_ONCE = compiled(
    r"\b(?:initially|originally|previously|at first|earlier|formerly|used to|no longer|changed (?:to|from|later)|superseded|outdated|was wrong|considered|proposed|suggested|maybe|might|perhaps|could|whether|would|possible|possibly|options?|alternatives?|unclear|undecided|if we|ursprünglich|zuerst|früher|vielleicht|d'abord|avant|peut-être|antes|al principio|quizás?|talvez)\b|原本|最初|可能"
)
"""How a summary tells what does not hold, or not for sure."""
_OVER = compiled(
    r",? \b(?:instead of|rather than|(?<!going )over|statt|anstatt|anstelle von|plutôt que|au lieu d[eu']|en (?:lugar|vez) de|em vez d[eao])\b|(?:,|;| and| und| et| y| e) (?:not|nicht|kein\w*|pas|no|não)\b|而不是|,?不用"
)
"""What follows was not taken."""
_TURNED = compiled(
    r"\b(?:replac\w+|swap\w*|switch\w*|mov(?:e|ed|ing)|migrat\w+|chang\w+|convert\w*|in favou?r of|from\b.{1,60}\bto)\b|\bersetz\w+|\bremplac\w+|\breemplaz\w+|\bsubstitu\w+"
)
"""One thing gives way to another."""
_ASKS = re.compile(r"[?？][\"'`)*]{0,3}(?:\s|$)")
_POINTING = compiled(
    r"(?:but|however|later|then|afterwards|actually|correction|update|this|that|it|they|these|both|which|aber|später|dann|das|dies|mais|ensuite|cela|pero|luego|esto|eso|mas|depois|isso)\b"
)
_ASIDE = re.compile(r", (?:it|they|this|that|which|as|otherwise|es|er|sie|das)\b.*$", re.IGNORECASE)
"""A reason without a word that says so."""
_ORDERS = compiled(
    r"\b(?:before|after|then|than|precedes?|follows?|vor|nach|avant|après|antes|después|depois)\b"
)
_PART = re.compile(r"(?:\s+[^\s,;.:()]+){1,3}")
_BOUNDS = (
    compiled(
        r"(?:\b(?:at most|no more than|not more than|under|below|less than|fewer than|up to|max(?:imum|imal)?|within|limited to|capped at|höchstens|maximal|unter|au plus|au maximum|moins de|como máximo|máximo|menos de|no máximo|until|bis)\b|不超过|[≤<])(?=[^.]{0,20}\d)|\d.{0,12}(?:以内|以下|\b(?:at most|or less|or fewer|como máximo)\b)"
    ),
    compiled(
        r"(?:\b(?:at least|no less than|not less than|above|more than|min(?:imum|imal)?|mindestens|über|au moins|plus de|al menos|como mínimo|más de|pelo menos|mais de|newer than)\b|至少|[≥>])(?=[^.]{0,20}\d)|\d.{0,12}(?:以上|\b(?:at least|or more)\b)"
    ),
)
_ONLY = compiled(
    r"\b(?:only|nur|seulement|uniquement|sólo|solo|solamente|somente|apenas|ne .{1,40} que)\b|只|のみ|だけ"
)
_SOME = compiled(
    r"\b(?:some|most|a few|several|many|einige|manche|certains|plusieurs|algunos|algunas|alguns)\b|一些"
)
_OPEN = compiled(
    r"\b(?:todos?|to[- ]do|pending|remain\w*|still|left|open|next|missing|not (?:yet|been|done)|yet|need(?:s|ed)?|must|should|outstanding|follow-?ups?|unfinished|unresolved|blocked|later|has to|have to|offen|noch|fehlt|muss|ausstehend|reste|encore|à faire|manque|pendientes?|falta|queda|pendentes?|ainda)\b|待|未|还|残|まだ"
)
_DONE = compiled(
    r"\b(?:completed|finished|is done|was done|are done|been done|implemented|was (?:added|written|fixed|updated|removed|ported)|were (?:added|written|fixed|updated)|has been (?:added|written|fixed|updated|removed)|erledigt|fertig|terminé|hecho|listo|feito)\b|完成"
)


class _Said(Struct, frozen=True, kw_only=True):
    """What is compared of a text."""

    text: str
    claim: str
    """Without the reason that it gives, unless little is left."""
    stems: frozenset[str]
    """Of its claim."""
    numbers: frozenset[tuple[str, str]]
    is_against: bool
    """It says that something is not so, or not to be."""


def missing(notes: Sequence[Note], summary: str) -> tuple[Note, ...]:
    """List the notes that a summary does not hold, in their order."""
    sentences = _sentences(summary)
    windows = tuple(_windows(sentences))
    single = tuple(_said(text, text) for text, _ in sentences)
    return tuple(
        note for note in notes if not _is_held(note, windows) or _is_contradicted(note, single)
    )


def _is_held(note: Note, windows: Sequence[tuple[_Said, str]]) -> bool:
    readings = [reading for reading in _readings(note.text) if reading[0].stems]
    return any(_says(note, reading, window) for reading in readings for window in windows)


def _is_contradicted(note: Note, sentences: Sequence[_Said]) -> bool:
    """Tell whether a sentence anywhere says the same with a not more, or one less."""
    said = _said(note.text, _claim(note.text))
    return note.type != "task" and any(
        said.is_against != told.is_against
        and _has_most(said, told)
        and said.numbers <= told.numbers
        and _names(said.text, told.text)
        for told in sentences
    )


def _readings(text: str) -> Iterator[tuple[_Said, frozenset[str]]]:
    """Read a note as it stands, and without what it says was not taken; with the words left out."""
    yield _said(text, _claim(text)), frozenset()
    over = _OVER.search(text)
    part = _PART.match(text, over.end()) if over else None
    if over and part:
        rest = f"{text[: over.start()]}{text[part.end() :]}"
        yield _said(rest, _claim(rest)), _stems(part[0]) - _stems(text[: over.start()])


def _says(note: Note, reading: tuple[_Said, frozenset[str]], window: tuple[_Said, str]) -> bool:
    """Tell whether sentences of a summary say what a note says."""
    said, left_out = reading
    told, heading = window
    if not _has_most(said, told) or told.stems & left_out:
        return False
    if not (said.numbers <= told.numbers and _names(said.text, told.text)):
        return False
    if _ASKS.search(told.text) or (_ONCE.search(told.text) and not _ONCE.search(said.text)):
        return False
    if not _is_same_way(said.claim, told.text):
        return False
    if note.type == "task":
        return _is_still_open(said.claim, f"{heading} {told.text}")
    return said.is_against == told.is_against and _turns_same(said.text, told.text)


def _has_most(said: _Said, told: _Said) -> bool:
    """Tell whether the words of a note's claim are there, or nearly all."""
    many = len(said.stems)
    allowed = 0 if many <= _FEW else int(many * (1 - _MOST))
    return len(said.stems - told.stems) <= allowed


def _names(said: str, told: str) -> bool:
    """Tell whether every name, path and identifier of one text stands in another."""
    marks = {
        mark
        for mark in duplicates.marks(said)
        if mark not in duplicates.OPPOSITES | _NO_MARKS and not mark.lstrip("v$€£#")[:1].isdigit()
    }
    proper = {name.lower() for name in _NAME.findall(said) if name not in _NO_NAMES}
    lowered = told.lower()
    return all(_stands(name, lowered) for name in marks | proper if name)


def _stands(name: str, text: str) -> bool:
    """Tell whether a name stands in a text as a word of its own."""
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(name) : at + len(name) + 1]
        if not (before.isalnum() or after.isalnum() or "_" in (before, after)):
            return True
        at = text.find(name, at + 1)
    return False


def _is_same_way(said: str, told: str) -> bool:
    """Tell whether two texts agree in their opposites, their bounds and their order."""
    if duplicates.reverses(said, told):
        return False
    if _ORDERS.search(said) and not _is_in_order(_marked(said), said, told):
        return False
    ours, theirs = _opposites(said), _opposites(told)
    lacking, extra = ours - theirs, theirs - ours
    if lacking - _SOFT or (lacking and extra) or (ours - _SOFT and extra - _SOFT):
        return False
    is_part = bool(_SOME.search(told)) and not _SOME.search(said)
    return _has_same_bounds(said, told) and not is_part


def _has_same_bounds(said: str, told: str) -> bool:
    """Tell whether what is at most, at least or only so in one text is so in another."""
    ours, theirs = ([bool(one.search(text)) for one in _BOUNDS] for text in (said, told))
    is_kept = ours == theirs or not any(ours)
    return is_kept and not (_ONLY.search(said) and not _ONLY.search(told))


def _turns_same(said: str, told: str) -> bool:
    """Tell whether two texts turn the same thing, and put the same one before the other."""
    is_mixed = bool(_TURNED.search(told)) != bool(_TURNED.search(said))
    if is_mixed and _OVER.search(f"{said} {told}"):
        return False
    if _TURNED.search(said) and not _is_in_order(_stems(said), said, told):
        return False
    if (over := _OVER.search(said)) and not _is_in_order(_around(said, over), said, told):
        return False
    ours, theirs = _scopes(said), _scopes(told)
    return not theirs or all(any(scope & other for other in theirs) for scope in ours if scope)


def _around(text: str, mark: "re.Match[str]") -> frozenset[str]:
    """Give the words on both sides of a mark."""
    before, after = text[: mark.start()].split()[-2:], text[mark.end() :].split()[:2]
    return _stems(" ".join(before)) ^ _stems(" ".join(after))


def _scopes(text: str) -> list[frozenset[str]]:
    """List what stands right after each negation, or before it where nothing follows."""
    marks = [*duplicates.NEGATION.finditer(text), *_AGAINST.finditer(text)]
    return [
        _stems(" ".join(text[mark.end() :].split()[:5]))
        or _stems(" ".join(text[: mark.start()].split()[-5:]))
        for mark in marks
    ]


def _is_in_order(wanted: frozenset[str], said: str, told: str) -> bool:
    """Tell whether words that two texts share come in the same order."""
    ours = [one for one in words.count(said) if one in wanted]
    theirs = [one for one in words.count(told) if one in ours]
    return [one for one in ours if one in theirs] == theirs


def _is_still_open(said: str, told: str) -> bool:
    """Tell whether a summary knows that something is left to do."""
    is_done = _DONE.search(told) is not None and not _DONE.search(said)
    return _OPEN.search(told) is not None and not is_done


def _marked(text: str) -> frozenset[str]:
    """Give the numbers and names of a text, as words."""
    return frozenset(words.count(" ".join([*duplicates.marks(text), *_NAME.findall(text)])))


def _opposites(text: str) -> frozenset[str]:
    return frozenset(duplicates.marks(text)) & duplicates.OPPOSITES - _COUNTS.keys() - _UNITS.keys()


def _windows(sentences: Sequence[tuple[str, str]]) -> Iterator[tuple[_Said, str]]:
    """Give every sentence and every two neighbours that the next one does not take back."""
    taken_back = [*(_takes_back(text) for text, _ in sentences), False][1:]
    for (text, heading), is_over in zip(sentences, taken_back, strict=True):
        if not is_over:
            yield _said(text, text), heading
    for ((first, _), (second, heading)), is_over in zip(
        pairwise(sentences), taken_back[1:], strict=True
    ):
        if not is_over:
            yield _said(f"{first} {second}", f"{first} {second}"), heading


def _takes_back(text: str) -> bool:
    """Tell whether a sentence points at the one before and turns it."""
    turning = (duplicates.NEGATION, _AGAINST, _ONCE, _TURNED)
    return bool(_POINTING.match(text)) and any(one.search(text) for one in turning)


def _sentences(summary: str) -> list[tuple[str, str]]:
    """Give every sentence of a summary with the heading it stands under."""
    sentences: list[tuple[str, str]] = []
    heading = ""
    for part in _END.split(summary[:_READ]):
        if _HEADING.match(part):
            heading = part.strip(" \t#*:")
        if _LETTER.search(part) and len(sentences) < _SENTENCES:
            sentences.append((part.strip(), heading))
    return [one for one in sentences if len(one[0]) <= _LONGEST]


def _claim(text: str) -> str:
    claim = _ASIDE.sub("", wording.split(text)[0])
    return claim if len(_stems(claim)) >= _FEW else text


def _said(text: str, claim: str) -> _Said:
    counted = _COUNT.sub(lambda word: _COUNTS[word[0].lower()], text)
    return _Said(
        text=text,
        claim=claim,
        stems=_stems(claim),
        numbers=frozenset(
            (digits.replace(",", ""), _UNITS.get(unit.lower(), ""))
            for digits, unit in _NUMBER.findall(counted)
        ),
        is_against=any(one.search(text) for one in (duplicates.NEGATION, _AGAINST, _OVER)),
    )


def _stems(text: str) -> frozenset[str]:
    """Give the stems of a text that carry its meaning."""
    found = (term for term, weight in words.count(text).items() if weight >= 1)
    kept = frozenset(term for term in found if not term.isdigit()) - _SMALL - _MEASURES
    return (kept - duplicates.LIGHT) or kept
