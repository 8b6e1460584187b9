"""Linking: what belongs together is seen from both sides, and no link leads nowhere."""

from pathlib import Path

import pytest

from protocol.documents import ReadDocumentParams, WriteDocumentParams
from protocol.errors import ConflictError, InvalidParamsError, NotFoundError
from protocol.links import (
    GraphParams,
    Linkable,
    LinkEnd,
    LinkParams,
    LinkResult,
    LinkType,
    Neighbour,
    UnlinkParams,
)
from protocol.recall import ReadParams, SearchParams
from protocol.tasks import CreateTasksParams, ListTasksParams, NewTask
from sidecar.memory import remember
from sidecar.memory.explain import Mentioned
from sidecar.search.recall import Recall
from sidecar.sharing import documents, links
from sidecar.storage.vault import Vault
from sidecar.tasks import plan as tasks_plan
from sidecar.upkeep import purge
from tests.memory.test_remember import WORDS, write
from tests.support import holding, reopen
from tests.tasks.test_open_tasks import NOTHING


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


def end(kind: Linkable, name: str) -> LinkEnd:
    return LinkEnd(kind=kind, id=name)


def link(vault: Vault, source: LinkEnd, target: LinkEnd, kind: LinkType = "relates") -> LinkResult:
    params = LinkParams(source=source, target=target, type=kind, agent_id="cursor")
    return links.link(vault, params)


def memory(vault: Vault, text: str, *, path: str | None = None) -> LinkEnd:
    files = (path,) if path else ()
    return end("memory", write(vault, text, files=files).memory.memory_id)


def task(vault: Vault, title: str) -> LinkEnd:
    params = CreateTasksParams(tasks=(NewTask(title=title),))
    return end("task", tasks_plan.create(vault, params, NOTHING).tasks[0].task_id)


def document(vault: Vault, name: str) -> LinkEnd:
    documents.write(vault, WriteDocumentParams(name=name, content="words"))
    return end("document", name)


def neighbours(vault: Vault, item: LinkEnd) -> tuple[Neighbour, ...]:
    return links.neighbours(vault, [(item.kind, item.id)])[item.kind, item.id]


def titles(vault: Vault, item: LinkEnd) -> list[str]:
    return [one.title for one in neighbours(vault, item)]


def test_a_link_is_seen_from_both_ends_with_every_item(vault: Vault) -> None:
    """Part of F12."""
    herons = memory(vault, "Herons are blue")
    todo, paper = task(vault, "Count the herons"), document(vault, "skills")
    made = link(vault, herons, todo, "causes")
    assert (made.outcome, made.link.agent_id) == ("created", "cursor")
    link(vault, paper, herons, "documents")
    link(vault, herons, end("file", "./birds//herons.py"), "implements")
    (read,) = remember.read(vault, ReadParams(memory_ids=(herons.id,))).memories
    assert [(one.type, one.kind, one.title, one.is_source) for one in read.links] == [
        ("causes", "task", "Count the herons", False),
        ("documents", "document", "skills", True),
        ("implements", "file", "birds/herons.py", False),
    ]
    (listed,) = tasks_plan.list_tasks(vault, ListTasksParams()).tasks
    assert [(one.id, one.is_source) for one in listed.links] == [(herons.id, True)]
    shown = documents.read(vault, ReadDocumentParams(name="skills"))
    assert [(one.id, one.is_source) for one in shown.links] == [(herons.id, False)]
    assert titles(vault, end("file", "birds/herons.py")) == ["Herons are blue"]
    other = reopen(vault)
    assert neighbours(other, herons) == read.links
    other.close()


def test_a_link_is_made_once_and_can_be_removed(vault: Vault) -> None:
    """Part of F12."""
    one, other = memory(vault, "One thing here"), memory(vault, "Another thing there")
    first = link(vault, one, other)
    assert link(vault, one, other) == LinkResult(outcome="duplicate", link=first.link)
    assert link(vault, one, other, "causes").outcome == "created"
    assert link(vault, other, one).outcome == "created"
    removed = links.unlink(vault, UnlinkParams(link_id=first.link.link_id))
    assert (removed.outcome, removed.link) == ("removed", first.link)
    assert len(neighbours(vault, one)) == 2
    with pytest.raises(NotFoundError) as refusal:
        links.unlink(vault, UnlinkParams(link_id=first.link.link_id))
    assert refusal.value.field == "linkId"


@pytest.mark.parametrize(
    ("kind", "name", "error", "field"),
    [
        ("memory", "01ARZ3NDEKTSV4RRFFQ69G5FAV", NotFoundError, "target.id"),
        ("task", "01ARZ3NDEKTSV4RRFFQ69G5FAV", NotFoundError, "target.id"),
        ("document", "nothing", NotFoundError, "target.id"),
        ("file", "../outside.py", InvalidParamsError, "target.id"),
        ("file", "/etc/passwd", InvalidParamsError, "target.id"),
        ("file", "ghp_" + "a1B2c3D4e5F6" * 3, InvalidParamsError, "target.id"),
        ("document", " ", InvalidParamsError, "target.id"),
    ],
)
def test_what_is_not_there_cannot_be_linked(
    vault: Vault, kind: Linkable, name: str, error: type[Exception], field: str
) -> None:
    """Part of F12."""
    with pytest.raises(error) as refusal:
        link(vault, memory(vault, "Something"), end(kind, name))
    assert getattr(refusal.value, "field", None) == field
    assert vault.links.all() == []


def test_nothing_is_linked_with_itself(vault: Vault) -> None:
    one = memory(vault, "Something")
    with pytest.raises(InvalidParamsError):
        link(vault, one, one)


def test_an_item_has_no_more_links_than_can_be_shown(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of F12."""
    monkeypatch.setattr(links, "MOST", 3)
    hub = memory(vault, "Hub")
    for number in range(3):
        link(vault, hub, end("file", f"src/{number}.py"))
    with pytest.raises(ConflictError):
        link(vault, end("file", "src/more.py"), hub)
    assert len(vault.links) == 3


def test_links_of_a_forgotten_memory_go_with_it(vault: Vault, logs: Path) -> None:
    """Part of F12 and H3."""
    one, other = memory(vault, "Four blue herons"), memory(vault, "A red fox sleeps")
    todo = task(vault, "Look")
    link(vault, one, other)
    link(vault, todo, one, "documents")
    link(vault, todo, other)
    purge.forget(vault, [one.id], logs)
    assert len(vault.links) == 1
    assert titles(vault, todo) == ["A red fox sleeps"]


def test_links_of_a_purged_file_go_with_it(vault: Vault, logs: Path) -> None:
    """Part of F12 and H3: also those of memories that spoke of nothing else."""
    about = memory(vault, "Keys rotate", path="secrets/keys.py")
    other = memory(vault, "Foxes sleep")
    link(vault, about, other)
    link(vault, other, end("file", "secrets/keys.py"))
    link(vault, other, end("file", "open/keys.py"))
    assert purge.forget_path(vault, "secrets", logs).verified
    assert titles(vault, other) == ["open/keys.py"]
    assert holding(vault.folder, b"secrets") == []


def test_a_phrase_is_forgotten_in_links_as_in_what_they_name(vault: Vault, logs: Path) -> None:
    """Part of F12 and H3."""
    paper, one = document(vault, "blue herons"), memory(vault, "Foxes sleep")
    link(vault, one, paper)
    assert purge.forget_phrase(vault, "blue herons", logs).verified
    assert titles(vault, one) == ["[FORGOTTEN]"]


def test_a_graph_shows_links_and_what_items_say_of_each_other(vault: Vault) -> None:
    """Part of F12."""
    first, lone = memory(vault, "We count herons"), memory(vault, "Nobody links me")
    plan = CreateTasksParams(tasks=(NewTask(title="A"), NewTask(title="B", depends_on=(0,))))
    a, b = (end("task", one.task_id) for one in tasks_plan.create(vault, plan, NOTHING).tasks)
    link(vault, first, a, "causes")
    link(vault, b, end("file", "b.py"))
    whole = links.graph(vault, GraphParams())
    assert {one.title for one in whole.nodes} == {"We count herons", "A", "B", "b.py"}
    assert lone.id not in {one.id for one in whole.nodes}
    assert {(one.type, one.source.id, one.target.id) for one in whole.links} == {
        ("causes", first.id, a.id),
        ("blocks", a.id, b.id),
        ("relates", b.id, "b.py"),
    }
    near = links.graph(vault, GraphParams(around=first))
    assert [one.title for one in near.nodes] == ["We count herons", "A"]
    further = links.graph(vault, GraphParams(around=first, hops=2, limit=2))
    assert (len(further.nodes), further.total, len(further.links)) == (2, 3, 1)
    with pytest.raises(NotFoundError):
        links.graph(vault, GraphParams(around=end("document", "nothing")))


def test_what_is_linked_with_an_answer_is_found_with_it(vault: Vault) -> None:
    """Part of F12."""
    answer, reason = memory(vault, "Uploads are signed"), memory(vault, "The auditor wants it so")
    recall = Recall(WORDS)

    def found() -> list[str]:
        asked = SearchParams(query="signed uploads")
        return [one.memory.memory_id for one in recall.search(vault, asked, lambda _: ()).memories]

    assert found() == [answer.id]
    made = link(vault, reason, answer, "causes")
    assert found() == [answer.id, reason.id]
    links.unlink(vault, UnlinkParams(link_id=made.link.link_id))
    assert found() == [answer.id]


def test_a_memory_linked_with_a_file_is_found_by_that_file(vault: Vault) -> None:
    """Part of F12: at hand, and where somebody points at it."""
    herons, storks = memory(vault, "Herons are blue"), memory(vault, "Storks are white")
    recall, mentioned = Recall(WORDS), Mentioned()

    def found(path: str) -> list[str]:
        params = SearchParams(query="", files_at_hand=(path,))
        best = recall.search(vault, params, lambda _: ()).memories
        return [one.memory.memory_id for one in best if "files" in one.why]

    assert (found("birds/herons.py"), mentioned.by_files(vault, ["birds/herons.py"])) == ([], [])
    link(vault, herons, end("file", "birds/herons.py"))
    link(vault, end("file", "birds/storks.py"), storks)
    assert found("birds/herons.py") == [herons.id]
    assert mentioned.by_files(vault, ["birds/storks.py"]) == [storks.id]
