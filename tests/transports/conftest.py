"""Fixtures: a dashboard that runs, a browser that was let in, and a tab of it."""

from collections.abc import Iterator

import pytest

from tests.support import NOON, Repository
from tests.webs import Dashboard, Tab, Visitor


@pytest.fixture
def dashboard(repository: Repository) -> Iterator[Dashboard]:
    repository.commit("begin", at=NOON)
    with Dashboard(repository.path) as dashboard:
        yield dashboard


@pytest.fixture
def visitor(dashboard: Dashboard) -> Visitor:
    return dashboard.visit()


@pytest.fixture
def tab(visitor: Visitor) -> Iterator[Tab]:
    with visitor.open_tab() as tab:
        yield tab
