"""Turn an author's sentence into a title or a statement."""

from functools import lru_cache

from sidecar.text.patterns import compiled, late, table

# ruff: noqa: RUF001 - other scripts have letters that look like ours


TITLE = 120
"""Letters of a title that fit one line; a title never has more than 200."""

_REASON = table(
    (
        " avoid| order | prevent| that|because|due |given |otherwise|thanks ",
        r"(?<!just )\b(?:because|so that|in order to|given that|due to|thanks to|to avoid|to prevent|as otherwise|otherwise)\b",
    ),
    (
        " since ",
        r",? \bsince (?!v?\d|[0-9a-f]{7,40}\b|(?:its|the) (?:introduction|first|last|beginning)|[A-Z]\w* \d|python|django|then\b)",
    ),
    (
        " as ",
        r",? \bas (?=(?:it|this|that|they|we|there|these|those|most|some|many|all|otherwise)\b|(?:the|our) (?:\S+ ){1,4}?(?:is|are|was|were|has|have|had|does|do|did|can|will|would|could)\b)",
    ),
    (
        " da | sonst| vermeiden|damit|denn|sodass|weil",
        r"\b(?:weil|damit|denn|sodass|da sonst|um zu vermeiden)\b|, da\b",
    ),
    (
        " car |afin |parce |puisque",
        r"\b(?:parce que|puisque|afin (?:de|que)|pour éviter|à cause d)|, car\b",
    ),
    (
        " evitar| que|debido |porque|puesto ",
        r"\b(?:porque|ya que|puesto que|para evitar|debido a)\b",
    ),
    (" evitar| pois |devido |uma ", r"\b(?:uma vez que|já que|para evitar|devido a)\b|, pois\b"),
    ("-", r"因为|由于|以避免|以免|以便|，?否则|ため(?:に|、)?|ので|から、"),
)
_TURNED = compiled(
    r"(?P<reason>(?:because|since|as (?=it|this|the\b|we\b|they|there)|given that|due to|weil|da|puisque|comme|como|ya que)\b[^,()]{8,300}"
    r"|(?:因为|由于)[^，,]{2,200})[，,]\s?(?P<claim>.{4,})",
)
_LEAD = compiled(
    r"(?:entscheidung|entschieden|regel|aufgabe|offen|nächste schritte|décision|règle|à faire|reste à faire|prochaine étape|decisión|regla|pendiente|tarea|por hacer|decisão|regra|pendência|a fazer|决定|约束|待办|后续|決定|制約|残り)\s?[:：]\s*",
    r"(?:[-–—>*•]+\s*)?(?:(?:(?:no|nope|wrong|actually|scratch that|sorry|my mistake)[,:.]|actually)\s+(?:that(?:'s| is| was) (?:wrong|not (?:right|true|correct)|incorrect)[,:.;]?\s+)?)?(?:(?:(?:on second thoughts?|by the way|btw|so|ok|okay|alright|and|also|but|then|therefore|hence|thus|finally)\b,?|(?:note|nb|ps|update|important|reminder|careful|beware|warning|caution|for tomorrow|one (?:more |last )?thing(?: to remember| is (?:unresolved|open|left))?)\s?[:：])\s+(?:that\s+)?)*"
    r"(?:(?:decisions?|decided|resolved|constraints?|rules?|conventions?|preferences?|facts?|todo|fixme|xxx|hack|tasks?|next(?: steps?| up)?|follow[- ]?ups?|known (?:issues?|bugs?|limitations?)|open|remaining|unresolved|still (?:to do|todo|open)|correction|lesson(?: learned)?|learned|remember|skill|how[- ]?to|tip|breaking[ -]changes?)\s?(?:\([^)]{0,40}\))?\s?[:：—]\s*)?"
    r"(?:(?:please\s+)?(?:(?:remember|don\'t forget|do not forget)\s+to\s+|(?:remember|note|keep in mind)\s+(?:that\s+)?))?"
    r"(?:(?:we|i|the team)\s+(?:have\s+|had\s+|'ve\s+)?(?:(?:finally|also|just|jointly)\s+)?(?:decided|agreed|chose|opted)\s+(?:that\s+|to\s+(?!not))|(?:it was\s+)?(?:decided|agreed)\s+(?:that\s+|to\s+)|let'?s\s+|let us\s+|(?:we|i)(?:'ll| will)\s+(?!not|never|only|always|no\b))?",
)
_TAIL = late(r"[\s(]*(?:\((?:#|GH-)\d+\))?[\s.,;:：。、，!…—–-]*$")
_CUT = 0.6
_CONJUNCTION = compiled(
    r"(?:because|since|so that|as|due to|given that|otherwise|to (?:avoid|prevent)|in order to|weil|da|damit|parce que|puisque|car|porque|ya que|pois)\b"
)
_PAIRS = (("`", "`"), ('"', '"'), ("(", ")"), ("“", "”"))
_KNOWN = 1_000
_SHORTEST = 8


@lru_cache(maxsize=_KNOWN)
def split(text: str) -> tuple[str, str | None]:
    """Part a claim from its reason, where one is given."""
    turned = _TURNED.match(text)
    if turned and turned["claim"]:
        return turned["claim"], _reason(turned["reason"])
    for mark in _REASON.finditer(text, _SHORTEST):
        claim = text[: mark.start()].rstrip(" ,;:—–-(，")
        reason = text[mark.start() :].strip(" ,;:()—–-，")
        if len(reason) >= _SHORTEST:
            return claim, _reason(reason)
    return text, None


def title(claim: str) -> str:
    """Write a claim as a headline: without its lead-in and full stop, cut at a word."""
    rest = claim[lead.end() :] if (lead := _LEAD.match(claim)) else claim
    rest = rest if len(rest) >= _SHORTEST else claim
    return clipped(capital(_TAIL.sub("", rest)), TITLE) or clipped(claim, TITLE) or "…"


def sentence(text: str) -> str:
    """Write a statement so that another can follow it."""
    kept = capital(text.strip())
    return kept if kept.endswith((".", "!", "?", "。", "…", ":", "！")) else f"{kept}."


def reasoned(claim: str, reason: str | None) -> str:
    """Write a claim with its reason in one sentence."""
    if reason is None:
        return clipped(claim, TITLE)
    why = clipped(reason.rstrip("."), TITLE)
    if _CONJUNCTION.match(why):
        return f"{claim}, {why[:1].lower()}{why[1:]}"
    return f"{claim} ({why})"


def clipped(text: str, most: int) -> str:
    """Cut a text at a word."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    space = cut.rfind(" ")
    whole = _closed(cut[:space] if space > most * _CUT else cut)
    return whole.rstrip(" ,;:—–-(") + "…"


def _closed(text: str) -> str:
    """Leave out what a cut has opened and not closed, unless that is nearly all."""
    at = len(text)
    for opening, closing in _PAIRS:
        is_open = (
            text.count(opening) % 2 == 1
            if opening == closing
            else text.rfind(opening) > text.rfind(closing)
        )
        at = min(at, text.rfind(opening)) if is_open else at
    return text[:at] if at > len(text) * _CUT else text


def _reason(text: str) -> str:
    return capital(_TAIL.sub("", text))


def capital(text: str) -> str:
    """Begin with a capital letter, unless the first word is a name of code."""
    first = text.split(" ", 1)[0]
    is_name = any(sign in first for sign in "._/(`:=<[") or any(one.isupper() for one in first[1:])
    return text if is_name else text[:1].upper() + text[1:]


def size(text: str) -> int:
    """Return how much a text says: in bytes, since a sign of some scripts says more than a letter."""
    return len(text.encode("utf-8", "surrogatepass"))
