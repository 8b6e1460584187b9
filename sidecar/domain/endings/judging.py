"""Judging: which commit seems to have done a task that nobody can check.

A suggestion that is wrong costs more than one that is missing: whoever reads it has to look. So a commit has to say
nearly all that a task asks for, in the same sense, and nothing by which it is about a part, a place or a beginning of
it. How well that works is measured on pairs that people have labelled (`benchmarks/suggesting.py`).
"""

import functools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from protocol.tasks import Task
from sidecar.domain.conditions import Change, told
from sidecar.domain.endings import claims, signs
from sidecar.domain.endings.claims import Claim, Term
from sidecar.domain.enrichment.patterns import Late
from sidecar.domain.recall import words

_READ = 2_000
"""Letters of a text that are read."""
_FEWEST, _MANY = 2, 4
"""Words without which a title says too little, and with which one of them may be left unsaid."""
_EXTRAS = 2
"""Words that a commit may have beyond those of a task."""
_REVERTED = re.compile(r"\W*revert(?:s|ed)?\W+(.+?)\W*$", re.IGNORECASE)
_REVERTED_SHA = re.compile(r"\breverts commit ([0-9a-f]{7,40})", re.IGNORECASE)
_REFERENCE = re.compile(
    r"(?<!refs )(?<!ref )(?<!see )(?<!after )(?<! of )(?<! to )(?:#|\bGH-|\b[A-Z][A-Z0-9]+-)\d+\b",
    re.IGNORECASE,
)
_CLOSED = re.compile(
    r"(?<!not )(?<!n't )\b(?:fix(?:es|ed)|clos(?:e|es|ed)|resolv(?:e|es|ed)|complet(?:e|es|ed)|fix(?= #))"
    r":?\s+(?:issue |task )?((?:#|GH-)\d+|[0-9A-HJKMNP-TV-Z]{26}|[A-Z][A-Z0-9]+-\d+(?=\W*(?:$|\n|and |[,;.)])))\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n{2,}|\n(?=\s*[-*•])")
_ITEM = re.compile(r"^\s*[-*•]\s+(.+)$", re.MULTILINE)
_BEGINNING = re.compile(r"[^\W_]{3}")
_TESTED = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__)/|(?:^|/)test_|[._-](?:test|spec)s?\.|Tests?\.\w+$"
)
_DESCRIBED = re.compile(r"\.(?:md|rst|txt|adoc)$|(?:^|/)docs?/", re.IGNORECASE)


def likely_end(task: Task, commits: Iterable[Change]) -> str | None:
    """Find a commit, of these with the newest first, that seems to have done a task and was not taken back."""
    taken_back: set[str] = set()
    for commit in commits:
        if is_done_by(task, commit) and not _is_taken_back(commit, taken_back):
            return told(commit)
        taken_back.update(_takes_back(commit.message[:_READ]))
    return None


def is_done_by(task: Task, commit: Change) -> bool:
    """Tell whether a commit says that it does what a task asks for."""
    title, message = task.title[:_READ], commit.message[:_READ]
    if _closes(message, title, task.task_id):
        return True
    if _closes_another(message, title):
        return False
    return _may_say(message, title) and _is_done(
        (title, task.description[:_READ]), message, commit.paths
    )


def _takes_back(message: str) -> Iterator[str]:
    """Name what a commit takes back, by the subject and by the beginning of the id."""
    if "revert" in message.lower():
        yield from _REVERTED.findall(message.partition("\n")[0])
        yield from (sha[:7] for sha in _REVERTED_SHA.findall(message))


def _is_taken_back(commit: Change, taken_back: Collection[str]) -> bool:
    return commit.sha[:7] in taken_back or commit.message.partition("\n")[0] in taken_back


def _closes(message: str, title: str, task_id: str) -> bool:
    """Tell whether a commit closes the very number that a title names, or the task by its id."""
    if not _CLOSED.search(message) or _holds(signs.UNDOING, message.partition("\n")[0], title):
        return False
    closed = {_number(one) for one in _CLOSED.findall(message)}
    return any(_number(one) in closed for one in (task_id, *_REFERENCE.findall(title)))


def _closes_another(message: str, title: str) -> bool:
    """Tell whether a title names a number, and a commit's subject another one."""
    named = {_number(one) for one in _REFERENCE.findall(_opening(title))}
    said = {_number(one) for one in _REFERENCE.findall(_opening(message))}
    return bool(named and said) and named.isdisjoint(said)


def _opening(text: str) -> str:
    """Give the part of a text's first line where the number of an issue stands, and not that of a request."""
    return re.sub(r"\(#\d+\)\s*$", "", text.partition("\n")[0])[:40]


def _number(reference: str) -> str:
    return reference.upper().replace("GH-", "#")


def _may_say(message: str, title: str) -> bool:
    """Tell, without looking closely at any word, whether a message has the beginnings of half of a title's words."""
    wanted = _beginnings(title)
    return 2 * len(wanted & _beginnings(message)) >= len(wanted)


@functools.lru_cache(maxsize=4096)
def _beginnings(text: str) -> frozenset[str]:
    return frozenset(_BEGINNING.findall(words.unaccent(text).lower()))


@functools.lru_cache(maxsize=8192)
def _is_done(asked: tuple[str, str], message: str, paths: tuple[str, ...]) -> bool:
    subject, _, body = message.partition("\n")
    title = asked[0]
    if any(_holds(sign, subject, title) for sign in (signs.UNFINISHED, signs.UNDOING)):
        return False
    if _holds(signs.NOTHING_DONE, body, title) or subject.rstrip().endswith("?"):
        return False
    wanted, said = claims.read(title), claims.read(subject)
    if len(wanted.terms) < _FEWEST:
        return False
    if _agrees(wanted, said, paths) and _is_said(asked, said, (_told(body, title), paths)):
        return True
    return any(_is_named(wanted, claims.read(item)) for item in _items(body, title))


def _holds(sign: Late, text: str, title: str) -> bool:
    """Tell whether a text has a sign that the task itself does not have."""
    expected = words.unaccent(title).lower()
    return any(one.group().lower() not in expected for one in sign.finditer(words.unaccent(text)))


def _agrees(wanted: Claim, said: Claim, paths: tuple[str, ...]) -> bool:
    """Tell whether a line is about the same kind of work, in the same direction, with the same numbers."""
    is_same_lead = wanted.lead == said.lead
    return (
        wanted.says(signs.REMOVING) == said.says(signs.REMOVING)
        and wanted.says(signs.DEPRECATING) == said.says(signs.DEPRECATING)
        and wanted.leads_with(signs.UPGRADING) == said.leads_with(signs.UPGRADING)
        and wanted.leads_with(signs.IMPROVING) == said.leads_with(signs.IMPROVING)
        and wanted.leads_with(signs.RENAMING) == said.leads_with(signs.RENAMING)
        and wanted.leads_with(signs.MEASURING) == said.leads_with(signs.MEASURING)
        and (is_same_lead or wanted.leads_with(signs.TIDYING) or not said.leads_with(signs.TIDYING))
        and not (wanted.leads_with(signs.MAKING) and said.leads_with(signs.USING))
        and _is_negated(wanted) >= _is_negated(said)
        and wanted.says(signs.TESTING) == _is_of(said, signs.TESTING, (paths, _TESTED))
        and wanted.says(signs.DOCUMENTING) == _is_of(said, signs.DOCUMENTING, (paths, _DESCRIBED))
        and wanted.turns.isdisjoint((new, old) for old, new in said.turns)
    )


def _is_negated(claim: Claim) -> bool:
    return claim.says(signs.NEGATING) or claim.says(signs.FIXING)


def _is_of(said: Claim, sign: Late, place: tuple[tuple[str, ...], re.Pattern[str]]) -> bool:
    """Tell whether a commit is all about tests, or documents: it says so, or touches nothing else."""
    paths, where = place
    text = signs.WITH_TESTS.sub("", f"{said.type}: {said.text}")
    return bool(sign.search(text)) or (bool(paths) and all(map(where.search, paths)))


def _is_said(asked: tuple[str, str], said: Claim, around: tuple[Claim, tuple[str, ...]]) -> bool:
    """Tell whether a commit says what is asked, and no more than that."""
    wanted, known, (body, paths) = claims.read(asked[0]), claims.join(asked), around
    more, is_confined = claims.extras(said, known)
    if is_confined or more > _EXTRAS or (more and _is_mended(wanted, said)):
        return False
    if not (wanted.numbers <= said.numbers | body.numbers and said.numbers <= known.numbers):
        return False
    unsaid = [term for term in wanted.terms if not said.has(term)]
    if len(wanted.terms) == _FEWEST:
        return not unsaid and more < _EXTRAS
    if _is_another(wanted, unsaid, more) or (more and _does_another(wanted, unsaid, body)):
        return False
    where = claims.join(() if more else paths)
    missing = [term for term in unsaid if not body.has(term) and not where.has(term)]
    return not missing or (not more and _is_terse(wanted, said, missing))


def _is_mended(wanted: Claim, said: Claim) -> bool:
    """Tell whether something is mended that is asked for anew: it was there before."""
    return said.leads_with(signs.FIXING) and not wanted.says(signs.FIXING)


def _is_another(wanted: Claim, unsaid: Sequence[Term], more: int) -> bool:
    """Tell whether a line speaks of something else in place of what is asked."""
    things = [term for term in unsaid if term is not wanted.terms[0]]
    return 2 * len(unsaid) > len(wanted.terms) or (more > 1 and bool(things))


def _does_another(wanted: Claim, unsaid: Sequence[Term], body: Claim) -> bool:
    """Tell whether a line does something else with what is asked, and its body does not begin with the same word."""
    return wanted.terms[0] in unsaid and body.lead != wanted.lead


def _is_terse(wanted: Claim, said: Claim, missing: Sequence[Term]) -> bool:
    """Tell whether a line only leaves out one word of many."""
    is_little = len(missing) == 1 and len(wanted.terms) >= _MANY
    return is_little and not claims.has_foreign_scope(said, wanted)


def _is_named(wanted: Claim, said: Claim) -> bool:
    """Tell whether one item of a list is just what is asked."""
    more, is_confined = claims.extras(said, wanted)
    is_whole = len(wanted.terms) > _FEWEST and all(map(said.has, wanted.terms))
    is_whole &= wanted.numbers == said.numbers
    return is_whole and not is_confined and more < _EXTRAS and _agrees(wanted, said, ())


def _items(body: str, title: str) -> list[str]:
    """List the items of a body, if it leaves nothing open."""
    return [] if _holds(signs.LEFT_OPEN, body, title) else _ITEM.findall(body)


def _told(body: str, title: str) -> Claim:
    """Read the sentences of a body that tell what is done."""
    sentences = (one for one in _SENTENCE.split(body) if not _holds(signs.LEFT_OPEN, one, title))
    return claims.join(sentences)
