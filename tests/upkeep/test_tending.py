"""Tending: memory is looked after while a workspace is open, and nobody waits for it."""

import time
from datetime import timedelta

import pytest

from protocol.methods import CloseSessionParams
from sidecar.app import Application
from sidecar.capture import record, timeline
from sidecar.handlers import enrichment
from sidecar.handlers.workspaces import MAINTAIN
from sidecar.search import meanings
from sidecar.search.meanings import Meanings
from sidecar.storage import texts
from sidecar.storage.home import Home
from sidecar.storage.vault import Vault
from tests.memory.test_pipeline import DECISION, commit
from tests.memory.test_remember import write
from tests.support import HOUR, FixedClock, Repository


@pytest.fixture
def app(home: Home, repository: Repository) -> Application:
    repository.commit("before")
    app = Application(home, here=repository.path, source="test")
    app.workspace.arrange([repository.path])
    return app


def vault_of(app: Application) -> Vault:
    return app.vault(None)


def look(app: Application, clock: FixedClock) -> None:
    """Let half a minute pass, look, and wait for what that set going."""
    clock.pass_(MAINTAIN + timedelta(seconds=1))
    app.workspace.look()
    for thread in [*app.background.tending.values()]:
        thread.join(20)


def closed_session(app: Application, clock: FixedClock) -> None:
    events = [commit(f"{DECISION} ({number})", number=number) for number in range(6)]
    record.ingest(vault_of(app), events, "test")
    clock.pass_(HOUR)
    timeline.close_session(vault_of(app), CloseSessionParams())


def test_sessions_are_read_unasked_only_where_that_is_wanted(
    app: Application, clock: FixedClock
) -> None:
    """C1. Part of C10."""
    closed_session(app, clock)
    look(app, clock)
    assert vault_of(app).jobs.all() == []
    app.configure(user={"autoEnrich": True})
    look(app, clock)
    (job,) = vault_of(app).jobs.all()
    assert (job.automatic, job.status, job.events) == (True, "completed", 6)
    look(app, clock)
    assert len(vault_of(app).jobs) == 1


@pytest.mark.slow
def test_what_came_without_its_meaning_gets_it(app: Application, clock: FixedClock) -> None:
    """Part of C7."""
    vault = vault_of(app)
    for number in range(20):
        write(vault, f"Rule {number} of the house", meanings=Meanings(lambda: "none"), dedup=False)
    assert vault.vectors.count() == 0
    look(app, clock)
    assert vault.vectors.count() == 20
    vault.cache.discard()
    look(app, clock)
    assert vault.vectors.count() == 20


@pytest.mark.slow
def test_records_get_their_meaning_in_the_background_the_newest_first(
    app: Application, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C7: within a budget of the processor's time; what is there stays, what is new comes first."""
    vault = vault_of(app)
    subjects = [f"Say number {number}" for number in range(40)]
    record.ingest(vault, [commit(text, number=at) for at, text in enumerate(subjects)], "test")
    spent = iter(range(100))
    monkeypatch.setattr(time, "process_time", lambda: next(spent))
    app.meanings.learn_passages(vault, 2.5)
    learnt = vault.passages.some(subjects)
    assert set(learnt) == set(subjects[-2 * meanings.AT_ONCE :])
    monkeypatch.undo()
    look(app, clock)
    assert len(vault.passages.some(subjects)) == 40
    assert vault.passages.reach() == texts.bounds(vault.database)
    record.ingest(vault, [commit("One more", number=41)], "test")
    app.meanings.learn_passages(vault, 60)
    assert vault.passages.some(["One more"])
    vault.passages.clear()
    assert vault.passages.reach() == (0, 0)


def test_nothing_is_loaded_where_nothing_can_be_done(app: Application, clock: FixedClock) -> None:
    """Part of C7: without a model, memories without a meaning set nothing going."""
    app.meanings = Meanings(lambda: "none", lambda: "not installed")
    write(vault_of(app), "Deploys need two approvals")
    look(app, clock)
    assert (app.background.tending, app.existing("Dialogue")) == ({}, None)


def test_a_failure_is_nobodys_trouble(
    app: Application,
    clock: FixedClock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Part of C1."""
    closed_session(app, clock)
    app.configure(user={"autoEnrich": True})
    monkeypatch.setattr(enrichment, "tend", _fail)
    look(app, clock)
    assert "memory could not be looked after" in caplog.text
    (placed,) = record.ingest(vault_of(app), [commit("Go on", number=99)], "test")
    assert placed.outcome == "stored"


def _fail(*_: object) -> None:
    raise RuntimeError("no room")
