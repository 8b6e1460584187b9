"""Recall finds the same in a new process as in an old one, and keeps no word of what it has read."""

import itertools
import logging
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from protocol.memories import Memory, MemoryType
from protocol.recall import Found, SearchParams, SearchResult
from sidecar.domain.recall import hashes, lexicon, words
from sidecar.domain.recall.lexicon import Entry
from sidecar.domain.recall.ranking import Group
from sidecar.services import forgetting, recall
from sidecar.services.meanings import Meanings
from sidecar.services.recall import Inquiry, Recall
from sidecar.store.vaults import Vault
from tests.support import HOUR, NOON, reopen

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
    with vault.lock.held():
        vault.journal.append([vault.memories.put(one.memory_id, one) for one in kept])


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
    for query, files in itertools.product(("", "parser queue"), ((), ("src/parser/parser.py",))):
        inquiry = Inquiry(query=query, files_at_hand=files, branch="main")
        found.append(finder.pick(vault, inquiry, GROUPS))
    return found


def noting(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note from now on which memories are read for their words."""
    read: list[str] = []
    original = lexicon.weigh

    def weigh(entry: Entry) -> dict[str, float]:
        read.append(entry.title)
        return original(entry)

    monkeypatch.setattr(lexicon, "weigh", weigh)
    return read


def written(vault: Vault) -> Path:
    Recall(SILENT).keep(vault)
    return vault.folder / "cache" / "catalogue"


@pytest.mark.usefixtures("kept")
def test_a_new_process_finds_the_same_and_reads_no_memory_for_it(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = answers(Recall(SILENT), vault)
    assert written(vault).exists()
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
    with vault.lock.held():
        vault.journal.append([vault.memories.drop(kept[6].memory_id)])
    read = noting(monkeypatch)
    found = answers(Recall(SILENT), vault)
    assert sorted(read) == sorted(["A lighthouse", "Another lighthouse", kept[5].title])
    (vault.folder / "cache" / "catalogue").unlink()
    assert answers(Recall(SILENT), vault) == found


def test_a_change_that_says_no_date_is_seen(vault: Vault, kept: list[Memory]) -> None:
    written(vault)
    with vault.lock.held():
        vault.journal.change(
            lambda _, found: found | {"title": "Zeppelin"} if "Zeppelin" not in found else found
        )
    assert len(search(Recall(SILENT), vault, "zeppelin", top_k=50).memories) > len(kept) / 2


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)


def age(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"catalogue 1 ", b"catalogue 0 "))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def link(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.with_name("elsewhere"))


def block(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("name", ["catalogue", "words"])
@pytest.mark.parametrize("harm", [cut, flip, age, empty, link, block, Path.unlink])
@pytest.mark.usefixtures("kept")
def test_what_is_damaged_is_made_anew(
    vault: Vault, name: str, harm: Callable[[Path], object]
) -> None:
    expected = answers(Recall(SILENT), vault)
    written(vault)
    harm(vault.folder / "cache" / name)
    finder = Recall(SILENT)
    assert answers(finder, vault) == expected
    finder.keep(vault)
    assert not (vault.folder / "cache" / name).is_symlink()
    assert vault.catalogues.read() is not None


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
    monkeypatch.setattr(recall, "_FEW", 10)
    read = noting(monkeypatch)
    expected = Recall(SILENT).pick(vault, Inquiry(), GROUPS)
    assert {one.name for one in (vault.folder / "cache").iterdir()} == {"catalogue"}
    put(vault, replace(kept[1], title="Lighthouse", occurred_at=NOON - 5000 * HOUR))
    finder = Recall(SILENT)
    assert finder.pick(vault, Inquiry(), GROUPS) == expected
    assert read == []
    assert search(finder, vault, "lighthouse").memories[0].memory.title == "Lighthouse"
    assert len(read) == len(kept)
    assert (vault.folder / "cache" / "words").exists()
    assert answers(finder, vault) == answers(Recall(SILENT), vault)
    assert len(read) == len(kept)


def test_two_files_of_different_times_are_no_catalogue(vault: Vault, kept: list[Memory]) -> None:
    expected = answers(Recall(SILENT), vault)
    older = (written(vault).with_name("words")).read_bytes()
    put(vault, memory(vault, 61))
    written(vault).with_name("words").write_bytes(older)
    with vault.lock.held():
        new = set(vault.memories.ids()) - {one.memory_id for one in kept}
        vault.journal.append([vault.memories.drop(key) for key in new])
    assert answers(Recall(SILENT), vault) == expected


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
    before = lexicon.edition()
    monkeypatch.setattr(lexicon, "TITLE", replace(lexicon.TITLE, weight=9.0))
    assert lexicon.edition() != before
    monkeypatch.undo()
    monkeypatch.setattr(words, "EDITION", words.EDITION + 1)
    assert lexicon.edition() != before


def test_it_is_written_down_when_enough_has_changed(
    vault: Vault, kept: list[Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = vault.folder / "cache" / "catalogue"
    finder = Recall(SILENT)
    search(finder, vault, "parser")
    assert not path.exists()
    monkeypatch.setattr(recall, "_FEW", 10)
    search(finder, vault, "parser")
    before = path.read_bytes()
    put(vault, *(replace(one, title="New") for one in kept[:5]))
    search(finder, vault, "parser")
    assert path.read_bytes() == before
    put(vault, *(replace(one, title="Newer") for one in kept[:9]))
    finder.pick(vault, Inquiry(), GROUPS)
    assert path.read_bytes() != before


@pytest.mark.usefixtures("kept")
def test_only_we_can_read_it(vault: Vault) -> None:
    path = written(vault)
    modes = {stat.S_IMODE(one.stat().st_mode) for one in (path, path.with_name("words"))}
    assert modes == {0o600}


@pytest.mark.usefixtures("kept")
def test_nobody_is_waited_for_to_write_it_down(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall, "_FEW", 10)
    other = reopen(vault)
    with other.lock.held():
        found = search(Recall(SILENT), vault, "parser")
    other.close()
    assert found.memories
    assert not (vault.folder / "cache" / "catalogue").exists()


@pytest.mark.usefixtures("kept")
def test_what_cannot_be_written_down_fails_no_search(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(recall, "_FEW", 10)
    (vault.folder / "cache" / "catalogue.draft").symlink_to("/nowhere")
    with caplog.at_level(logging.WARNING):
        assert search(Recall(SILENT), vault, "parser").memories
    assert "written down later" in caplog.text


def test_the_files_hold_no_word(vault: Vault, kept: list[Memory]) -> None:
    """Part of H3."""
    path = written(vault)
    data = path.read_bytes() + path.with_name("words").read_bytes()
    for word in (*THINGS, "rule", "wait", "src", "agent1", "session", "main", "topic"):
        assert word.encode() not in data.lower(), word
    assert kept[0].memory_id.encode() in data


@pytest.mark.parametrize("way", ["memory", "phrase", "path"])
def test_what_is_forgotten_is_in_no_byte_of_it(
    vault: Vault, kept: list[Memory], tmp_path: Path, way: str
) -> None:
    """Part of H3."""
    odd = memory(vault, 61, title="Zeppelin", content="Zeppelins moor", files=("air/zeppelin.py",))
    put(vault, odd)
    path = written(vault)
    both = (path, path.with_name("words"))
    traces = [hashes.of(text).to_bytes(8, "little") for text in ("zeppelin", "moor")]
    traces.append(hashes.of("air/zeppelin.py").to_bytes(8, "little"))
    assert all(any(trace in one.read_bytes() for one in both) for trace in traces)
    path.with_name("words.draft").write_bytes(traces[0])
    if way == "memory":
        forgetting.forget(vault, [odd.memory_id], tmp_path / "logs")
    elif way == "phrase":
        forgetting.forget_phrase(vault, "zeppelin", tmp_path / "logs")
    else:
        forgetting.forget_path(vault, "air/zeppelin.py", tmp_path / "logs")
    files = list(path.parent.iterdir())
    gone = traces[:1] if way == "phrase" else traces if way == "memory" else traces[2:]
    assert {one.name for one in files} >= {"catalogue", "words"}
    for trace in (*gone, b"eppelin", b"moor"):
        assert not any(trace in one.read_bytes() for one in files)
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
    forgetting.forget(other, [odd.memory_id], tmp_path / "logs")
    other.close()
    finder.keep(vault)
    trace = hashes.of("zeppelin").to_bytes(8, "little")
    assert trace not in (vault.folder / "cache" / "words").read_bytes()
    assert search(finder, vault, "zeppelin").memories == ()


@pytest.mark.usefixtures("kept")
def test_many_forgotten_at_once_leave_no_catalogue(vault: Vault, tmp_path: Path) -> None:
    path = written(vault)
    forgetting.forget_phrase(vault, "waits", tmp_path / "logs")
    assert not path.exists()
    assert not path.with_name("words").exists()
    assert len(search(Recall(SILENT), vault, "parser", top_k=50).memories) > 1


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
    for query in ("", "router number"):
        picked = finder.pick(
            vault, Inquiry(query=query), {"all": replace(GROUPS["tasks"], limit=9)}
        )
        assert refused.title not in titles(picked["all"])
        found = search(finder, vault, query).memories
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
    monkeypatch.setattr(vault.memories, "fingerprints", lambda: pytest.fail("all were looked at"))
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
    assert recall._different(before, now) == expected
