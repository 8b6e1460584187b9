"""Transferring: every kind of record travels, and arriving twice changes nothing."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from protocol.conversations import Conversation
from protocol.errors import InvalidParamsError
from protocol.messages import Message
from protocol.projects import Project
from protocol.tasks import Task
from sidecar.capture.rules.sessions import Rule
from sidecar.storage.collection import Op
from sidecar.storage.home import Home
from sidecar.storage.ulids import Ids
from sidecar.storage.vault import Vault
from sidecar.upkeep import export, report
from tests import records
from tests.support import NOON, FixedClock

PROJECT = Project(project_id="a" * 20, name="here", folders=(), created_at=NOON)
LATER = frozenset(
    {
        "tasks",
        "messages",
        "documents",
        "agents",
        "conversations",
        "checkpoints",
        "receipts",
        "feedback",
    }
)
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.fixture
def other(tmp_path: Path, clock: FixedClock) -> Home:
    return Home(tmp_path / "other", Ids(clock), Rule())


def kept(vault: Vault) -> dict[str, dict[str, object]]:
    shelves = records.shelves(vault)
    return {name: dict(shelves[name].by_id()) for name in LATER | {"memories", "jobs", "processed"}}


def filled(home: Home, words: str) -> list[bytes]:
    home.put(PROJECT)
    vault = home.vault(PROJECT.project_id)
    records.keep_everything(vault, words)
    return list(export.export(vault, PROJECT))


def test_every_kind_of_record_travels_and_arrives_once(home: Home, other: Home) -> None:
    """Part of H2."""
    lines = filled(home, "words")
    moved = export.load(other, lines, None)
    there = other.vault(PROJECT.project_id)
    here = kept(home.vault(PROJECT.project_id))
    for records_ in here.values():
        assert len(records_) == 1
    assert {name: there_ for name, there_ in kept(there).items() if name in LATER} == {
        name: {key: _owned(one) for key, one in own.items()}
        for name, own in here.items()
        if name in LATER
    }
    changes = there.database.sequence()
    assert export.load(other, lines, None) == moved
    assert there.database.sequence() == changes
    once = list(export.export(there, PROJECT))
    assert len(once) == len(lines)
    other.close()


def _owned(record: object) -> object:
    assert isinstance(record, msgspec.Struct)
    if "project_id" in record.__struct_fields__:
        return msgspec.structs.replace(record, project_id=PROJECT.project_id)
    return record


def test_what_is_here_already_stays_as_it_is(home: Home, other: Home) -> None:
    """Part of H2."""
    lines = filled(home, "words")
    there = other.vault(PROJECT.project_id)
    own = msgspec.structs.replace(
        records.filled("tasks", Task, "mine"), status="done", title="My own"
    )
    with there.transaction():
        there.write([there.tasks.put(records.ULID, own)])
    export.load(other, lines, None)
    assert there.tasks.all() == [own]
    other.close()


def test_an_older_export_still_loads(home: Home, other: Home) -> None:
    """Part of H2: one that was written before there were tasks."""
    lines = filled(home, "words")
    old = [
        line for line in lines if not any(b'"table":"%b"' % one.encode() in line for one in LATER)
    ]
    ending = msgspec.json.decode(old[-1])
    old[-1] = msgspec.json.encode(ending | {"others": ending["others"] - len(LATER)})
    assert len(lines) - len(old) == len(LATER)
    assert export.load(other, old, None).memories == 1
    other.close()


def test_secrets_stay_outside(home: Home, other: Home) -> None:
    """Part of E11 and H2: what is redacted today may have been exported before."""
    lines = filled(home, f"use {TOKEN} here")
    export.load(other, lines, None)
    there = other.vault(PROJECT.project_id)
    assert there.tasks.all()[0].description == "use [REDACTED] here"
    assert there.documents.ids() == ["use [REDACTED] here"]
    assert there.checkpoints.all()[0].digest == "use [REDACTED] here"
    assert list(there.messages.all()[0].handlings) == ["use [REDACTED] here"]
    export.load(other, lines, None)
    assert len(there.documents) == len(there.agents) == 1
    other.close()


def test_a_line_of_an_unknown_kind_is_refused(home: Home, other: Home) -> None:
    """Part of H4."""
    lines = filled(home, "words")
    lines[-1:] = [b'{"table":"dreams","key":"x","record":{}}', lines[-1]]
    with pytest.raises(InvalidParamsError):
        export.load(other, lines, None)
    other.close()


def test_a_report_tells_of_every_kind_of_record(home: Home) -> None:
    """Part of H2."""
    filled(home, "blue *herons*")
    text = "\n".join(report.report(home.vault(PROJECT.project_id), PROJECT))
    for title in (
        "Tasks",
        "Documents",
        "Messages",
        "Agents",
        "Conversations",
        "Checkpoints",
        "Feedback",
        "Receipts",
    ):
        part = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
        assert r"blue \*herons\*" in part, title


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            lambda vault: vault.documents.put(
                "soul",
                msgspec.structs.replace(
                    records.filled("documents", records.kinds(vault)["documents"], "soul"),
                    content="# Soul\n\n````\ncode\n````\n",
                ),
            ),
            "`````markdown\n# Soul\n\n````\ncode\n````\n`````\n",
        ),
        (
            lambda vault: vault.messages.put(
                "m",
                msgspec.structs.replace(
                    records.filled("messages", Message, "you"), content="# one\n\n<b>two"
                ),
            ),
            "  - \\# one\n  - \\<b\\>two\n  - Read by you",
        ),
        (
            lambda vault: vault.conversations.put(
                "c", records.filled("conversations", Conversation, TOKEN)
            ),
            "  - remember: \\[REDACTED\\]\n",
        ),
    ],
    ids=["document", "message", "conversation"],
)
def test_nothing_breaks_out_of_a_report(
    home: Home, change: Callable[[Vault], Op], line: str
) -> None:
    """Part of H2."""
    vault = home.vault(PROJECT.project_id)
    with vault.transaction():
        vault.write([change(vault)])
    assert line in "\n".join(report.report(vault, PROJECT))
