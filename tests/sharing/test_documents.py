"""Documents: there is always a soul, and what a project has written comes before what is ours."""

import pytest

from protocol.documents import Document
from sidecar.sharing import documents
from sidecar.storage.vault import Vault
from tests.support import NOON


def put(vault: Vault, name: str, content: str, *, agent_editable: bool = False) -> Document:
    made = Document(
        name=name,
        project_id=vault.project_id,
        content=content,
        created_at=NOON,
        updated_at=NOON,
        agent_editable=agent_editable,
    )
    with vault.transaction():
        vault.write([vault.documents.put(name, made)])
    return made


def test_a_project_without_a_soul_has_ours(vault: Vault) -> None:
    """Part of D9 and D10."""
    (soul,) = documents.find(vault, ["soul"])
    assert (soul.name, soul.version, soul.agent_editable) == ("soul", 0, False)
    assert 300 < len(soul.content) <= 600
    assert documents.available(vault) == ["soul"]
    assert vault.documents.all() == []


def test_a_projects_own_soul_takes_its_place_even_if_it_says_nothing(vault: Vault) -> None:
    """Part of D10."""
    own = put(vault, "soul", "")
    assert documents.find(vault, ["soul"]) == [own]


def test_documents_come_in_the_order_they_were_asked_for_each_once(vault: Vault) -> None:
    """Part of D10."""
    checks = put(vault, "checks", "Run the tests.")
    style = put(vault, "a-style", "Be brief.", agent_editable=True)
    found = documents.find(vault, ["a-style", "soul", "nothing", "checks", "a-style"])
    assert [one.name for one in found] == ["a-style", "soul", "checks"]
    assert (found[0], found[2]) == (style, checks)
    assert documents.available(vault) == ["soul", "checks", "a-style"]


@pytest.mark.parametrize("name", ["threadline", "x" * 5_000, "two\nlines"])
def test_an_introduction_is_short_whatever_the_project_is_called(name: str) -> None:
    """Part of D9."""
    text = documents.introduction(name)
    assert len(text) <= 300
    assert "Search" in text
    assert text.count("\n") == 1


def test_secrets_are_not_told(vault: Vault) -> None:
    """Part of E11."""
    put(vault, "instructions", "Use ghp_" + "a1B2c3D4e5F6" * 3)
    assert documents.find(vault, ["instructions"])[0].content == "Use [REDACTED]"
