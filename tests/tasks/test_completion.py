"""Each pair of a task and a commit is judged once, and what is remembered of it is what would be judged anew."""

import itertools

import msgspec
import pytest

from benchmarks import suggesting
from benchmarks.suggesting import Pair
from protocol.tasks import Task
from sidecar.storage.vault import Vault
from sidecar.tasks import completion as tasks_completion
from sidecar.tasks.completion import Endings
from sidecar.tasks.rules import completion
from sidecar.tasks.rules.conditions import Change
from tests.support import reopen


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return [pair for share in suggesting.SHARES for pair in suggesting.load(share)]


def judged(known: Endings, vault: Vault, pairs: list[Pair]) -> list[bool]:
    judge = known.judge(vault)
    return [judge(pair.task, pair.commit) for pair in pairs]


def forbid(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_task: Task, commit: Change) -> bool:
        raise AssertionError(commit.message)

    monkeypatch.setattr(completion, "is_done_by", refuse)


def test_what_is_remembered_is_what_was_judged(
    vault: Vault, pairs: list[Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of F11."""
    expected = [completion.is_done_by(pair.task, pair.commit) for pair in pairs]
    assert {*expected} == {True, False}
    known = Endings()
    assert judged(known, vault, pairs) == expected
    assert known.has_news(vault)
    with vault.transaction():
        known.keep(vault)
    assert not known.has_news(vault)
    forbid(monkeypatch)
    assert judged(known, vault, pairs) == expected
    again = reopen(vault)
    assert judged(Endings(), again, pairs) == expected
    again.close()


def test_pairs_are_told_apart_by_all_that_is_read_of_them(pairs: list[Pair]) -> None:
    task, commit = pairs[0].task, pairs[0].commit
    tasks = [
        task,
        msgspec.structs.replace(task, title=f"{task.title}."),
        msgspec.structs.replace(task, description="More of it"),
        msgspec.structs.replace(task, task_id="01ARZ3NDEKTSV4RRFFQ69G5FAX"),
    ]
    commits = [
        commit,
        msgspec.structs.replace(commit, message=f"{commit.message}."),
        msgspec.structs.replace(commit, paths=(*commit.paths, "more.py")),
    ]
    names = {tasks_completion._name(*pair) for pair in itertools.product(tasks, commits)}
    assert len(names) == len(tasks) * len(commits)
    other = msgspec.structs.replace(commit, sha="f" * 40)
    assert tasks_completion._name(task, other) == tasks_completion._name(task, commit)


def test_of_too_many_pairs_those_stay_that_are_asked_for(
    vault: Vault, pairs: list[Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks_completion, "_KEPT", 3)
    first, second = Endings(), Endings()
    judged(first, vault, pairs[:3])
    with vault.transaction():
        first.keep(vault)
    assert len(vault.endings.read()) == 3
    judged(second, vault, pairs[2:5])
    with vault.transaction():
        second.keep(vault)
    assert {*vault.endings.read()} == {
        tasks_completion._name(pair.task, pair.commit) for pair in pairs[2:5]
    }
