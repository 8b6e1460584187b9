"""Fixtures: the process in which scenes are played."""

from collections.abc import Iterator

import pytest

from tests.crash.theatre import Theatre, build


@pytest.fixture(scope="session")
def theatre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    theatre = Theatre(build(tmp_path_factory.mktemp("library")))
    yield theatre
    theatre.close()
