"""Facts and skills: causes, figures, defaults, new names to use, and how things are done."""

# ruff: noqa: RUF001 - other scripts have letters that look like ours

import re

from sidecar.domain.enrichment import names, phrases, wording
from sidecar.domain.enrichment.findings import Finding, found
from sidecar.domain.enrichment.messages import Message
from sidecar.domain.enrichment.patterns import late, table
from sidecar.domain.enrichment.statements import Statement

_FIGURE = late(
    r"(?<![\w.])\d[\d.,_]*\s?(?:%|percent\b|x\b|×|times\b|fold\b|[kmgµunt]?s\b|secs?\b|seconds?\b|minutes?\b|min\b|hours?\b|[kmgt]i?b\b|bytes\b|req/s|rps|ops/s|fps\b|allocations?\b|queries\b|倍|秒|毫秒)",
    re.IGNORECASE,
)
_LEAST = 20
"""Letters below which nobody knows later what was measured."""
_DIGIT = late(r"\d")
_SHORT = 40
"""Letters below which a sentence is only the end of its subject."""
_NOW = late(r"now\b", re.IGNORECASE)
_MEASURED = table(
    ("", r"→|->|\bp9\d\b"),
    (
        " from|benchmark|bigger|cut|dauert|decreas|down |drop|faster|fewer|from |improv|increas|instead |langsamer|larger|latency|less|lower|measured|median|memory|passe |rapide|reduc|reduz|sav|schneller|shrank|shrink|smaller|speed|statt |takes|throughput|took|went ",
        (
            r"\b(?:faster|slower|smaller|bigger|larger|reduc\w+|improv\w+|speed\w*|cut(?:s|ting)?|down (?:from|to)|drop(?:s|ped)? (?:from|to|by)|shrink\w*|shrank|less|fewer|lower\w*|sav(?:es?|ed|ing)|increas\w+|decreas\w+|went from|goes? from|from\b.{1,40}\bto|took|takes|instead of \d[\d.,]*|benchmark\w*|measured|latency|throughput|memory|median"
            r"|schneller|langsamer|reduziert|statt \d[\d.,]*|dauert\w*|rapide|réduit|passe de|más rápido|reduce|mais rápido|reduz)\b|提升|减少|降低|缩短|高速化|短縮|削減"
        ),
    ),
)
_DEFAULT = table(
    (
        " defecto|default",
        (
            r"\b(?:defaults?\b.{0,40}\b(?:is|are|to|now)|default: ?[\w`]+|(?:is|are) (?:now )?(?:the |on |off |enabled |disabled |true |false )+by default|(?:enabled?|disabled?|turn(?:ed)? (?:on|off)|on|off|used?|activated?) by default|now the default|(?:change|raise|lower|bump|increase|decrease|set|switch)[sd]? (?:the )?(?:.{1,40} )?default\b"
            r"|standardmäßig|par défaut|por defecto|por padrão|por omisión)\b|默认|デフォルト"
        ),
    ),
)
_NEWS = late(
    r"\b(?:now|change[sd]?|raise[sd]?|lower(?:ed|s)?|enable[sd]?|disable[sd]?|made|make|bump(?:ed)?|set)\b|jetzt|désormais|maintenant|ahora|agora|改为|现在|に変更",
    re.IGNORECASE,
)
_INTRODUCED = table(
    (
        " new |command|config|endpoint|env|flag|option|setting",
        r"(?:the|a) new (?:`[^`]{1,40}` )?(?:option|flag|setting|environment variable|variable|endpoint|command|subcommand|key)\b|(?:add(?:s|ed)?|introduc(?:e|es|ed)|new|implement(?:s|ed)?|expos(?:e|es|ed)|provid(?:e|es|ed)|create[ds]?|accept(?:s|ed)?|read(?:s)?|honou?r(?:s|ed)?)\b.{0,120}\b(?:options?|flags?|settings?|environment variables?|env(?:ironment)? ?vars?|endpoints?|(?:sub)?commands?|config(?:uration)? (?:keys?|options?|values?))\b",
    ),
)
_HOW = table(
    (
        " order |for|if|to|um|when",
        r"(?:to|for|when|whenever|if|in order to|um)\b.{4,140}?[,:]\s?(?:just |simply |first |you can |you (?:need|have) to |please )?(?:run|use|call|execute|set|type|invoke|start|pass|do|führe|starte)\b\s?.{3,}",
    ),
    (
        "call|execute|run|set|start|use",
        r"to\s.{4,100}?\s(?:run|use|call|execute|set|start)\s(?:the\s)?`.{3,}",
    ),
    (
        "build|debug|deploy|publish|refresh|regenerate|release|reproduce|reset|run|seed|start|test|update",
        r"(?:start|build|deploy|release|regenerate|reproduce|test|debug|run|refresh|reset|seed|update|publish)\b.{0,80}?\s(?:with|by|via|using|running)\s(?:running\s)?`[^`]{3,}`",
    ),
    ("how ", r"how to\s.{3,80}[:：]\s.{3,}"),
    (
        "call|execute|invoke|run|use",
        r"(?:run|use|execute|call|invoke)\s`[^`]{3,120}`\s.{0,60}?(?:to|for|before|after|when|in order)\b.{4,}",
    ),
    (
        "built|deployed|generated|released|run|started",
        r".{4,100}\b(?:is|are) (?:run|started|built|generated|deployed|released|regenerated) (?:with|by|via|using) `[^`]{3,}`",
    ),
    (
        "-",
        r"(?:要|为了).{2,60}[，,]\s?(?:运行|执行|请用).{2,}|.{2,60}(?:には|するには)、?.{2,60}(?:を実行|を使)",
    ),
    (
        "ara|our",
        r"(?:pour|para)\b.{4,100}?,\s(?:lance[rz]?|exécute[rz]?|utilise[rz]?|ejecuta\w*|usa\w*|execute|rode|use)\b.{3,}",
    ),
    ("for|if|to|when", r"(?:to|for|if|when)\b.{4,100}?[:：]\s`[^`]{3,}`.{0,200}"),
    (
        "call|execute|run|type|use|via|with",
        r"(?:to|for|if|when|you)\b.{4,100}?[\s,:](?:run|use|call|execute|type|with|running|via)\s(?:\.{0,2}/|bin/|scripts?/|tools?/|(?:make|npm|pnpm|yarn|npx|docker|kubectl|git|go|cargo|python3?|pip|uv|poetry|pytest|tox|nox|bundle|rails|rake|mvn|gradle|\./gradlew|dotnet|terraform|psql|just|composer|php|node|deno|bun|helm|mix|flutter|curl|ssh)\s[\w./-]).{2,}",
    ),
    (
        " work|call|execute|run|start|you ",
        r".{4,60}\bworks? like this\s?[:：].{10,}|you (?:get|start|build|reset|see|can)\b.{3,80}\b(?:with|by running|via|using)\s(?:`|(?:make|npm|docker|kubectl|git|go|cargo|python3?|pytest|bin/|\\./)).{3,}|.{4,80}[:：]\s.{3,80},\s(?:and )?(?:then )?(?:run|start|call|execute)\s.{3,}",
    ),
    (
        "aufrufen|laufen |starten",
        r"(?:zum|um)\s.{4,80}\s`[^`]{3,}`\s(?:ausführen|aufrufen|starten|laufen lassen).*",
    ),
)
_COMMAND = late(
    r"(?:^|\s)(?:\.{1,2}/\w|(?:make|npm|pnpm|yarn|npx|docker|kubectl|git|go|cargo|python3?|pip|uv|poetry|pytest|tox|nox|bundle|rails|rake|mvn|gradle|dotnet|terraform|psql|just|composer|php|node|helm|mix|flutter|curl|ssh)\s[\w.-])"
)
_USED = late(r"use\b|.{0,80}[,:] use\b", re.IGNORECASE)
"""In a commit this tells what was done, not how to do it."""
_STATE = late(
    r"\b(?:is|are|lives?|runs?|listens?|returns?|expects?|needs?|requires?|uses?|stores?|contains?|defaults?|expires?|rotates?|points?|maps?|comes? from|goes? to|belongs?|means|sends?|accepts?|supports?|ignores?|keeps?|writes?|reads?|holds?|depends? on|ist|sind|läuft|liegt|est|sont|es|está|é)\b|是|位于|使用|です|にある"
)
_FAULT = table(
    (
        " so |assumed|broke|can |cannot|caus|collid|compared|crash|deadlock|did |didn |does |doesn |early|failed|failing|fails|hang|hung|ignored|incorrect|late|leads |leak|led |long|lost|missed|never|outlive|overwrote|race|raised|result|shared|stale|treated|twice|wasn |weren |wrong",
        r"\b(?:does not|doesn't|cannot|can't|did not|didn't|wasn't|weren't|never|ignored|compared|shared|assumed|treated|lost|missed|overwrote|raised|crash\w*|failed|fails|failing|hangs?|hung|leak\w*|race|stale|twice|wrong\w*|incorrect\w*|broke|broken|caus(?:ed|ing|es)|led to|leads to|result(?:ed|s|ing) in|outlive[sd]?|collid\w+|deadlock\w*|too (?:early|late|long))\b|, so (?!that|we|i)\w+",
    ),
)
"""How a fix tells what was wrong."""
_PAST = late(
    r"(?!we\b|i\b|this\b|these\b|it now|now\b|thanks|as\b|also\b|follow|see\b|when\b|by\b|ideally|mainly|in\b|per\b|to\b|for\b|if\b|with\b|replac)(?!.*\b(?:now|allows?|added|introduced|supports?)\b)(?:\S+ ){1,6}?(?:was|were|had|happened|\w{3,}ed)\b.*[.!]$",
    re.IGNORECASE,
)
"""How a fix begins that tells a story."""
_TESTS = late(r"\btests?\b|Tests?\b|\btest_")
_FIX = late(r"fix(?:e[sd])?\b", re.IGNORECASE)
_CHANGE = late(
    r"(?:this (?:\w+ )?(?:commit|change|patch|pr|work|fix|also|ensures|makes|adds|removes|allows)|(?:also )?(?:didn't|doesn't|did not|does not|ideally|mainly|accidentally|missed in|to be able|by \w+ing|add|remov|replac|updat|fix|chang|mak|made|us|address|mov|refactor|renam|extend|defer|ensur|introduc|set|now|regression|missed|thanks|instead of|rather than|just like|the (?:decorator|fix|patch|change) )\w*\b)|.{0,200}\bshould\b|.{0,80}\b(?:was|were|has been|have been) (?:made|replaced|rewritten|adjusted|updated|added|changed|removed|moved|renamed|refactored|extended|introduced|reported|found|discovered|surfaced)\b",
    re.IGNORECASE,
)
"""How a fix tells what it did."""
_SET = late(
    r"\bdefault\b.{0,40}(?:\b(?:is|are|of|to)\b|:).{0,20}(?:\d|`|true|false|on\b|off\b)",
    re.IGNORECASE,
)
_CLARIFIED = late(
    r"(?:clarif|document|doc'd|mention|call(?:ed)? out|not(?:e|ed) that|test)\w*\b", re.IGNORECASE
)
_ACRONYM = late(
    r"\b[A-Z]{2,}\b|\b[a-z]+-[a-z]+-\d\b|\b(?:staging|production)\b|\bevery (?:\w+ )?(?:second|minute|hour|day|night|week|month|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
)
_PERSONAL = late(
    r"\b(?:i|i'm|i've|i'll|my|me|you|your|we're|should|would|could|might|maybe|probably|think|guess|looks? like|seems?|now|just|currently|here|this|these|that|it|ich|je)\b",
    re.IGNORECASE,
)


_REPORT = late(
    r"\b(?:was|were|fine|ok|okay|refused|failed|failing|works?|working|passes|passed|done|ready|green|merged|supported|implemented|in place|is in|are in)\b",
    re.IGNORECASE,
)
"""How somebody tells how far the work is."""


def blamed(_: Message, statement: Statement) -> Finding | None:
    """Find what somebody names as the cause of something that went wrong."""
    return found("fact", statement, (4, 4)) if phrases.CAUSED.search(statement.text) else None


def caused(message: Message, statement: Statement) -> Finding | None:
    """Find the cause in a fix that tells what was wrong without naming it a cause."""
    text = statement.text
    is_fix = message.kind in ("fix", "security", "performance") or (
        message.kind not in ("docs", "tests") and _FIX.match(message.headline)
    )
    is_prose = statement.place == "body" and not statement.is_item and len(text) >= _SHORT
    if not is_fix or not is_prose:
        return None
    is_told = phrases.BECAUSE.search(text) or _is_fault(message, statement)
    return found("fact", statement, (3, 3)) if is_told else None


def _is_fault(message: Message, statement: Statement) -> bool:
    """Tell whether the first paragraph of a fix speaks of the fault, and not of the change."""
    if statement.block != 0 or _TESTS.search(message.headline):
        return False
    is_first = statement.position == 0 and _PAST.match(statement.text)
    return bool((_FAULT.search(statement.text) or is_first) and not _CHANGE.match(statement.text))


def measured(message: Message, statement: Statement) -> Finding | None:
    """Find measured figures."""
    if message.is_capture and _NOW.match(statement.text):
        return None
    text = statement.text
    if (
        wording.size(text) >= _LEAST
        and _DIGIT.search(text)
        and _MEASURED.search(text)
        and _FIGURE.search(text)
    ):
        return found("fact", statement, (3, 4))
    return None


def defaulted(message: Message, statement: Statement) -> Finding | None:
    """Find defaults that are other than before."""
    if message.kind in ("docs", "tests") or not _DEFAULT.search(statement.text):
        return None
    if statement.is_item or _CLARIFIED.match(statement.text):
        return None
    is_news = message.is_capture or _NEWS.search(statement.text) or _SET.search(statement.text)
    return found("fact", statement, (3, 4)) if is_news else None


def introduced(message: Message, statement: Statement) -> Finding | None:
    """Find names that a feature gives its users: options, variables, endpoints, commands."""
    if message.kind in ("docs", "tests", "upkeep") or statement.place == "capture":
        return None
    if not _INTRODUCED.match(statement.text) or not names.has_code(
        f"{message.headline} {statement.text}"
    ):
        return None
    is_told = any(not one.is_item for one in message.statements)
    return found("fact", statement, (3, 3)) if is_told else None


def shown(message: Message, statement: Statement) -> Finding | None:
    """Find how something is done."""
    if statement.place == "subject" or not _HOW.match(statement.text):
        return None
    if not message.is_capture and (statement.is_item or _USED.match(statement.text)):
        return None
    is_shown = names.has_code(statement.text) or _COMMAND.search(statement.text)
    return found("skill", statement, (3, 4)) if is_shown else None


def stated(message: Message, statement: Statement) -> Finding | None:
    """Find what somebody wrote down of the project outside any commit: a claim about a thing with a name."""
    text = statement.text
    if not message.is_capture or _PERSONAL.search(text) or not _STATE.search(text):
        return None
    if message.event.agent_id is not None or _REPORT.search(text):
        return None
    is_named = names.has_code(text) or _ACRONYM.search(text)
    return found("fact", statement, (3, 3)) if is_named else None
