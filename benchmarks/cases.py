"""One memory in the making: a file in a repository, and the commit that the memory is made of."""

import os
import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.sources import Function, Language
from protocol.memories import Evidence
from sidecar.memory.rules.drafts import Draft

BEGIN = 1_700_000_000
_AUTHOR = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
}


_NOTHING = Draft(type="fact", title="", content="")


@dataclass
class Repository:
    """A repository whose clock goes on by a minute with each commit."""

    folder: Path
    seconds: int = BEGIN

    def git(self, *arguments: str) -> str:
        """Run git, at the time that it is here."""
        stamp = f"{self.seconds} +0000"
        dates = {"GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp}
        done = subprocess.run(
            ["git", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", *arguments],
            cwd=self.folder,
            env=dict(os.environ) | _AUTHOR | dates,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode().strip()

    def commit(self, subject: str) -> str:
        """Commit everything."""
        self.seconds += 60
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)
        return self.git("rev-parse", "HEAD")


@dataclass
class Case:
    """One memory in the making: a file, the function it is about, and what becomes of them."""

    repository: Repository
    chance: random.Random
    number: int
    language: Language
    functions: list[Function]
    path: str
    is_named: bool
    sha: str = ""
    draft: Draft = _NOTHING
    became: dict[str, str] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)

    @property
    def subject(self) -> Function:
        """Give the function that the memory is about."""
        return self.functions[2]

    def write(self, functions: Sequence[Function] | None = None) -> None:
        """Write the file, with these functions or those it has."""
        self.functions = list(functions or self.functions)
        self.put(self.path, self.language.write(self.functions))

    def put(self, path: str, text: str) -> None:
        """Write any file."""
        target = self.repository.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def edit(self, index: int) -> None:
        """Change what a function means."""
        old = self.functions[index]
        self.functions[index] = Function(old.name, old.number + self.chance.randrange(1, 90))
        self.write()

    def move(self, target: str) -> None:
        """Rename the file."""
        (self.repository.folder / target).parent.mkdir(parents=True, exist_ok=True)
        self.repository.git("mv", self.path, target)
        self.path = target

    def commit(self, subject: str = "Go on") -> str:
        """Commit everything, in words that no other case uses."""
        return self.repository.commit(f"{subject} ({self.number})")

    def begin(self) -> None:
        """Write the file, and then the commit that the memory is made of."""
        self.write()
        self.commit("Begin")
        self.tell()

    def tell(self) -> None:
        """Make the commit that the memory is made of."""
        self.edit(2)
        self.say()

    def say(self) -> None:
        """Commit, and say what a memory of this moment says."""
        name = self.path if self.path.endswith(".md") else self.subject.name
        what = f"`{name}`" if self.is_named else "the total"
        self.sha = self.commit("Cap the total")
        self.draft = Draft(
            type="decision",
            title=f"Cap {what}",
            content=f"We cap {what} because the neighbours cannot take more.",
            files=(self.path,) if self.chance.random() < 1 / 2 else (),
            evidence=(Evidence(quote="Cap the total", commit_sha=self.sha),),
        )
