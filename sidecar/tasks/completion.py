"""Cache verdicts on which commit completed which task."""

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from protocol.tasks import Task
from sidecar.storage.vault import Vault
from sidecar.tasks.rules.conditions import Change
from sidecar.text import words

if TYPE_CHECKING:
    from sidecar.tasks.rules.likely_ends import Judge

_KEPT = 50_000
"""Pairs that are written down, also those that nobody has asked for this time."""
_REMEMBERED = 4_096


class _Pairs(Struct):
    """Verdicts on pairs of task and commit in one project."""

    verdicts: dict[int, bool]
    asked: dict[int, bool] = field(default_factory=dict)
    """Those of them that this process has asked for."""
    is_new: bool = False


class Endings:
    """A cache of verdicts that can be stored; invalidated by the rules' edition."""

    def __init__(self) -> None:
        """Start empty."""
        self._known: dict[str, _Pairs] = {}

    def judge(self, vault: Vault) -> "Judge":
        """Return a function that judges whether a commit has done a task of this project."""
        pairs = self._known.get(vault.project_id)
        if pairs is None:
            pairs = self._known[vault.project_id] = _Pairs(vault.endings.read())

        def is_done_by(task: Task, commit: Change) -> bool:
            name = _name(task, commit)
            verdict = pairs.verdicts.get(name)
            if verdict is None:
                from sidecar.tasks.rules import completion  # noqa: PLC0415  # its rules take long to load

                verdict = pairs.verdicts[name] = completion.is_done_by(task, commit)
                pairs.is_new = True
            pairs.asked[name] = verdict
            return verdict

        return is_done_by

    def keep(self, vault: Vault) -> None:
        """Store new verdicts for other processes; the caller holds the store's lock."""
        pairs = self._known.get(vault.project_id)
        if pairs is not None and pairs.is_new:
            pairs.is_new = False
            vault.endings.write(_worth_keeping(pairs))

    def has_news(self, vault: Vault) -> bool:
        """Return whether there are verdicts that are not stored yet."""
        pairs = self._known.get(vault.project_id)
        return pairs is not None and pairs.is_new


def _worth_keeping(pairs: _Pairs) -> Mapping[int, bool]:
    return dict(pairs.verdicts if len(pairs.verdicts) <= _KEPT else pairs.asked)


def _name(task: Task, commit: Change) -> int:
    return _asked(task.task_id, task.title, task.description) ^ _said(commit.message, commit.paths)


@functools.lru_cache(maxsize=_REMEMBERED)
def _asked(task_id: str, title: str, description: str) -> int:
    return words.of_all((task_id, title, description))


@functools.lru_cache(maxsize=_REMEMBERED)
def _said(message: str, paths: tuple[str, ...]) -> int:
    return words.of_all((message, paths))
