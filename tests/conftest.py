"""Fixtures: a clock that stands still, a store in a temporary folder, real git repositories."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from sidecar.capture.rules.sessions import Rule
from sidecar.storage.home import Home
from sidecar.storage.ulids import Ids
from sidecar.storage.vault import Vault
from tests.desks import Desk
from tests.support import FixedClock, Repository

# How long an example takes says how busy the machine is.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def _isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every test away from the user's own memory, git configuration and conversations."""
    (tmp_path / "nobody").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("THREADLINE_HOME", str(tmp_path / "home"))
    # What hooks start on its own would go on while a test cleans up.
    monkeypatch.setenv("THREADLINE_UPKEEP", "off")
    # Only tests about the deadline may depend on how busy the machine is.
    monkeypatch.setenv("THREADLINE_HOOK_SECONDS", "30")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (tmp_path / "gitconfig").write_text(
        "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
    )


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def home(tmp_path: Path, clock: FixedClock) -> Iterator[Home]:
    home = Home(tmp_path / "home", Ids(clock), Rule())
    yield home
    home.close()


@pytest.fixture
def vault(tmp_path: Path, clock: FixedClock) -> Iterator[Vault]:
    vault = Vault(tmp_path / "vault", "a-project", Ids(clock), Rule())
    with vault.transaction():
        pass
    yield vault
    vault.close()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.create(tmp_path / "repository")


@pytest.fixture
def desk(home: Home, repository: Repository, clock: FixedClock) -> Iterator[Desk]:
    repository.commit("begin", at=clock.now)
    desk = Desk(home, repository, clock)
    yield desk
    desk.close()
