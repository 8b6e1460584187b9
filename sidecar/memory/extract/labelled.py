"""What its author named themselves: `Decision: …`, or a list under `Next steps:`."""

import msgspec

from protocol.memories import MemoryType
from sidecar.memory.extract import duties
from sidecar.memory.extract.findings import Finding, found
from sidecar.memory.extract.messages import Message
from sidecar.text.patterns import compiled
from sidecar.text.statements import Statement

# ruff: noqa: RUF001 - other scripts have letters that look like ours


_NAMES: tuple[tuple[MemoryType, tuple[int, int], str], ...] = (
    (
        "decision",
        (4, 4),
        r"(?:(?:ok|so|well), )?(?:final |our |the )?decisions?(?: (?:after|of|from|for|in|on) .{2,20})?|decided|we decided|agreed|conclusion|verdict|outcome|adr|entscheidung(?:en)?|décisions?|decisión|decisiones|decisão|decisões|决定|决策|決定(?:事項)?",
    ),
    (
        "constraint",
        (4, 4),
        r"constraints?|rules?|hard rules?|requirements?|invariants?|limits?|policy|vorgaben?|regeln?|contraintes?|règles?|restricci(?:ón|ones)|reglas?|restriç(?:ão|ões)|regras?|约束|限制|规则|制約|ルール",
    ),
    (
        "preference",
        (3, 4),
        r"preferences?|conventions?|style|code style|naming|guidelines?|preferencias?|préférences?|preferências?|偏好|约定|好み",
    ),
    (
        "task",
        (3, 4),
        r"(?:not|nothing) (?:in|part of|included in|covered by|done in) (?:this|the) .{2,20}|not (?:included|covered|handled|supported|implemented|done)(?: here| yet)?|out of scope|(?:still )?missing|postponed|deferred|future work|(?:todos?|open|left|remaining) (?:for|until|before) .{2,20}|(?:\w+ )?(?:things?|points?|items?|issues?|bits?) (?:are |is )?(?:still )?(?:left|open|missing|remaining|to do)|todos?|to[- ]do|next(?: steps?| up)?|follow[- ]?ups?|remaining(?: work| tasks| issues)?|open(?: issues| points| items| questions)?|still (?:to do|open|missing)|left(?: to do| open)?|unresolved|known (?:issues?|bugs?|limitations?|problems?)|pending|outstanding|missing|blockers?|blocked|waiting for|what's left|not done(?: yet)?|later|offen(?:e punkte)?|noch offen|nächste schritte|à faire|reste(?: à faire)?|prochaines? étapes?|pendientes?|por hacer|próximos pasos|pendências|pendentes?|a fazer|próximos passos|待办|下一步|后续|遗留(?:问题)?|残(?:課題|タスク|り)|今後の課題|次の(?:ステップ|作業)",
    ),
    (
        "correction",
        (4, 4),
        r"corrections?|correcting myself|korrektur|correction|corrección|correção|更正|訂正",
    ),
    (
        "fact",
        (3, 4),
        r"facts?|note to self|remember|important|nb|fyi|good to know|lessons?(?: learned)?|learned|til|gotchas?|findings?|notes?|note that|warnings?|careful|beware|caution|achtung|attention|cuidado|atención|atenção|root causes?|causes?|background|explanation|(?:la |the )?(?:cause|causa)|(?:die )?ursache|(?:der )?grund|wichtig|merke|à savoir|importante?|注意|重要|メモ|原因",
    ),
    ("skill", (3, 4), r"how[- ]?to|skills?|recipe|procedure|runbook|tips?|anleitung|手順|做法"),
)
_TABLE = tuple((kind, grades, compiled(rf"(?:{names})$")) for kind, grades, names in _NAMES)
_NAME = compiled(
    r"(?P<name>[^:：。.`]{2,40}?)(?:\s?\([^)]{0,40}\))?\s?[:：]\s*(?=\S)(?P<rest>.{6,})"
)
_MINDED = compiled(
    r"(?:fyi|nb|note that|remember,? (?!to\b)(?:that )?|keep in mind|mind that|be aware|good to know|for the record)[,:]?\s.{10,}",
)
_CAUSE = compiled(
    r"(?:root )?causes?$|.*\b(?:ursache|grund|causa|cause)$|background|explanation|原因"
)
_COLON = compiled(r"[:：]")
_FEW = 5
"""Words of a heading; a longer one is a sentence."""


def labelled(message: Message, statement: Statement) -> Finding | None:
    """Take what stands behind a name such as `Decision:`, and the items of a list with such a name."""
    if statement.place == "subject":
        return None
    text = statement.text
    named = _NAME.match(text) if ":" in text or "：" in text else None
    if named and (finding := _named(named["name"], statement)):
        return finding
    if message.is_capture and _MINDED.match(statement.text):
        return found("fact", statement, (3, 4))
    if statement.is_item and not statement.is_done and statement.heading:
        return _named(statement.heading, statement)
    return None


def _named(name: str, statement: Statement) -> Finding | None:
    words = name.strip(" *_#").casefold()
    if len(words.split()) > _FEW:
        return None
    for kind, grades, names in _TABLE:
        if names.match(words):
            is_cause = _CAUSE.match(words) is not None
            return _found(kind if not is_cause else "fact", grades, statement, is_cause=is_cause)
    return None


def _found(
    kind: MemoryType, grades: tuple[int, int], statement: Statement, *, is_cause: bool
) -> Finding:
    """Take a rule behind a name such as `Important:` for what it is; a cause may speak of never, too."""
    colon = _COLON.search(statement.text)
    rest = statement.text[colon.end() :].strip() if colon else statement.text
    demands = duties.MUST.search(rest) or duties.FORBID.match(rest)
    is_rule = kind == "fact" and demands and not is_cause
    finding = found("constraint", statement, (4, 4)) if is_rule else found(kind, statement, grades)
    return msgspec.structs.replace(finding, is_named=True)
