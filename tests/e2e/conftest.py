"""Fixtures: a repository that is open in each kind of editor."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.editors import CLIENTS, Day, open_editor
from tests.support import Repository


@pytest_asyncio.fixture(params=CLIENTS)
async def day(request: pytest.FixtureRequest, repository: Repository) -> AsyncIterator[Day]:
    repository.commit("before")
    settings = {"saveIntervalSeconds": 60}
    async with open_editor(Day, repository, request.param, settings=settings) as day:
        yield day
