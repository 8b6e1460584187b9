"""What a user says that lasts: rules of work become memory, wishes and facts are proposed.

Modal rules were right 84 times of 100 on unseen conversations; prohibitions, wishes and facts about half of the time.
"""

import re
from typing import NamedTuple

from protocol.memories import MemoryType, RuleName
from sidecar.memory.extract import noise
from sidecar.text import wording
from sidecar.text.patterns import late

WHOLE = 220
"""Letters of a turn that is kept whole; of a longer one its sentence is."""
_WORDS = 5
_LASTING = late(
    r"^(?:(?:please|also|and|but|btw|so|ok|okay|oh|bitte|por favor|s'il (?:te|vous) plaît),?\s+)*(?:always|never|immer|nie(?:mals)?|siempre|nunca|toujours|ne \w+ jamais|sempre)\b"
    r"|\b(?:you|we) (?:must |should |want to )?(?:always|never) (?!seen|had|got|been|did|finished|reached|shows?|works?|worked|happen)\w+"
    r"|\b(?:from now on|from here on|going forward|ab (?:jetzt|sofort)|in zukunft|de ahora en adelante|a partir de ahora|à partir de maintenant|désormais|dorénavant|a partir de agora|daqui em diante)\b"
    r"|^(?:(?:please|also|and|but|btw|bitte),?\s+)*(?:remember|keep in mind|merk dir|denk daran|recuerda|ten en cuenta|souviens-toi|rappelle-toi|lembre-se)\b(?! (?:when|how|what|if)\b)",
    re.IGNORECASE,
)
_MODAL = late(
    r"\b(?:should(?:n't| not)?|must(?:n't| not)?|needs to|has to|deb(?:e|en|er[ií]an?)|tienen? que|hay que|deve(?:m|ria)?|doi(?:t|vent)|devrai(?:t|ent)|il faut|soll(?:en|te|ten)?|muss|müssen|darf|dürfen)\b",
    re.IGNORECASE,
)
_FORBIDDEN = late(
    r"^(?:(?:please|also|and|but|btw|so|ok|okay),?\s+)*(?:do not|don['\u2019]?t|avoid|no more|stop (?:using|adding|writing|putting|creating|making)|bitte (?:nicht|keine?n?)|ne \w+ pas|no (?:uses?|hagas|pongas|toques|modifiques|borres|cambies)|não (?:use|faça|mude|altere|coloque))\b"
    r"|\b(?:we|i) (?:don['\u2019]t|do not) (?:want|use|allow|support|need)\b|\bthere(?:'s| is) no need (?:to|for)\b",
    re.IGNORECASE,
)
_WISH = late(
    r"\b(?:i|we)(?:'d| would)? (?:(?:really|also|just) )?(?:want|like|prefer|would like|would love|would rather)\b(?! (?:you )?to (?:know|see|understand|ask|check|test|try|make sure|talk|go|start|continue|add this))|\b(?:ich (?:möchte|will|hätte gern)|quiero|me gustaría|prefiero|je (?:veux|voudrais|préfère)|(?:eu )?(?:quero|gostaria|prefiro))\b",
    re.IGNORECASE,
)
_FACT = late(
    r"^(?:(?:btw|also|so|and|note|fyi),?:?\s+)?(?:we(?:'re| are)? (?:use|using|run|running|have|host|deploy|store|keep|support)\b|(?:the|our|this) (?:project|repo|repository|codebase|app|site|api|server|database|db|backend|frontend|client|team|build|deployment)\b.{0,40}\b(?:is|are|uses?|runs?|lives?|has|have|supports?|stores?)\b|i(?:'m| am) (?:already )?(?:running|using|on)\b)",
    re.IGNORECASE,
)
_PASSING = late(
    r"(?<!from )\bnow\b|\b(?:again|yet|today|tomorrow|still|errors?|fail(?:s|ed|ing|ure)?|bugs?|broken?|wrong|crash\w*|not working|doesn't work|does not work|isn't|didn't|issue|exception|traceback|first,? (?:let|we)|next|instead|currently|for the moment|this time|one more|another one|back to|(?:revert|undo) (?:the|this|that|it|your|last)|continue|proceed|jetzt|nochmal|noch|fehler|ahora|otra vez|todavía|maintenant|encore|erreur|agora|ainda|erro)\b"
    r"|\byou (?:should|must|need to|have to) (?:check|fix|try|look|see|run|read|test|start|find|know|verify|be able)\b|\bshould (?:i|we)\b|\bwhat\b.{0,30}\bshould\b|\bshould (?:work|be (?:fine|ok|good|able|enough|working)|have)\b",
    re.IGNORECASE,
)
_DECIDED = late(
    r"\b(?:we|the team)(?:'ve| have)? (?:\w+ly |just |now )?(?:decided|agreed)\b|^(?:decision|decided)\s?:",
    re.IGNORECASE,
)
_BROKEN = late(
    r"\b(?:again|still|errors?|fail(?:s|ed|ing)?|bugs?|broken|wrong|crash\w*|not working|continue|revert)\b",
    re.IGNORECASE,
)
_OWN = late(
    r"\bi (?:\w+ )?(?:think|guess|used|will|believe|feel|see|tried)\b|^(?:please|can|could|let's|let us|then|however|definitely|if it makes sense)\b|\bfor this (?:feature|task|change|step|commit|pr)\b|\btry to\b",
    re.IGNORECASE,
)
"""An opinion, or an order for the moment."""
_ENDS = late(
    r"^(?:it|this|that|these|those|they|he|she|which|es|das|dies|eso|esto|cela|ça|isso|isto|what|why|how|when)\b|\b(?:it|this|that|these|those|them|here|there)\W*$",
    re.IGNORECASE,
)
_PASTED = late(
    r"[{}<>]|\w\(.*\)|=>|::|\S/\S+/\S|^\s*(?:at |File |\$ |>|\||\d+[:|])|https?://|\t|[A-Z]{3,}.*[A-Z]{3,}.*[A-Z]{3,}"
)


class Heard(NamedTuple):
    """What a sentence is, and by which rule."""

    rule: RuleName
    type: MemoryType


def judge(text: str) -> Heard | None:
    """Return what a user's sentence says that lasts; None where it asks, reports or concerns the moment."""
    if len(text.split()) < _WORDS or "?" in text or noise.is_hedged(text):
        return None
    if _ENDS.search(text) or _PASTED.search(text):
        return None
    is_passing = _PASSING.search(text) is not None
    is_rule = _MODAL.search(text) and not (_FACT.match(text) or _WISH.search(text))
    is_own = _OWN.search(text) is not None
    heard: tuple[tuple[object, Heard], ...] = (
        (_LASTING.search(text) and not is_passing, Heard("lasting-words", "constraint")),
        (_FORBIDDEN.search(text) and not is_passing, Heard("prohibition", "constraint")),
        (is_rule and not (is_passing or is_own), Heard("lasting-words", "constraint")),
        (_DECIDED.search(text) and wording.split(text)[1], Heard("decision", "decision")),
        (_WISH.search(text) and not _BROKEN.search(text), Heard("wish", "preference")),
        (_FACT.match(text) and not _BROKEN.search(text), Heard("project-fact", "fact")),
    )
    return next((kind for sign, kind in heard if sign), None)
