"""Search memories and records together: candidates by words, then meaning for the candidates only."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from protocol.memories import Memory
from protocol.recall import Found, Hit, HitKind, SearchParams
from sidecar.privacy import cleaning
from sidecar.search.meanings import Meanings
from sidecar.search.rules import filters, scoring, snippets
from sidecar.search.rules.scoring import Candidate, Scored
from sidecar.search.rules.standing import REFUSED
from sidecar.sharing.rules import links
from sidecar.storage import texts
from sidecar.storage.cache import Cosines
from sidecar.storage.texts import Match, Text
from sidecar.storage.vault import Vault

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SPOKEN = ("turn", "capture")
CANDIDATES = 100
"""Texts that are found by words and compared by meaning."""
_ABOUT_FILE = 50
"""Texts about the open file that are candidates: the best by words and as many of the newest, whatever their words."""
_BY_MEANING = 20
"""Memories that are candidates though they share no word with the question."""
_NEIGHBOUR = 1 / 3
"""The part of a turn's score that the turns right before and after it get."""
BUDGET = 2.5
"""Seconds that a search may spend on embedding texts whose meaning is not cached; the rest is ranked by words."""
_AT_ONCE = 16

Elsewhere = Callable[[list[Memory]], Collection[str]]
"""Names the memories that belong to branches which are not part of the current one."""


class _Ranking(NamedTuple):
    """All candidates of a question, best first, and what they are."""

    ranked: list[Scored]
    rows: dict[str, Text]
    memories: dict[str, Memory]
    is_semantic: bool


def search(
    vault: Vault, params: SearchParams, meanings: Meanings, elsewhere: Elsewhere
) -> tuple[list[Hit], list[Found], bool]:
    """Return the best hits, the memories among them in full, and whether meaning was compared."""
    kind = "memory" if _is_for_memories(params) else None
    ranked, rows, memories, is_semantic = _rank(vault, params, kind, meanings, elsewhere)
    # What somebody called wrong comes last.
    ranked.sort(key=lambda item: item.key in memories and memories[item.key].feedback <= REFUSED)
    chosen = scoring.cut(_once(ranked, rows, memories), params.top_k)
    hits = [_hit(rows[item.key], memories.get(item.key), item, params.query) for item in chosen]
    # A memory stays in the list of memories where its commit answers better and is shown instead.
    found = [
        Found(memory=memories[item.key], score=item.score, why=item.why)
        for item in scoring.cut(ranked, CANDIDATES)
        if item.key in memories
    ]
    found.sort(key=lambda item: _is_summary(item.memory))
    return hits, found[: params.top_k], is_semantic


def rank_memories(
    vault: Vault, params: SearchParams, meanings: Meanings
) -> list[tuple[str, dict[str, float]]]:
    """Return the memories that concern a question, best first, with what each signal adds to their score."""
    ranking = _rank(vault, params, "memory", meanings, lambda _: ())
    return [(item.key, item.why) for item in scoring.cut(ranking.ranked, CANDIDATES)]


def _rank(
    vault: Vault, params: SearchParams, kind: str | None, meanings: Meanings, elsewhere: Elsewhere
) -> _Ranking:
    asked = None if meanings.absence else meanings.embed_question(params.query)
    near = None if asked is None else vault.vectors.matrix().compare(asked)
    opened = _names(vault, params.files_at_hand[:1])
    matches = _candidates(vault, params, kind, opened, near)
    memories = _memories(vault, params, matches, elsewhere)
    matches = [match for match in matches if _is_wanted(match.text, params, memories)]
    rows = {match.text.id: match.text for match in matches}
    scorable = _scorable(vault, matches, params)

    def rank(cosines: Mapping[str, float]) -> list[Scored]:
        return scoring.rank(
            scorable,
            cosines,
            now=vault.clock(),
            open_files=opened,
            changed_files=params.files_at_hand[1:],
        )

    ranked = rank({})
    if asked is None or near is None:
        return _Ranking(ranked, rows, memories, is_semantic=False)
    # The likeliest first: there may not be time for the meaning of all.
    known = near.of(memories)
    likeliest = [rows[item.key] for item in ranked if item.key not in known]
    cosines = known | _cosines(vault, (params.query, asked), likeliest, meanings)
    return _Ranking(rank(cosines), rows, memories, is_semantic=True)


def _candidates(
    vault: Vault,
    params: SearchParams,
    kind: str | None,
    opened: Collection[str],
    near: Cosines | None,
) -> list[Match]:
    between = (params.since, params.until)
    found = texts.find(vault.database, params.query, CANDIDATES, kind, between)
    matches = _in_context(vault, found)
    known = {match.text.id for match in matches}
    about_file = texts.touching(vault.database, opened, params.query, _ABOUT_FILE)
    matches += [
        match
        for match in about_file
        if match.text.id not in known and kind in {None, match.text.kind}
    ]
    known = {match.text.id for match in matches}
    closest = (
        [] if near is None else [key for key in near.best(_BY_MEANING, None) if key not in known]
    )
    linked = links.between_memories(vault.links.by_id().values())
    beside = [other for key in known for other in linked.get(key, ()) if other not in known]
    more = dict.fromkeys([*closest, *beside])
    return matches + [Match(text, 0.0) for text in texts.some(vault.database, more)]


def _in_context(vault: Vault, matches: list[Match]) -> list[Match]:
    """Let turns share their score with those beside them: an answer follows its question in other words."""
    scores = {match.text.id: match.score for match in matches}
    shared: dict[str, float] = {}
    for match in matches:
        if match.text.kind == "turn":
            for key in texts.beside(vault.database, match.text):
                shared[key] = shared.get(key, 0.0) + _NEIGHBOUR * match.score
    if not shared:
        return matches
    unmatched = texts.some(vault.database, [key for key in shared if key not in scores])
    every = [*(match.text for match in matches), *unmatched]
    raised = [Match(text, scores.get(text.id, 0.0) + shared.get(text.id, 0.0)) for text in every]
    return sorted(raised, key=lambda match: -match.score)[:CANDIDATES]


def _is_for_memories(params: SearchParams) -> bool:
    """Whether a search asks for what only memories have."""
    only = (params.types, params.tags, params.agent_id, params.session_id)
    return any(only) or params.pinned is not None or params.statuses != ("active",)


def _memories(
    vault: Vault, params: SearchParams, matches: Sequence[Match], elsewhere: Elsewhere
) -> dict[str, Memory]:
    some = vault.memories.some(match.text.id for match in matches if match.text.kind == "memory")
    wanted = {key: memory for key, memory in some.items() if filters.passes(memory, params)}
    if not params.all_branches:
        away = elsewhere(list(wanted.values()))
        wanted = {key: memory for key, memory in wanted.items() if key not in away}
    return {key: cleaning.clean_memory(memory) for key, memory in wanted.items()}


def _is_wanted(text: Text, params: SearchParams, memories: Collection[str]) -> bool:
    if text.kind == "memory" and text.id not in memories:
        return False
    if text.kind in _SPOKEN and snippets.asks_the_same(text.text or text.title, params.query):
        return False
    if (params.since and text.at < params.since) or (params.until and text.at >= params.until):
        return False
    return not params.paths or filters.are_within(text.paths, params.paths)


def _scorable(vault: Vault, matches: Sequence[Match], params: SearchParams) -> list[Candidate]:
    linked = _linked(vault, matches, params.files_at_hand)
    return [
        Candidate(
            key=match.text.id,
            words=match.score,
            at=match.text.at,
            files=match.text.paths,
            linked=linked.get(match.text.id, 0.0),
        )
        for match in matches
    ]


def _names(vault: Vault, files: Collection[str]) -> set[str]:
    """Return files with the names they had before: old commits know no others."""
    former = (texts.former_names(vault.database, path) for path in files)
    return {*files}.union(*former)


def _linked(vault: Vault, matches: Sequence[Match], files: Collection[str]) -> dict[str, float]:
    """Return how well what memories are linked with matches: other memories by words, files by being at hand."""
    every = vault.links.by_id().values()
    if not every:
        return {}
    best = max((match.score for match in matches), default=0.0) or 1.0
    words = {match.text.id: match.score / best for match in matches}
    found = {
        memory_id: max((words.get(other, 0.0) for other in others), default=0.0)
        for memory_id, others in links.between_memories(every).items()
    }
    filed = links.with_files(every)
    return found | {key: 1.0 for path in files for key in filed.get(path, ())}


def _cosines(
    vault: Vault,
    asked: "tuple[str, NDArray[np.float32]]",
    likeliest: Sequence[Text],
    meanings: Meanings,
) -> dict[str, float]:
    """Return how near texts are to the question in meaning, of as many as there is time for."""
    question, vector = asked
    until = time.monotonic() + BUDGET
    parts = {text.id: _passages(text) for text in likeliest}
    vectors = vault.passages.some([part for some in parts.values() for part in some])
    lacking = [
        snippets.nearest(some, question)
        for some in parts.values()
        if not any(part in vectors for part in some)
    ]
    for start in range(0, len(lacking), _AT_ONCE):
        if time.monotonic() > until:
            break
        batch = lacking[start : start + _AT_ONCE]
        made = meanings.embed(batch)
        if made is None:
            break
        vault.passages.add(batch, made)
        vectors |= dict(zip(batch, made, strict=True))
    return _nearest(vector, parts, vectors)


def _nearest(
    asked: "NDArray[np.float32]",
    parts: Mapping[str, Sequence[str]],
    vectors: "Mapping[str, NDArray[np.float32]]",
) -> dict[str, float]:
    return {
        key: max(float(vectors[part] @ asked) for part in some if part in vectors)
        for key, some in parts.items()
        if any(part in vectors for part in some)
    }


def _passages(text: Text) -> list[str]:
    return snippets.passages(text.title, text.text)


def _once(
    ranked: Sequence[Scored], rows: Mapping[str, Text], memories: Mapping[str, Memory]
) -> list[Scored]:
    """Leave out what only repeats a commit that stands above it."""
    shown: set[str] = set()
    spoken = [row.text for row in rows.values() if row.kind == "turn"]
    kept = []
    for item in ranked:
        memory = memories.get(item.key)
        # What rules summed up of a session only repeats its commits, which are found themselves.
        if memory and _is_summary(memory) and len(rows) > len(memories):
            continue
        row = rows[item.key]
        # What was noted of a turn repeats it.
        if row.kind == "capture" and any(row.text in said for said in spoken):
            continue
        # A cherry-picked commit says the same as the one it was made from.
        said = {f"{row.title}\n{row.text}"}
        commits = (
            {piece.commit_sha for piece in memory.evidence if piece.commit_sha}
            if memory
            else {row.origin} - {""}
            if row.kind == "commit"
            else set()
        )
        is_known = said <= shown or (bool(commits) and commits <= shown)
        shown |= commits | said
        if not is_known:
            kept.append(item)
    return kept


def _is_summary(memory: Memory) -> bool:
    return memory.type == "episodic" and not memory.agent_id


def _hit(text: Text, memory: Memory | None, item: Scored, question: str) -> Hit:
    body = memory.content if memory else text.text
    if memory and memory.rationale and memory.rationale not in body:
        body = f"{body}\n\n{memory.rationale}"
    return Hit(
        kind=cast("HitKind", text.kind),
        id=text.id,
        title=cleaning.clean(text.title),
        text=cleaning.clean(snippets.best(body, question)),
        at=text.at,
        author=cleaning.clean(text.author) or None,
        type=memory.type if memory else None,
        freshness=memory.verdict if memory else None,
        by_model=bool(memory and memory.by_model),
        commit=(text.origin or None) if text.kind == "commit" else None,
        session_id=text.session or None,
        session_key=(text.origin or None) if text.kind == "turn" else None,
        files=tuple(map(cleaning.clean, text.paths[:3])),
        score=round(item.score, 3),
        why={name: round(value, 3) for name, value in item.why.items()},
    )
