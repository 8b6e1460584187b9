"""What commit messages may propose: obligations with a reason, decisions in the title, replaced dependencies.

No rule over commit messages is right often enough to state something (54 to 59 % on unseen repositories), so all of
this waits for review.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from protocol.events import Commit, Event
from protocol.memories import Condition, MemoryType, RuleName
from sidecar.memory.extract import noise
from sidecar.memory.rules.drafts import FileDiff
from sidecar.text import statements, wording
from sidecar.text.patterns import late

_REASON = late(
    r"\b(?:because|since (?!v?\d)|so that|otherwise|to avoid|to prevent|due to|in order to|given that"
    r"|as (?:it|they|this|that|there|we|otherwise)\b)",
    re.IGNORECASE,
)
_OBLIGATION = late(
    r"\b(?:must(?: not| never)?|mustn't|shall(?: not)?|should (?:not|never|always)|shouldn't|never|has to|have to"
    r"|needs to|may not|cannot|can't)\b",
    re.IGNORECASE,
)
_DECISION = late(
    r"\b(?:instead of|rather than|in favou?r of|switch(?:es|ed)? (?:\w+ )?(?:to|from)|replaces? .+ (?:with|by)\b"
    r"|migrates? (?:\w+ )?(?:to|from)|drop(?:s|ped)? support|stop (?:using|supporting|relying)|no longer|by default\b"
    r"|requires? |disallow|forbid|refuse|reject|never |always |only |prefer )",
    re.IGNORECASE,
)
_OPENING = late(
    r"(?:this|these|those|that|it|its|they|but|when|if|however|also|and|so|then|here|for example|note|see|thanks|while|after|before|as|since|because|to)\b",
    re.IGNORECASE,
)
_DATED = late(
    r"\b(?:was|were|had|did|didn't|wasn't|weren't|used to|previously|formerly|currently|at the moment|for now|yet|bugs?|regression"
    r"|(?:this|the|next|previous|last|earlier) (?:patch|commit|change|pr|pull request|series|fix)|pr|patch|commit|i|i'm|i've|my|me"
    r"|fix(?:es|ed)?|fail(?:s|ed|ing)?|broke|broken|crash\w*|tests?|hopefully|probably|maybe|perhaps|think|seems?|todo)\b",
    re.IGNORECASE,
)
_NUMBER = late(r"\s*\((?:#|GH-|gh-)\d+\)\s*$")
_TESTING = late(r"\b(?:tests?|testing|ci|docs?|readme|typos?|changelog)\b", re.IGNORECASE)
_FILES = 200
_PARTS = 3
"""Sentences below the title among which its reason is looked for."""
_SHORT, _LONG = 40, 320
_NAME = late(
    r"`([A-Za-z_][\w.]{2,60})(?:\(\))?`|\b([a-z]+_[a-z_0-9]+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[a-z]+[A-Z]\w+)\b"
)
_MANIFEST = late(
    r"(?:^|/)(?:pyproject\.toml|setup\.(?:py|cfg)|requirements[\w./-]*\.(?:txt|in)|package\.json|Cargo\.toml|go\.mod|Gemfile|composer\.json|pom\.xml|build\.gradle(?:\.kts)?|mix\.exs)$"
)
_REPLACED = late(
    r"(?:replaces?|replaced|swap(?:s|ped)?) (?:the )?`?(?P<old>[\w.@/-]+)`?(?: \w+)? (?:with|by|for) `?(?P<new>[\w.@/-]+)"
    r"|(?:switch(?:es|ed)?|migrat(?:e|es|ed)|mov(?:e|es|ed)) from `?(?P<old2>[\w.@/-]+)`? to `?(?P<new2>[\w.@/-]+)"
    r"|\b`?(?P<new3>[\w.@/-]+)`? (?:instead of|rather than|in favou?r of) `?(?P<old3>[\w.@/-]+)",
    re.IGNORECASE,
)


class Claim(Struct, frozen=True, kw_only=True):
    """Something that a commit says and a person may agree to."""

    rule: RuleName
    type: MemoryType
    title: str
    content: str
    quote: str
    reason: str | None = None
    names: tuple[str, ...] = ()
    """Names of code that must still be there."""
    holds: tuple[Condition, ...] = ()


def is_silent(commit: Commit) -> bool:
    """Return whether nothing is to be read of a commit: it was dropped, merges others, or a program wrote it."""
    return (
        commit.dropped or noise.is_machine(commit) or (noise.is_merge(commit) and not commit.body)
    )


def wants_diff(event: Event) -> bool:
    """Return whether a commit may replace a dependency, which only its changes can prove."""
    commit = event.commit
    return (
        commit is not None
        and any(_MANIFEST.search(file.path) for file in event.files[:_FILES])
        and _REPLACED.search(commit.subject) is not None
    )


def read(commit: Commit, diffs: tuple[FileDiff, ...] = ()) -> list[Claim]:
    """Return what a commit message may propose, the best first."""
    if is_silent(commit):
        return []
    title = headline(commit)
    said = sentences(commit)
    claims = [*_replaced(commit, title, said, diffs)] or [*_decided(commit, title, said)]
    return [*claims, *_obliged(title, said)]


def headline(commit: Commit) -> str:
    """Return the subject without the number of its pull request."""
    return _NUMBER.sub("", statements.clean(commit.subject)).rstrip(" .")


def sentences(commit: Commit) -> list[str]:
    """Return the whole sentences of a message's body, in their order; lists are of commits that were squashed."""
    said = statements.read(commit.body, "body")
    return [one.text for one in said if not one.is_item and _is_whole(one.text)]


def reason(commit: Commit) -> str | None:
    """Return the first sentence of the body that says why, or None."""
    return next((one for one in sentences(commit)[:_PARTS] if _REASON.search(one)), None)


def _obliged(title: str, said: list[str]) -> Iterator[Claim]:
    if _TESTING.search(title):
        return
    for text in said:
        if not (_OBLIGATION.search(text) and _REASON.search(text)) or _is_passing(text):
            continue
        claim, why = wording.split(text)
        if not _OBLIGATION.search(claim):
            continue
        yield Claim(
            rule="obligation",
            type="constraint",
            title=wording.title(claim),
            content=f"{title}: {text}",
            quote=text,
            reason=why,
            names=_names(text),
        )


def _decided(commit: Commit, title: str, said: list[str]) -> Iterator[Claim]:
    claim, own = wording.split(title)
    early = (one for one in said[:_PARTS] if _REASON.search(one) and not _DATED.search(one))
    why = None if own else next(early, None)
    is_telling = _DECISION.search(claim) and not _DATED.search(title)
    if (own or why) is None or not is_telling:
        return
    if noise.is_upkeep(title) or _TESTING.search(title):
        return
    yield Claim(
        rule="decision",
        type="decision",
        title=wording.title(claim),
        content=f"{wording.sentence(title)} {why}" if why else title,
        quote=statements.clean(commit.subject),
        reason=own or (wording.split(why)[1] if why else None) or why,
        names=_names(f"{title} {why or ''}"),
    )


def _replaced(
    commit: Commit, title: str, said: list[str], diffs: tuple[FileDiff, ...]
) -> Iterator[Claim]:
    found = _REPLACED.search(title)
    if found is None:
        return
    parts = found.groupdict()
    old = next(filter(None, (parts["old"], parts["old2"], parts["old3"])), "").lower()
    new = next(filter(None, (parts["new"], parts["new2"], parts["new3"])), "").lower()
    for diff in diffs:
        is_proven = names_dependency(diff.removed, old) and names_dependency(diff.added, new)
        if not _MANIFEST.search(diff.path) or not is_proven:
            continue
        why = next((one for one in said[:_PARTS] if _REASON.search(one)), None)
        yield Claim(
            rule="dependency",
            type="decision",
            title=wording.clipped(title, wording.TITLE),
            content=f"{wording.sentence(title)} {why}" if why else title,
            quote=statements.clean(commit.subject),
            reason=why,
            holds=(
                Condition(kind="dependency", path=diff.path, text=new),
                Condition(kind="no-dependency", path=diff.path, text=old),
            ),
        )
        return


def names_dependency(lines: tuple[str, ...] | list[str], name: str) -> bool:
    """Return whether a manifest's lines name a dependency."""
    wanted = re.compile(rf"\s*[-\"'\[(]*{re.escape(name.replace('_', '-'))}(?![\w-])")
    return any(wanted.match(line.lower().replace("_", "-")) for line in lines)


def _is_passing(text: str) -> bool:
    return bool(_OPENING.match(text) or _DATED.search(text) or noise.is_hedged(text))


def _is_whole(text: str) -> bool:
    is_balanced = all(text.count(left) == text.count(right) for left, right in ("()", "[]", "{}"))
    return (
        _SHORT <= len(text) <= _LONG
        and is_balanced
        and text.count("`") % 2 == 0
        and not text.endswith((":", ",", ";"))
        and not noise.is_question(text)
        and not noise.is_cut(text)
    )


def _names(text: str) -> tuple[str, ...]:
    found = (one or other for one, other in _NAME.findall(text))
    return tuple(dict.fromkeys(name.rpartition(".")[2] for name in found if name))
