"""`threadline rules`: what a user sees of it."""

import json

import pytest

from tests.support import Repository, threadline

pytestmark = pytest.mark.slow


def run(repository: Repository, *words: str) -> tuple[int, str, str]:
    done = threadline("rules", *words, cwd=repository.path)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_rules_are_listed_written_refreshed_and_removed(repository: Repository) -> None:
    """Part of D12."""
    repository.commit("begin")
    repository.write("AGENTS.md", "Use tabs.")
    root = repository.path
    code, listed, _ = run(repository)
    assert code == 0
    assert [line.split()[:3] for line in listed.splitlines()] == [
        [target, "not", "written"] for target in ("agents", "cursor", "windsurf")
    ]
    code, _, said = run(repository, "write", "--target", "agents", "--target", "cursor")
    assert (code, said) == (
        0,
        f"wrote {root}/AGENTS.md\nwrote {root}/.cursor/rules/threadline.mdc\n",
    )
    code, _, said = run(repository, "refresh", "--target", "agents")
    assert (code, said) == (0, f"is up to date: {root}/AGENTS.md\n")
    page = root / "AGENTS.md"
    page.write_text(page.read_text().replace("Memory", "Memories").replace("Nothing", "Much"))
    code, _, said = run(repository, "refresh")
    assert code == 4
    assert "AGENTS.md is left as it is: it was edited by hand; --force overrides that" in said
    code, told, _ = run(repository, "remove", "--force", "--json")
    assert code == 0
    assert [file["outcome"] for file in json.loads(told)["files"]] == ["removed", "removed"]
    assert page.read_text() == "Use tabs."
    assert repository.git("status", "--porcelain") == "?? AGENTS.md"


@pytest.mark.parametrize(
    ("words", "expected", "word"),
    [
        (("write",), 2, "say who is to read it"),
        (("write", "--target", "claude"), 2, "invalid choice"),
        (("refresh",), 0, "there are none"),
        (("remove", "--target", "cursor"), 0, "nothing of ours is in"),
    ],
)
def test_what_cannot_be_done_is_told(
    words: tuple[str, ...], expected: int, word: str, repository: Repository
) -> None:
    """Part of D12."""
    repository.commit("begin")
    code, _, said = run(repository, *words)
    assert (code, word in said) == (expected, True), said
    assert repository.git("status", "--porcelain") == ""
