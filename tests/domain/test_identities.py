"""One repository is one project."""

import pytest

from protocol.projects import Project
from sidecar.domain import identities
from sidecar.domain.identities import Facts
from tests.support import NOON

ROOT = "a" * 40
OTHER = "b" * 40


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/acme/tool.git",
        "https://github.com/acme/tool",
        "https://github.com/acme/tool/",
        "git@github.com:acme/tool.git",
        "ssh://git@github.com/acme/tool.git",
        "ssh://git@GitHub.com:22/acme/tool.git",
        "https://user:secret@github.com/acme/tool",
    ],
)
def test_the_same_remote_in_any_spelling_is_the_same(address: str) -> None:
    """A8."""
    assert identities.normalise(address) == "github.com/acme/tool"


def project(facts: Facts) -> Project:
    return identities.found(facts, NOON)


def facts(folder: str, root: str | None = ROOT, remote: str | None = "host/repo") -> Facts:
    return Facts(folder=folder, name="repo", root=root, remote=remote)


@pytest.mark.parametrize(
    ("known", "asked", "is_same"),
    [
        pytest.param(facts("/a"), facts("/b"), True, id="clone or move"),
        pytest.param(
            facts("/a", remote=None), facts("/b", remote=None), True, id="move without remote"
        ),
        pytest.param(facts("/a", remote=None), facts("/a"), True, id="remote added later"),
        pytest.param(facts("/a", root=None, remote=None), facts("/a"), True, id="first commit"),
        pytest.param(facts("/a"), facts("/b", root=None), True, id="shallow clone"),
        pytest.param(facts("/a"), facts("/b", remote="host/fork"), False, id="fork elsewhere"),
        pytest.param(
            facts("/a"), facts("/a", root=OTHER), False, id="another repository in its place"
        ),
        pytest.param(
            facts("/x/repo", None, None), facts("/y/repo", None, None), False, id="only the name"
        ),
    ],
)
def test_a_project_is_recognised(known: Facts, asked: Facts, is_same: bool) -> None:
    """A8."""
    existing = project(known)
    assert (identities.match(asked, [existing]) == existing) is is_same


def test_the_same_repository_has_the_same_id_on_every_machine() -> None:
    """A8."""
    assert project(facts("/a")).project_id == project(facts("/elsewhere")).project_id
    assert project(facts("/a")).project_id != project(facts("/a", root=OTHER)).project_id


def test_what_is_learned_is_added() -> None:
    """A8."""
    first = project(facts("/a", remote=None))
    assert identities.learn(first, facts("/b")) == Project(
        project_id=first.project_id,
        name="repo",
        folders=("/a", "/b"),
        root=ROOT,
        remotes=("host/repo",),
        created_at=NOON,
    )
