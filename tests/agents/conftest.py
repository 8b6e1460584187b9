"""Fixtures: a bench with a model, on a machine that reaches nobody else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.clients import PACKAGES, Bench
from tests.agents.models import Model
from tests.support import Repository

MEMORY = "Deploys to the zeppelin cluster happen on Tuesdays only."


@pytest.fixture
def bench(tmp_path: Path, repository: Repository) -> Iterator[Bench]:
    """A repository with one memory, and a model that writes a file when it is asked to."""
    if not PACKAGES.is_dir():
        pytest.skip("the assistants are not installed; `make agents-e2e` does it")
    repository.commit("feat: begin")
    file = str(repository.path / "hello.txt")
    text = "hello\n"
    writing = {
        "Write": {"file_path": file, "content": text},
        "create": {"path": file, "file_text": text},
        "write": {"filePath": file, "content": text},
    }
    with Model({"PLEASE-WRITE": writing}) as model:
        bench = Bench(tmp_path, repository, model)
        bench.user.mkdir()
        bench.remember(MEMORY)
        yield bench
