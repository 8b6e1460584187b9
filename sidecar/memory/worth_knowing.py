"""The best that is known of a project, for somebody who is new to it."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct

from protocol.events import Commit
from protocol.memories import Memory
from protocol.review import WorthItem, WorthKnowing, WorthKnowingParams
from sidecar.memory import code_notes
from sidecar.memory.code_notes import CodeNote
from sidecar.memory.codebases import Code
from sidecar.memory.extract import commits
from sidecar.privacy import cleaning
from sidecar.search.rules.standing import REFUSED
from sidecar.storage.vault import Vault
from sidecar.text import wording
from sidecar.text.patterns import late

_SESSIONS = 2_000
"""Sessions whose commits are looked at, the latest."""
_TELLING, _SHOWN = 90, 320
_SAME = 0.6
"""Share of words that two texts have in common which say the same."""
_OF_FILE = 2
"""Notes of one file."""
_ROOM = {"memory": 10, "guideline": 2, "note": 6, "commit": 4}
"""How many of each kind at first; what others leave is shared out."""
_BASE = {"deliberate-comment": 6.0, "comment": 1.5, "guideline": 2.0}
_BECAUSE = late(
    r"\bbecause\b|\bsince\b|\bso that\b|\botherwise\b|\bto avoid\b|\bto prevent\b", re.IGNORECASE
)
_CONTRAST = late(
    r"\b(?:not|never|don't|must|cannot|can't|instead|rather|unlike|only|even (?:if|though)|workaround|breaks?|deadlock|race)\b",
    re.IGNORECASE,
)
_SMALL = late(
    r"^(?:we|this|it|the following|in this case|note that we|if|when|here|therefore|thus|hence|however|also|in addition|and|but|so|then|otherwise)\b|\b(?:this function|this method|this test|this file|this is)\b",
    re.IGNORECASE,
)


class _Candidate(Struct, frozen=True):
    score: float
    worth: WorthItem


def find(vault: Vault, code: Code | None, params: WorthKnowingParams) -> WorthKnowing:
    """Return the best of memories, notes in code, rules of guides and reasoned commits."""
    memories = vault.memories.all()
    found = [*_remembered(memories)]
    if code is not None:
        unwanted = {one.idempotency_key for one in memories if _is_unwanted(one)}
        with code.held():
            found += _noted(code, unwanted)
            found += _committed(vault, code)
    return WorthKnowing(items=tuple(_chosen(found, params.limit)))


def _is_unwanted(memory: Memory) -> bool:
    is_rejected = memory.review is not None and memory.review.verdict == "rejected"
    return memory.status == "forgotten" or is_rejected or memory.feedback <= REFUSED


def _chosen(found: Sequence[_Candidate], limit: int) -> list[WorthItem]:
    """Choose by score, so that no kind and no file crowds out the others."""
    ranked = sorted(found, key=lambda one: (-one.score, one.worth.source))
    counts: Counter[str] = Counter()
    files: Counter[str] = Counter()
    first: list[_Candidate] = []
    spare: list[_Candidate] = []
    said: list[set[str]] = []
    for one in ranked:
        place = one.worth.path or one.worth.commit or one.worth.source
        words = set(one.worth.text.casefold().split())
        is_said = any(len(words & known) >= _SAME * len(words | known) for known in said)
        if files[place] >= _OF_FILE or is_said:
            continue
        said.append(words)
        files[place] += 1
        is_room = counts[one.worth.kind] < _ROOM[one.worth.kind]
        counts[one.worth.kind] += is_room
        (first if is_room else spare).append(one)
    chosen = (first + spare)[:limit] if len(first) < limit else first[:limit]
    return [one.worth for one in sorted(chosen, key=lambda one: -one.score)]


def _remembered(memories: Iterable[Memory]) -> Iterator[_Candidate]:
    for memory in memories:
        is_told = memory.status == "active" and memory.feedback > REFUSED
        if not is_told or memory.type in {"episodic", "task"} or memory.verdict == "gone":
            continue
        # What stands in the code is quoted from there, with its line.
        if memory.rule != "deliberate-comment":
            score = 5.0 + memory.importance / 2 + memory.confidence / 5 + 3 * memory.pinned
            yield _Candidate(score, _of_memory(cleaning.clean_memory(memory)))


def _of_memory(memory: Memory) -> WorthItem:
    return WorthItem(
        kind="memory",
        text=wording.clipped(memory.content, _SHOWN),
        source=f"{_origin(memory)}, {memory.occurred_at:%Y-%m-%d}",
        memory_id=memory.memory_id,
        at=memory.occurred_at,
    )


def _origin(memory: Memory) -> str:
    if memory.rule == "lasting-words":
        return "said by the user"
    sha = next((evidence.commit_sha for evidence in memory.evidence if evidence.commit_sha), None)
    if memory.job_id is not None and sha:
        return f"from commit {sha[:10]}"
    return f"remembered by {memory.agent_id or 'a person'}"


def _noted(code: Code, unwanted: Collection[str | None]) -> Iterator[_Candidate]:
    for note in code_notes.at_head(code):
        if code_notes.key(note) in unwanted:
            continue
        yield _Candidate(
            _weight(note),
            WorthItem(
                kind="guideline" if note.rule == "guideline" else "note",
                text=wording.clipped(note.text, _SHOWN),
                source=f"{note.path}:{note.line}",
                path=note.path,
                line=note.line,
            ),
        )


def _weight(note: CodeNote) -> float:
    text = note.text
    return (
        _BASE[note.rule]
        + min(note.identifiers, 3) * 0.4
        + (_BECAUSE.search(text) is not None) * 1.2
        + (_CONTRAST.search(text) is not None) * 0.8
        + (_TELLING <= len(text) <= _SHOWN) * 0.8
        - (_SMALL.search(text) is not None) * 1.0
    )


def _committed(vault: Vault, code: Code) -> Iterator[_Candidate]:
    made = [(commit, claims) for commit in _latest(vault) if (claims := commits.read(commit))]
    names = {name for _, claims in made for name in claims[0].names}
    present = set(code.standing_names(names))
    here = code.ages([commit.sha for commit, _ in made])
    for commit, claims in made:
        claim = claims[0]
        if commit.sha not in here or not present.issuperset(claim.names):
            continue
        text = cleaning.clean(claim.content)
        author = cleaning.clean(commit.author_name)
        yield _Candidate(
            2.0 + min(len(claim.names), 3) * 0.4 + (_CONTRAST.search(text) is not None) * 0.8,
            WorthItem(
                kind="commit",
                text=wording.clipped(text, _SHOWN),
                source=f"{author}, {commit.authored_at:%Y-%m-%d}, {commit.sha[:10]}",
                commit=commit.sha,
                author=author,
                at=commit.authored_at,
            ),
        )


def _latest(vault: Vault) -> Iterable[Commit]:
    for number, session in enumerate(vault.sessions.newest()):
        if number >= _SESSIONS:
            return
        yield from vault.commits.of(session.session_id)
