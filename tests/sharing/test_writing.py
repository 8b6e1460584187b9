"""Writing documents: people decide who may, nobody overwrites what they have not read, and what was stays readable."""

from pathlib import Path

import msgspec
import pytest

from protocol.documents import ReadDocumentParams, WriteDocumentParams, WrittenDocument
from protocol.errors import ConflictError, InvalidParamsError, NotFoundError
from protocol.projects import ProjectParams
from sidecar.sharing import documents
from sidecar.storage.vault import Vault
from sidecar.upkeep import purge
from tests.memory.test_remember import write as remember
from tests.support import HOUR, FixedClock, reopen

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


def write(vault: Vault, name: str, content: str | None, **more: object) -> WrittenDocument:
    params = msgspec.structs.replace(WriteDocumentParams(name=name, content=content), **more)
    return documents.write(vault, params)


def read(vault: Vault, name: str, version: int | None = None) -> str:
    return documents.read(vault, ReadDocumentParams(name=name, version=version)).content


def test_a_document_is_written_read_and_written_again(vault: Vault, clock: FixedClock) -> None:
    """Part of D10."""
    first = write(vault, "instructions", "# One", expected_version=0)
    began = clock.now
    clock.pass_(HOUR)
    second = write(vault, "instructions", "# Two", expected_version=1)
    assert (first.outcome, second.outcome) == ("created", "updated")
    shown = second.document
    assert (shown.version, shown.versions, shown.agent_editable) == (2, (2, 1), False)
    assert (shown.created_at, shown.updated_at) == (began, clock.now)
    assert (read(vault, "instructions"), read(vault, "instructions", 1)) == ("# Two", "# One")
    assert write(vault, "instructions", "# Two").outcome == "unchanged"
    other = reopen(vault)
    assert (read(other, "instructions"), read(other, "instructions", 1)) == ("# Two", "# One")
    other.close()


@pytest.mark.parametrize("name", ["skills", "soul"])
def test_who_may_change_a_document_is_told_without_its_text(vault: Vault, name: str) -> None:
    """Part of D10: ours stays, too."""
    if name != "soul":
        write(vault, name, "# How")
    before = read(vault, name)
    written = write(vault, name, None, agent_editable=True).document
    assert (written.agent_editable, written.content) == (True, before)
    assert read(reopen(vault), name) == before
    assert write(vault, name, None, agent_editable=True).outcome == "unchanged"


@pytest.mark.parametrize(("name", "more"), [("checks", {"agent_editable": True}), ("soul", {})])
def test_without_a_text_nothing_new_is_written(
    vault: Vault, name: str, more: dict[str, object]
) -> None:
    """Part of D10."""
    with pytest.raises(InvalidParamsError) as refusal:
        write(vault, name, None, **more)
    assert (refusal.value.field, len(vault.documents)) == ("content", 0)


def test_who_has_read_an_older_version_changes_nothing(vault: Vault) -> None:
    """Part of D10."""
    write(vault, "skills", "one")
    other = reopen(vault)
    write(other, "skills", "two", expected_version=1)
    with pytest.raises(ConflictError) as refusal:
        write(vault, "skills", "three", expected_version=1)
    assert (refusal.value.field, refusal.value.current) == ("expectedVersion", 2)
    with pytest.raises(ConflictError) as refusal:
        write(vault, "checks", "new", expected_version=1)
    assert refusal.value.current == 0
    assert read(vault, "skills") == "two"
    assert "checks" not in vault.documents
    other.close()


@pytest.mark.parametrize("name", ["soul", "instructions", "skills", "checks"])
def test_an_agent_changes_only_what_it_may(vault: Vault, name: str) -> None:
    """Part of D10 and F10."""
    for _ in range(2):
        with pytest.raises(ConflictError) as refusal:
            write(vault, name, "mine", agent_id="cursor")
        assert refusal.value.field == "agentId"
        assert name in str(refusal.value)
        write(vault, name, "theirs")
    write(vault, name, "theirs", agent_editable=True)
    changed = write(vault, name, "mine", agent_id="cursor").document
    assert (changed.agent_id, changed.agent_editable) == ("cursor", True)
    write(vault, name, "theirs again", agent_id="user", agent_editable=False)
    with pytest.raises(ConflictError):
        write(vault, name, "mine again", agent_id="cursor")
    assert read(vault, name) == "theirs again"


def test_an_agent_may_begin_documents_of_its_own_but_not_open_or_close_them(vault: Vault) -> None:
    """Part of D10."""
    made = write(vault, "release notes", "draft", agent_id="cursor").document
    assert (made.agent_editable, made.agent_id) == (True, "cursor")
    with pytest.raises(ConflictError) as refusal:
        write(vault, "release notes", "draft 2", agent_id="cursor", agent_editable=False)
    assert refusal.value.field == "agentEditable"
    assert write(vault, "release notes", "draft 2", agent_id="other").outcome == "updated"


def test_the_last_twenty_versions_can_be_read(vault: Vault) -> None:
    """Part of D10."""
    for number in range(1, 26):
        write(vault, "skills", f"version {number}")
    write(vault, "checks", "another")
    shown = documents.read(vault, ReadDocumentParams(name="skills"))
    assert shown.versions == tuple(range(25, 5, -1))
    for number in shown.versions:
        assert read(vault, "skills", number) == f"version {number}"
    for gone in (5, 26):
        with pytest.raises(NotFoundError) as refusal:
            read(vault, "skills", gone)
        assert refusal.value.field == "version"
    assert len(vault.revisions) == 19


def test_documents_are_listed_without_their_texts(vault: Vault, clock: FixedClock) -> None:
    """Part of D10."""
    write(vault, "a style", "Be brief.", agent_id="cursor")
    write(vault, "checks", "Run the tests.")
    listed = documents.list_documents(vault, ProjectParams()).documents
    assert [(one.name, one.version, one.chars) for one in listed[1:]] == [
        ("checks", 1, 14),
        ("a style", 1, 9),
    ]
    assert (listed[0].name, listed[0].version, listed[0].updated_at) == ("soul", 0, None)
    assert (listed[2].agent_id, listed[2].agent_editable) == ("cursor", True)
    assert listed[1].updated_at == clock.now


def test_our_own_soul_can_be_read_and_others_are_named_where_one_is_missing(vault: Vault) -> None:
    """Part of D10."""
    assert read(vault, "soul").startswith("# What this memory is")
    with pytest.raises(NotFoundError, match="there are: soul") as refusal:
        read(vault, "nothing")
    assert refusal.value.field == "name"


def test_words_that_an_earlier_version_says_stay_there(vault: Vault, tmp_path: Path) -> None:
    """Part of H3: nobody asked to forget those."""
    memory = remember(vault, "Sign the uploads before release").memory
    write(vault, "skills", "Mind: Sign the uploads before release")
    write(vault, "skills", "Nothing")
    report = purge.forget(vault, [memory.memory_id], tmp_path / "logs")
    assert (report.verified, report.said_elsewhere) == (True, True)
    assert read(vault, "skills", 1) == "Mind: Sign the uploads before release"
    assert purge.forget_phrase(vault, "the uploads", tmp_path / "logs").verified
    assert read(vault, "skills", 1) == "Mind: Sign [FORGOTTEN] before release"


def test_no_secret_is_kept(vault: Vault) -> None:
    """Part of E11."""
    write(vault, "skills", f"Use {TOKEN} <private>here</private>")
    assert read(vault, "skills") == "Use [REDACTED] "
    with pytest.raises(InvalidParamsError) as refusal:
        write(vault, TOKEN, "named after it")
    assert refusal.value.field == "name"
    data = b"".join(path.read_bytes() for path in vault.folder.rglob("*") if path.is_file())
    assert TOKEN.encode() not in data
