"""Merging: what a session's events say twice, take back or finish is put together once."""

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec
from msgspec import Struct

from protocol.events import Event
from sidecar.memory.extract.findings import Finding
from sidecar.memory.extract.works import Work
from sidecar.text import patterns
from sidecar.text.patterns import late, table
from sidecar.text.statements import Statement

_WORD = late(r"[^\W_]{2,}")
_HAN = late(r"[\u3040-\u30ff\u3400-\u9fff]")
_STOP = patterns.words(
    "the an of to in on for with and or is are be by it its this that from as at not we will was were use used uses using instead because todo fixme next der die das und ein eine le la les de des du el los las un une una que"
)
_ENDING = late(r"(?<=\w{3})(?:ation|ing|ed|es|s|e)$")
_AGAINST = late(
    r"\b(?:drop(?:s|ped|ping)?|instead of|rather than|no longer|scratch|forget|abandon\w*|against|not|without|statt|anstatt|au lieu d\w*|plutôt que|en (?:lugar|vez) de|em vez d\w*)\b(?P<rest>.{0,50})",
    re.IGNORECASE,
)
_PROPER = late(r"(?<=[\s(`\"'/])[A-Z][\w-]+|(?<=`)[\w-]+(?=`)")
_DOING = patterns.words(
    "wir up yet still add writ implement miss hook connect built build finish don done ready exist there"
)
"""Words of a task that tell only that it is one, without their endings."""
_SAME = 0.7
_KNOWN = 1_000
_DONE = 0.6
_ENDED = table(
    (
        " longer|add|adicion|ajout|behoben|close|complet|corrig|document|done|enabl|erledigt|finish|fix|handl|hinzu|implement|make|migrat|port|remov|replac|resolv|test|updat|writ|wrote",
        r"\b(?:add(?:s|ed)?|implement\w*|fix(?:e[sd])?|done|finish\w*|complet\w+|resolv\w+|clos(?:e[sd]?)|remov\w+|support\w*|handl\w+|writ\w+|wrote|document\w*|migrat\w+|updat\w+|replac\w+|port\w*|make[sd]?|enabl\w+|no longer|test\w*|erledigt|behoben|hinzu\w*|ajout\w*|corrig\w*|implementa\w*|añad\w*|adicion\w*)\b|完成|实现|修复|添加|追加|対応|実装",
    ),
)


class Found(Struct, frozen=True, kw_only=True):
    """All that was found in one event."""

    event: Event
    findings: tuple[Finding, ...] = ()
    work: Work | None = None
    said: tuple[Statement, ...] = ()
    """What may tell that a task is done."""
    ended: tuple[str, ...] = ()
    """Tasks whose lines the commit took out."""


class Kept(Struct, frozen=True, kw_only=True):
    """A finding with the event that shows it best, and others that show it too."""

    finding: Finding
    event: Event
    more: tuple[tuple[Finding, Event], ...] = ()


def standing(session: Sequence[Found]) -> tuple[Found, ...]:
    """Leave out commits that were dropped or written anew, in the order in which things happened."""
    replaced = {sha for one in session if one.event.commit for sha in one.event.commit.replaces}
    kept = [
        one
        for one in session
        if one.event.commit is None
        or not (one.event.commit.dropped or one.event.commit.sha in replaced)
    ]
    return tuple(sorted(kept, key=lambda one: (one.event.occurred_at, one.event.event_id)))


def undone(session: Sequence[Found]) -> frozenset[str]:
    """Name the events whose commits were taken back within the session, and the reverts taken back."""
    gone: set[str] = set()
    for at in reversed(range(len(session))):
        if session[at].event.event_id not in gone:
            gone |= {earlier.event.event_id for earlier in taken_back(session[at], session[:at])}
    return frozenset(gone)


def taken_back(one: Found, earlier: Sequence[Found]) -> list[Found]:
    """List the earlier commits that a commit takes back."""
    reverts = [name for finding in one.findings for name in finding.reverts]
    if not reverts:
        return []
    return [other for other in earlier if any(_is_named(other, name) for name in reverts)]


def merged(session: Sequence[Found]) -> tuple[Kept, ...]:
    """Put findings together: each once, without those that were taken back or finished since."""
    gone = undone(session)
    kept: list[Kept] = []
    for at, one in enumerate(session):
        if one.event.event_id in gone:
            continue
        later = session[at + 1 :]
        for finding in one.findings:
            told = _with_reason(finding, session[:at], later)
            if told and not _is_over(told, later):
                _add(kept, told, one.event)
    return tuple(kept)


def _with_reason(
    finding: Finding, earlier: Sequence[Found], later: Sequence[Found]
) -> Finding | None:
    """Give a revert the reason told with what it reverts, or since; a trial without a word is none."""
    if not finding.reverts or finding.rationale:
        return finding
    trials = [one for one in earlier if any(_is_named(one, name) for name in finding.reverts)]
    if not trials:
        return finding
    why = next((one.work.detail for one in trials if one.work and one.work.detail), None)
    why = why or _lesson(trials[0], later)
    if why is None:
        return None
    return msgspec.structs.replace(finding, rationale=why, content=f"{finding.title}: {why}")


def _lesson(trial: Found, later: Sequence[Found]) -> str | None:
    """Find what the next commit to the same file says of what was tried."""
    if trial.work is None:
        return None
    paths = {change.path for change in trial.event.files}
    tried = words(trial.work.headline)
    told = [
        one.work.detail
        for one in later
        if one.work and paths & {change.path for change in one.event.files}
    ]
    return next((why for why in told if tried & words(why)), None)


def _is_over(finding: Finding, later: Sequence[Found]) -> bool:
    """Tell whether what came later finished a task or went another way than was decided."""
    if finding.type == "task":
        return is_finished(finding, later)
    return finding.type == "decision" and is_retracted(finding, later)


def is_retracted(decision: Finding, later: Sequence[Found]) -> bool:
    """Tell whether something decided later speaks against what was decided."""
    claim = _AGAINST.pattern.split(decision.title, maxsplit=1)[0]
    wanted = {name.casefold() for name in _PROPER.findall(claim[1:])}
    told = [
        finding.content
        for one in later
        for finding in one.findings
        if finding.type in ("decision", "correction")
    ]
    return bool(wanted) and any(
        wanted & set(_WORD.findall(mark["rest"].casefold()))
        for text in told
        for mark in _AGAINST.finditer(text)
    )


def is_finished(task: Finding, later: Sequence[Found]) -> bool:
    """Tell whether what came later did what was left to do."""
    wanted = words(task.title)
    named = wanted - _DOING
    for one in later:
        if named and named <= words(_touched(one)):
            return True
        if any(_alike(wanted, words(line)) >= _SAME for line in one.ended):
            return True
        for said in one.said:
            is_done = said.is_done or _ENDED.search(said.text)
            if is_done and wanted and len(wanted & words(said.text)) >= _DONE * len(wanted):
                return not any(
                    finding.quote == said.quote and finding.type == "task"
                    for finding in one.findings
                )
    return False


def _touched(found: Found) -> str:
    """Name what a commit is about: its headline, and the files that it brought."""
    if found.work is None:
        return ""
    new = [change.path for change in found.event.files if change.status == "added"]
    return " ".join([found.work.headline, *new]).replace("_", " ")


@lru_cache(maxsize=_KNOWN)
def words(text: str) -> frozenset[str]:
    """Give the words that carry a text's meaning, roughly without their endings."""
    folded = text.casefold()
    found = _WORD.findall(_HAN.sub(" ", folded))
    plain = {_ENDING.sub("", word) for word in found if word not in _STOP}
    letters = "".join(_HAN.findall(folded))
    return frozenset(plain | {letters[at : at + 2] for at in range(len(letters) - 1)})


def _add(kept: list[Kept], finding: Finding, event: Event) -> None:
    mine = words(finding.title)
    for at, other in enumerate(kept):
        theirs = words(other.finding.title)
        is_other = "correction" in (finding.type, other.finding.type) and (
            finding.type != other.finding.type
        )
        is_same = finding.quote == other.finding.quote or _alike(mine, theirs) >= _SAME
        if is_same and not is_other:
            kept[at] = _joined(other, finding, event)
            return
    kept.append(Kept(finding=finding, event=event))


def _joined(kept: Kept, finding: Finding, event: Event) -> Kept:
    """Keep the better of two findings, and both their words as evidence."""
    if rank(finding) > rank(kept.finding):
        return Kept(finding=finding, event=event, more=(*kept.more, (kept.finding, kept.event)))
    return msgspec.structs.replace(kept, more=(*kept.more, (finding, event)))


def rank(finding: Finding) -> tuple[int, int, bool, int]:
    """Order findings by what they are worth."""
    return (
        finding.importance,
        finding.confidence,
        finding.rationale is not None,
        len(finding.content),
    )


def _alike(mine: frozenset[str], theirs: frozenset[str]) -> float:
    return len(mine & theirs) / max(1, len(mine | theirs))


def _is_named(found: Found, name: str) -> bool:
    commit = found.event.commit
    if commit is None:
        return False
    headline = found.work.headline if found.work else ""
    known = {_bare(commit.subject), _bare(headline)} - {""}
    return commit.sha.startswith(name) or _bare(name) in known


def _bare(subject: str) -> str:
    return subject.strip(" .\"'“”").casefold()
