"""Memories that answer, or that stand best where nothing is asked: pinned, new, about the files at hand."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from protocol.memories import Memory, MemoryType
from protocol.recall import Found, ListMemoriesParams, SearchParams, SearchResult
from sidecar.search.meanings import Meanings
from sidecar.search.recall import Inquiry, Recall
from sidecar.search.rules.standing import Group
from sidecar.storage.vault import Vault
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


def titles(found: list[Found]) -> list[str]:
    return [one.memory.title for one in found]


@pytest.mark.usefixtures("kept")
def test_each_group_gets_its_own_ranked_as_a_search_ranks(vault: Vault) -> None:
    finder = Recall(SILENT)
    files = ("src/parser/parser.py",)
    picked = finder.pick(vault, Inquiry(files_at_hand=files), GROUPS)
    assert list(picked) == list(GROUPS)
    everything = search(finder, vault, files_at_hand=files, top_k=50).memories
    for name, group in GROUPS.items():
        own = [
            one
            for one in everything
            if one.memory.type in group.types and one.memory.importance >= group.least_importance
        ]
        assert picked[name] == own[: group.limit]
        assert picked[name]


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


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("narrowed", "is_meant"),
    [
        ({"types": ("decision", "task")}, lambda one: one.type in {"decision", "task"}),
        ({"tags": ("queue",), "statuses": ()}, lambda one: "queue" in one.tags),
        ({"statuses": ("superseded",)}, lambda one: one.status == "superseded"),
        (
            {"paths": ("src/parser", "docs/4.md")},
            lambda one: "/parser/" in one.files[0] or "docs/4.md" in one.files,
        ),
        (
            {"agent_id": "agent1", "session_id": "session2"},
            lambda one: (one.agent_id, one.session_id) == ("agent1", "session2"),
        ),
        (
            {"since": NOON - 9 * HOUR, "until": NOON - 2 * HOUR},
            lambda one: NOON - 9 * HOUR <= one.occurred_at < NOON - 2 * HOUR,
        ),
    ],
)
def test_a_search_and_a_list_return_what_passes_the_filters(
    vault: Vault, narrowed: dict[str, Any], is_meant: Callable[[Memory], bool]
) -> None:
    """Part of D7."""
    is_active = (lambda _: True) if "statuses" in narrowed else (lambda one: one.status == "active")
    expected = {one.memory_id for one in vault.memories.all() if is_meant(one) and is_active(one)}
    found = search(Recall(SILENT), vault, top_k=50, **narrowed)
    assert {one.memory.memory_id for one in found.memories} == expected
    assert found.total == len(expected) > 0
    page = Recall(SILENT).list_memories(vault, ListMemoriesParams(limit=50, **narrowed))
    assert [one.memory_id for one in page.memories] == sorted(
        expected, key=lambda key: vault.memories.by_id()[key].occurred_at, reverse=True
    )


@pytest.mark.usefixtures("kept")
def test_without_a_question_pins_files_at_hand_and_news_come_first(vault: Vault) -> None:
    """Part of D7."""
    old = memory(vault, 55, title="Old but pinned", pinned=True, status="active")
    filed = memory(vault, 54, title="Old but of this file", files=("a.py",), status="active")
    new = memory(vault, 0, title="New", importance=3)
    put(vault, old, filed, new)
    found = search(Recall(SILENT), vault, files_at_hand=("a.py",), top_k=3).memories
    assert {titles([one])[0] for one in found[:2]} == {"Old but pinned", "Old but of this file"}
    assert found[0].why.keys() & {"pinned", "files"}


def test_a_new_process_picks_the_same(vault: Vault, kept: list[Memory]) -> None:
    finder = Recall(SILENT)
    inquiry = Inquiry(files_at_hand=("src/parser/parser.py",), branch="main")
    finder.pick(vault, inquiry, GROUPS)
    put(vault, replace(kept[3], pinned=True), replace(kept[5], status="stale"))
    assert finder.pick(vault, inquiry, GROUPS) == Recall(SILENT).pick(
        reopen(vault), inquiry, GROUPS
    )


def test_a_question_picks_what_concerns_it(vault: Vault, kept: list[Memory]) -> None:
    picked = Recall(SILENT).pick(vault, Inquiry(query="which turbine waits for what"), GROUPS)
    every = [one.memory for some in picked.values() for one in some]
    assert every
    assert all("turbine" in one.content for one in every)
    assert kept


def test_memories_are_counted_as_they_are(vault: Vault, kept: list[Memory]) -> None:
    finder = Recall(SILENT)
    assert finder.standings(vault)["active", None] == sum(one.status == "active" for one in kept)
    put(vault, replace(kept[0], verdict="changed"))
    assert finder.standings(vault)["active", "changed"] == 1
