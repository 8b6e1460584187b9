"""Recall finds the same in a new process as in an old one, and keeps no word of what it has read."""

import itertools
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from protocol.memories import Memory, MemoryType
from protocol.recall import Found, SearchParams, SearchResult
from sidecar.search import query
from sidecar.search.meanings import Meanings
from sidecar.search.query import Inquiry, Recall
from sidecar.search.rules import indexes, words
from sidecar.search.rules.indexes import Entry
from sidecar.search.rules.ranking import Group
from sidecar.storage.vault import Vault
from sidecar.upkeep import purge
from tests.support import HOUR, NOON, holding, reopen

SILENT = Meanings(lambda: "not installed", lambda: "not installed")
TYPES: tuple[MemoryType, ...] = ("fact", "decision", "constraint", "task")
THINGS = ("parser", "queue", "schema", "router", "ledger", "beacon", "turbine")
GROUPS = {
    "rules": Group(types=frozenset({"constraint"}), limit=3),
    "weighty": Group(types=frozenset({"decision", "fact"}), least_importance=4, limit=5),
    "tasks": Group(types=frozenset({"task"}), limit=2),
}


def memory(vault: Vault, number: int, **more: object) -> Memory:
    thing, other = THINGS[number % 7], THINGS[number * 3 % 7]
    made = Memory(
        memory_id=vault.ids.next(),
        project_id=vault.project_id,
        type=TYPES[number % 4],
        title=f"The {thing} number {number}",
        content=f"The {thing} waits for the {other}, says rule {number}",
        files=(f"src/{thing}/{other}.py", f"docs/{number}.md"),
        tags=(other,),
        agent_id=f"agent{number % 3}",
        session_id=f"session{number % 5}",
        importance=number % 5 + 1,
        confidence=number % 3 + 2,
        branch=("main", "topic", None)[number % 3],
        status="superseded" if number % 11 == 10 else "active",
        occurred_at=NOON - number * HOUR,
        created_at=NOON,
        updated_at=NOON,
    )
    return replace(made, **more)


def put(vault: Vault, *kept: Memory) -> None:
    with vault.transaction():
        vault.write([vault.memories.put(one.memory_id, one) for one in kept])


@pytest.fixture
def kept(vault: Vault) -> list[Memory]:
    made = [memory(vault, number) for number in range(60)]
    put(vault, *made)
    return made


def search(finder: Recall, vault: Vault, query: str = "", **more: object) -> SearchResult:
    params = SearchParams(query=query, **more)  # type: ignore[arg-type]  # tests vary them
    return finder.search(vault, params, lambda _: ())


SEARCHES: list[dict[str, object]] = [
    {},
    {"query": "which parser waits for the queue?"},
    {"query": "turbine ledger", "files_at_hand": ("src/parser/parser.py", "docs/3.md")},
    {"files_at_hand": ("src/parser/parser.py",), "branch": "topic"},
    {"query": "rule", "types": ("decision", "task"), "top_k": 50},
    {"tags": ("queue",), "statuses": ()},
    {"paths": ("src/parser", "docs/4.md"), "top_k": 50},
    {"paths": ("src/",), "agent_id": "agent1", "session_id": "session2"},
    {"since": NOON - 9 * HOUR, "until": NOON - 2 * HOUR},
    {"query": "rule", "statuses": ("superseded",)},
]


def answers(finder: Recall, vault: Vault) -> list[object]:
    found: list[object] = [search(finder, vault, **more) for more in SEARCHES]  # type: ignore[arg-type]  # tests vary them
    for asked, files in itertools.product(("", "parser queue"), ((), ("src/parser/parser.py",))):
        inquiry = Inquiry(query=asked, files_at_hand=files, branch="main")
        found.append(finder.pick(vault, inquiry, GROUPS))
    return found


def noting(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note from now on which memories are read for their words."""
    read: list[str] = []
    original = indexes.weigh

    def weigh(entry: Entry) -> dict[str, float]:
        read.append(entry.title)
        return original(entry)

    monkeypatch.setattr(indexes, "weigh", weigh)
    return read


def written(vault: Vault) -> bool:
    Recall(SILENT).keep(vault)
    return vault.catalogues.read() is not None


@pytest.mark.usefixtures("kept")
def test_a_new_process_finds_the_same_and_reads_no_memory_for_it(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = answers(Recall(SILENT), vault)
    assert written(vault)
    other = reopen(vault)
    read = noting(monkeypatch)
    assert answers(Recall(SILENT), other) == expected
    assert read == []
    other.close()


def test_only_what_has_changed_since_is_read(
    vault: Vault, kept: list[Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    written(vault)
    changed = replace(kept[3], title="A lighthouse", content="A lighthouse")
    new = memory(vault, 61, title="Another lighthouse")
    put(vault, changed, new, replace(kept[4], pinned=True), replace(kept[5], status="stale"))
    with vault.transaction():
        vault.write([vault.memories.drop(kept[6].memory_id)])
    read = noting(monkeypatch)
    found = answers(Recall(SILENT), vault)
    assert sorted(read) == sorted(["A lighthouse", "Another lighthouse", kept[5].title])
    vault.cache.discard()
    assert answers(Recall(SILENT), vault) == found


@pytest.mark.usefixtures("kept")
def test_words_that_were_written_anew_meanwhile_are_taken(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(vault)
    finder = Recall(SILENT)
    finder.pick(vault, Inquiry(), GROUPS)
    put(vault, memory(vault, 61, title="Lighthouse"))
    expected = answers(Recall(SILENT), vault)
    written(vault)
    read = noting(monkeypatch)
    assert answers(finder, vault) == expected
    assert read == []


def test_without_a_question_no_words_are_read(
    vault: Vault, kept: list[Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query, "_FEW", 10)
    read = noting(monkeypatch)
    expected = Recall(SILENT).pick(vault, Inquiry(), GROUPS)
    put(vault, replace(kept[1], title="Lighthouse", occurred_at=NOON - 5000 * HOUR))
    finder = Recall(SILENT)
    assert finder.pick(vault, Inquiry(), GROUPS) == expected
    assert read == []
    assert search(finder, vault, "lighthouse").memories[0].memory.title == "Lighthouse"
    assert len(read) == len(kept)
    assert answers(finder, vault) == answers(Recall(SILENT), vault)
    assert len(read) == len(kept)


def test_words_of_another_stemmer_are_read_anew(
    vault: Vault, kept: list[Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    written(vault)
    monkeypatch.setattr(words, "stemming", lambda: 1)
    read = noting(monkeypatch)
    search(Recall(SILENT), vault)
    assert read == []
    search(Recall(SILENT), vault, "parser")
    # What few ask for is read when it is asked for.
    assert len(read) == sum(one.status == "active" for one in kept)


def test_other_weights_make_another_edition(monkeypatch: pytest.MonkeyPatch) -> None:
    before = indexes.edition()
    monkeypatch.setattr(indexes, "TITLE", replace(indexes.TITLE, weight=9.0))
    assert indexes.edition() != before
    monkeypatch.undo()
    monkeypatch.setattr(words, "EDITION", words.EDITION + 1)
    assert indexes.edition() != before


@pytest.mark.usefixtures("kept")
def test_nobody_is_waited_for_to_write_it_down(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query, "_FEW", 10)
    other = reopen(vault)
    with other.transaction():
        found = search(Recall(SILENT), vault, "parser")
    other.close()
    assert found.memories
    assert vault.catalogues.read() is None


@pytest.mark.parametrize("way", ["memory", "phrase", "path"])
def test_what_is_forgotten_is_in_no_byte_of_it(
    vault: Vault, kept: list[Memory], tmp_path: Path, way: str
) -> None:
    """Part of H3."""
    odd = memory(vault, 61, title="Zeppelin", content="Zeppelins moor", files=("air/zeppelin.py",))
    put(vault, odd)
    assert written(vault)
    traces = [words.of(text).to_bytes(8, "little") for text in ("zeppelin", "moor")]
    traces.append(words.of("air/zeppelin.py").to_bytes(8, "little"))
    assert all(holding(vault.folder, trace) for trace in traces)
    if way == "memory":
        purge.forget(vault, [odd.memory_id], tmp_path / "logs")
    elif way == "phrase":
        purge.forget_phrase(vault, "zeppelin", tmp_path / "logs")
    else:
        purge.forget_path(vault, "air/zeppelin.py", tmp_path / "logs")
    gone = traces[:1] if way == "phrase" else traces if way == "memory" else traces[2:]
    assert not any(holding(vault.folder, trace) for trace in gone)
    found = search(Recall(SILENT), vault, "parser")
    assert found.total == sum(one.status == "active" for one in kept) + (way == "phrase")


@pytest.mark.usefixtures("kept")
def test_what_was_forgotten_elsewhere_does_not_come_back(vault: Vault, tmp_path: Path) -> None:
    """Part of H3."""
    odd = memory(vault, 61, title="Zeppelin", content="Zeppelins moor")
    put(vault, odd)
    finder = Recall(SILENT)
    search(finder, vault, "zeppelin")
    other = reopen(vault)
    purge.forget(other, [odd.memory_id], tmp_path / "logs")
    other.close()
    finder.keep(vault)
    trace = words.of("zeppelin").to_bytes(8, "little")
    assert not holding(vault.folder, trace)
    assert search(finder, vault, "zeppelin").memories == ()


def titles(found: list[Found]) -> list[str]:
    return [one.memory.title for one in found]


@pytest.mark.parametrize("query", ["", "parser queue"])
@pytest.mark.usefixtures("kept")
def test_each_group_gets_its_own_ranked_as_a_search_ranks(vault: Vault, query: str) -> None:
    finder = Recall(SILENT)
    files = ("src/parser/parser.py",)
    picked = finder.pick(vault, Inquiry(query=query, files_at_hand=files), GROUPS)
    assert list(picked) == list(GROUPS)
    everything = search(finder, vault, query, files_at_hand=files, top_k=50).memories
    for name, group in GROUPS.items():
        own = [
            one
            for one in everything
            if one.memory.type in group.types and one.memory.importance >= group.least_importance
        ]
        assert picked[name] == own[: group.limit]
        assert picked[name]


def test_a_rare_group_is_not_starved_by_better_matches(vault: Vault) -> None:
    crowd = [memory(vault, 4 * n, content="parser " * 3, status="active") for n in range(400)]
    rare = memory(vault, 3, content="the parser, among much else " + "word " * 60)
    put(vault, *crowd, rare)
    picked = Recall(SILENT).pick(vault, Inquiry(query="parser"), GROUPS)
    assert titles(picked["tasks"]) == [rare.title]
    assert titles(picked["rules"]) == []


def test_what_was_refused_is_picked_by_nobody_and_found_last(vault: Vault) -> None:
    refused = memory(vault, 3, importance=5, feedback=-1.0, pinned=True)
    disliked = memory(vault, 7, feedback=-0.9, content="nothing of the kind", importance=1)
    liked = memory(vault, 11, feedback=1.0)
    put(vault, refused, disliked, liked)
    finder = Recall(SILENT)
    for asked in ("", "router number"):
        picked = finder.pick(
            vault, Inquiry(query=asked), {"all": replace(GROUPS["tasks"], limit=9)}
        )
        assert refused.title not in titles(picked["all"])
        found = search(finder, vault, asked).memories
        assert [one.memory.title for one in found][-1] == refused.title
        assert found[-1].score > 0
    assert search(finder, vault).memories[0].why["feedback"] > 0


def test_a_write_to_any_table_is_seen_at_once(vault: Vault, kept: list[Memory]) -> None:
    finder = Recall(SILENT)
    search(finder, vault, "parser")
    put(vault, memory(vault, 61, title="Lighthouse", content="Lighthouse", pinned=True))
    assert search(finder, vault, "lighthouse").memories[0].memory.title == "Lighthouse"
    put(vault, replace(kept[1], title="Lighthouse too"))
    found = search(finder, vault, "lighthouse").memories[:2]
    assert {one.memory.title for one in found} == {"Lighthouse", "Lighthouse too"}


def test_a_write_is_not_paid_for_by_reading_the_rest(
    vault: Vault, kept: list[Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    finder = Recall(SILENT)
    search(finder, vault, "parser")
    read = noting(monkeypatch)
    real = vault.memories.fingerprints

    def some(ids: Iterable[str] | None = None) -> dict[str, int]:
        return real(ids) if ids is not None else pytest.fail("all were looked at")

    monkeypatch.setattr(vault.memories, "fingerprints", some)
    monkeypatch.setattr(vault.memories, "by_id", lambda: pytest.fail("all were read"))
    put(vault, replace(kept[1], title="Lighthouse"))
    search(finder, vault, "lighthouse")
    finder.pick(vault, Inquiry(), GROUPS)
    assert read == ["Lighthouse"]


def test_memories_are_counted_as_they_are(vault: Vault, kept: list[Memory]) -> None:
    finder = Recall(SILENT)

    def check() -> None:
        tally = vault.memories.tally("status", "verdict")
        expected = {key: count for key, count in tally.items() if key[0] != "forgotten"}
        assert finder.standings(vault) == Recall(SILENT).standings(vault) == expected

    check()
    finder.keep(vault)
    changes: list[dict[str, object]] = [
        {"verdict": "changed"},
        {"verdict": "gone", "status": "stale"},
        {"status": "forgotten"},
    ]
    for one, change in zip(kept, changes, strict=False):
        put(vault, replace(one, **change))
        check()
    put(vault, memory(vault, 99))
    check()


_FINGERPRINTS = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 2))


@settings(deadline=None)
@given(before=_FINGERPRINTS, now=_FINGERPRINTS)
def test_what_is_different_is_what_came_went_or_changed(
    before: dict[str, int], now: dict[str, int]
) -> None:
    keys = before.keys() | now.keys()
    expected = {key for key in keys if before.get(key) != now.get(key)}
    assert query._different(before, now) == expected
