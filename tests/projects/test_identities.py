"""One repository is one project."""

from pathlib import PurePath

import msgspec
import pytest

from protocol.projects import Project
from sidecar.projects.rules import identities
from sidecar.projects.rules.identities import Facts, Pointer
from tests.support import HOUR, NOON

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
    ("known", "asked", "outcome"),
    [
        pytest.param(facts("/a"), facts("/b"), "asks", id="clone or move"),
        pytest.param(
            facts("/a", remote=None), facts("/b", remote=None), "asks", id="move without remote"
        ),
        pytest.param(facts("/a/.git"), facts("/b", remote="/a"), "asks", id="clone on this disk"),
        pytest.param(facts("/a", remote=None), facts("/a"), "joins", id="remote added later"),
        pytest.param(facts("/a", root=None, remote=None), facts("/a"), "joins", id="first commit"),
        pytest.param(
            facts("/a", None, None), facts("/a/.git"), "joins", id="folder became a repository"
        ),
        pytest.param(facts("/a"), facts("/a", root=None), "joins", id="known folder, now shallow"),
        pytest.param(facts("/a"), facts("/b", root=None), "apart", id="only the remote"),
        pytest.param(facts("/a", root=None), facts("/b"), "apart", id="only the remote, rootless"),
        pytest.param(facts("/a"), facts("/b", remote="host/fork"), "apart", id="fork elsewhere"),
        pytest.param(
            facts("/a"), facts("/a", root=OTHER), "apart", id="another repository in its place"
        ),
        pytest.param(
            facts("/x/repo", None, None), facts("/y/repo", None, None), "apart", id="only the name"
        ),
    ],
)
def test_a_project_is_recognised(known: Facts, asked: Facts, outcome: str) -> None:
    """A8: only a folder that is listed joins by itself."""
    existing = project(known)
    assert (identities.match(asked, [existing]) == existing) is (outcome == "joins")
    begun = identities.found(asked, NOON + HOUR, {existing.project_id})
    offered = identities.offers(asked, begun, [existing, begun])
    assert offered == ([existing] if outcome == "asks" else [])
    assert begun.project_id != existing.project_id


def test_a_refused_or_later_project_is_not_offered() -> None:
    """A8."""
    first = project(facts("/a"))
    second = identities.found(facts("/b"), NOON + HOUR, {first.project_id})
    assert identities.offers(facts("/a"), first, [first, second]) == []
    refused = msgspec.structs.replace(second, declined=(first.project_id,))
    assert identities.offers(facts("/b"), refused, [first, refused]) == []
    assert identities.candidates(facts("/b"), refused, [first, refused]) == [first]


GIT, OUTSIDE = PurePath("/a/.git"), PurePath("/secret/.git")


@pytest.mark.parametrize(
    ("pointer", "rule"),
    [
        (Pointer(entry="folder", gitdir=GIT, common=GIT, is_inside=True), "repository"),
        (Pointer(entry="folder", gitdir=GIT, common=OUTSIDE, is_inside=True), "refused"),
        (Pointer(entry="folder", gitdir=OUTSIDE, common=OUTSIDE, is_inside=False), "refused"),
        (Pointer(entry="link", gitdir=OUTSIDE, common=OUTSIDE, is_inside=False), "refused"),
        (
            Pointer(entry="link", gitdir=OUTSIDE, common=OUTSIDE, is_inside=False, is_listed=True),
            "refused",
        ),
        (Pointer(entry="file", gitdir=OUTSIDE, common=OUTSIDE, is_inside=False), "refused"),
        (Pointer(entry="none", gitdir=GIT, common=GIT, is_inside=False), "refused"),
        (
            Pointer(
                entry="file",
                gitdir=OUTSIDE / "worktrees" / "a",
                common=OUTSIDE,
                is_inside=False,
                is_listed=True,
            ),
            "worktree",
        ),
        (
            Pointer(entry="file", gitdir=OUTSIDE, common=OUTSIDE, is_inside=False, is_named=True),
            "submodule",
        ),
        (
            Pointer(entry="file", gitdir=GIT, common=OUTSIDE, is_inside=False, is_named=True),
            "refused",
        ),
        (
            Pointer(entry="folder", gitdir=GIT, common=GIT, is_inside=True, borrowed=[OUTSIDE]),
            "refused",
        ),
        (
            Pointer(entry="folder", gitdir=GIT, common=GIT, is_inside=True, links=[GIT / "refs"]),
            "refused",
        ),
    ],
)
def test_a_pointer_is_followed_only_where_the_repository_says_so_itself(
    pointer: Pointer, rule: str
) -> None:
    """A8."""
    judged, reason = identities.judge(pointer)
    assert judged == rule
    assert bool(reason) == (rule == "refused")


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
