"""Machines of a team, and what they share."""

from collections.abc import Iterator

import pytest

from tests.team.servers import Server, serving


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with serving() as server:
        yield server
