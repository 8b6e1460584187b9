"""A model reads the events, over HTTP, within its budget, and is believed only where it quotes."""

import json
from pathlib import Path
from typing import Any

import pytest

from protocol.jobs import Job
from protocol.settings import Settings
from sidecar.app import Application
from sidecar.capture import record as capture_record
from sidecar.memory.llm.keys import VARIABLE
from sidecar.storage.home import Home
from sidecar.storage.vault import Vault
from tests.memory.test_model_servers import KEY, Server, answer, refuse, server
from tests.memory.test_pipeline import DECISION, commit

pytestmark = pytest.mark.slow

__all__ = ["server"]


def said(items: list[Any]) -> Any:
    text = json.dumps({"items": items})
    return answer(
        {
            "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 700, "completion_tokens": 60},
        }
    )


def item(event_id: str, quote: str) -> dict[str, Any]:
    return {
        "type": "decision",
        "title": "Jobs are guarded by advisory locks",
        "content": "Advisory locks guard the jobs; Redis is not used.",
        "rationale": "There is no Redis in production.",
        "evidence": [{"eventId": event_id, "quote": quote}],
    }


@pytest.fixture
def app(home: Home, tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> Application:
    monkeypatch.setenv(VARIABLE, KEY)
    app = Application(home, here=tmp_path, source="test")
    app.settings = Settings(model_provider="http", model_base_url=server.url, model_name="small")
    return app


def vault_of(app: Application) -> Vault:
    return app.vault(None)


def start(app: Application) -> Job:
    job = app.call("threadline/enrichment/start", {})
    assert isinstance(job, Job)
    return job


def record(app: Application) -> str:
    placed = capture_record.ingest(vault_of(app), [commit("Lock jobs", f"{DECISION}.")], "test")
    return str(placed[0].event_id)


def test_a_model_over_http_makes_memory(app: Application, server: Server) -> None:
    """C6."""
    event_id = record(app)
    server.plans = [
        refuse(429, Retry_After="0"),
        said([item(event_id, "advisory locks instead of Redis"), item(event_id, "Ada said so")]),
    ]
    job = start(app)
    assert (job.status, job.provider, job.created, job.tokens) == ("completed", "http", 1, 760)
    (memory,) = vault_of(app).memories.all()
    assert memory.title == "Jobs are guarded by advisory locks"
    assert [one.quote for one in memory.evidence] == ["advisory locks instead of Redis"]
    path, body, headers = server.requests[-1]
    assert (path, body["model"]) == ("/v1/chat/completions", "small")
    assert headers["authorization"] == f"Bearer {KEY}"
    assert KEY.encode() not in b"".join(
        one.read_bytes() for one in app.home.folder.rglob("*") if one.is_file()
    )


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        (refuse(401), "401"),
        (answer(b"<html>"), "no completion"),
        (answer({"choices": []}), "without a choice"),
        (answer({"choices": [{"message": {"content": "Sure! Here you are."}}]}), "prose"),
    ],
    ids=["refused", "page", "empty", "prose"],
)
def test_whatever_goes_wrong_fails_the_job_and_can_be_retried(
    app: Application, server: Server, plan: Any, problem: str
) -> None:
    """C6. Part of C3."""
    record(app)
    server.plans = [plan]
    job = start(app)
    assert (job.status, [s.status for s in job.stages][:2]) == ("failed", ["failed", "pending"])
    assert problem in str(job.error)
    assert vault_of(app).memories.all() == []
    server.plans = [said([])]
    assert start(app).status == "completed"


def test_what_a_job_and_a_day_may_cost_is_limited(app: Application, server: Server) -> None:
    """C6."""
    event_id = record(app)
    app.settings = Settings(
        model_provider="http",
        model_base_url=server.url,
        model_name="small",
        model_tokens_per_job=1000,
    )
    job = start(app)
    assert (job.status, len(server.requests)) == ("failed", 0)
    assert "1,000 tokens" in str(job.error)
    app.settings = Settings(
        model_provider="http",
        model_base_url=server.url,
        model_name="small",
        model_tokens_per_day=4000,
    )
    server.plans = [said([item(event_id, "advisory locks")])]
    assert start(app).status == "completed"
    for number in (2, 3, 4, 5):
        capture_record.ingest(vault_of(app), [commit("More", DECISION, number=number)], "test")
        job = start(app)
    assert (job.status, "day" in str(job.error)) == ("failed", True)
    assert len(server.requests) < 5
