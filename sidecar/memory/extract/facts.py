"""Facts and skills: what was named as a cause, and how things are done."""

import re

from sidecar.memory.extract import phrases
from sidecar.memory.extract.findings import Finding, found
from sidecar.memory.extract.messages import Message
from sidecar.text import statements
from sidecar.text.patterns import late, table
from sidecar.text.statements import Statement

# ruff: noqa: RUF001 - other scripts have letters that look like ours


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


def blamed(_: Message, statement: Statement) -> Finding | None:
    """Find what somebody names as the cause of something that went wrong."""
    return found("fact", statement, (4, 4)) if phrases.CAUSED.search(statement.text) else None


def shown(message: Message, statement: Statement) -> Finding | None:
    """Find how something is done."""
    if statement.place == "subject" or not _HOW.match(statement.text):
        return None
    if not message.is_capture and (statement.is_item or _USED.match(statement.text)):
        return None
    is_shown = statements.has_code(statement.text) or _COMMAND.search(statement.text)
    return found("skill", statement, (3, 4)) if is_shown else None
