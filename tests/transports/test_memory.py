"""Memory on the command line, as a user makes, finds and forgets it."""

import json
from pathlib import Path

import pytest

from sidecar.transports.exits import Exit
from tests.support import HOUR, NOON, Repository, threadline

pytestmark = pytest.mark.slow

DECISION = "Use advisory locks instead of Redis because we run no Redis in production"


@pytest.fixture
def worked(repository: Repository) -> Repository:
    repository.commit(DECISION, at=NOON, name="locks.py")
    repository.commit("Add a worker that takes jobs one by one", at=NOON + HOUR, name="worker.py")
    repository.commit("Never write into a user's repository", at=NOON + 9 * HOUR, name="store.py")
    assert threadline("scan", cwd=repository.path).returncode == Exit.OK
    return repository


def test_memory_is_made_found_and_explained(worked: Repository) -> None:
    """Part of C1 and D7."""
    made = threadline("enrich", "--all", cwd=worked.path)
    assert made.returncode == Exit.OK
    assert b"1 proposed, from 2 sessions" in made.stderr
    listed = threadline("review", "--list", cwd=worked.path)
    assert b"Use advisory locks instead of Redis" in listed.stdout
    accepted = threadline("review", "--all-of", "decision", "--accept", cwd=worked.path)
    assert b"1 proposal accepted; 0 left" in accepted.stderr
    assert threadline("review", "--all-of", "decision", cwd=worked.path).returncode == Exit.USAGE
    found = threadline("search", "why", "no", "Redis?", "--explain", cwd=worked.path)
    assert b"Use advisory locks instead of Redis" in found.stdout.splitlines()[0]
    assert b"words +" in found.stdout
    why = {
        "type": "decision",
        "title": "Ship by boat",
        "content": "Ship by boat",
        "rationale": "Roads flood",
    }
    threadline("call", "threadline/memories/write", json.dumps(why), cwd=worked.path)
    assert b"Roads flood" in threadline("search", "boat", cwd=worked.path).stdout
    assert b"  Why: Roads flood" in threadline("export", "--markdown", "-", cwd=worked.path).stdout
    jobs = json.loads(threadline("jobs", "--json", cwd=worked.path).stdout)
    assert [job["status"] for job in jobs["jobs"]] == ["completed", "completed"]
    assert b"completed" in threadline("jobs", cwd=worked.path).stdout
    again = json.loads(threadline("enrich", "--all", "--json", cwd=worked.path).stdout)
    assert again["jobs"] == []


def test_one_session_is_enriched_by_the_end_of_its_id(worked: Repository) -> None:
    """Part of C1."""
    page = json.loads(threadline("sessions", "--json", cwd=worked.path).stdout)
    older = page["sessions"][1]["sessionId"]
    made = json.loads(threadline("enrich", older[-8:], "--json", cwd=worked.path).stdout)
    assert [job["sessionId"] for job in made["jobs"]] == [older]
    assert threadline("enrich", "ZZZZ", cwd=worked.path).returncode == Exit.NOT_FOUND


def test_a_memory_of_ones_own_is_kept_found_and_forgotten(worked: Repository) -> None:
    """Part of C4 and H3."""
    text = "The staging database is refreshed every night"
    kept = threadline("remember", text, "--tag", "infra", "--json", cwd=worked.path)
    memory = json.loads(kept.stdout)["memory"]
    assert (memory["title"], memory["tags"]) == (text, ["infra"])
    assert b"skipped" in threadline("remember", text, cwd=worked.path).stderr
    assert b"every night" in threadline("search", "staging", cwd=worked.path).stdout
    gone = threadline("forget", memory["memoryId"][-10:], cwd=worked.path)
    assert gone.returncode == Exit.OK
    assert b"nothing is left" in gone.stderr
    assert b"nothing found" in threadline("search", "staging", cwd=worked.path).stderr
    again = threadline("forget", memory["memoryId"], cwd=worked.path)
    assert again.returncode == Exit.NOT_FOUND


def test_a_purge_asks_before_it_removes(worked: Repository, tmp_path: Path) -> None:
    """Part of H3."""
    refused = threadline("purge", "--phrase", "advisory locks", cwd=worked.path)
    assert refused.returncode == Exit.USAGE
    assert b"nothing was removed" in refused.stderr
    other = threadline("purge", "--phrase", "Advisory Locks", "--yes", cwd=worked.path)
    assert other.returncode == Exit.OK
    assert b"case counts, so name them as you see them" in other.stderr
    assert b"case counts" in threadline("purge", "--help", cwd=worked.path).stdout
    done = threadline("purge", "--phrase", "advisory locks", "--yes", cwd=worked.path)
    assert b"case counts" not in done.stderr
    assert (done.returncode, b"nothing is left" in done.stderr) == (Exit.OK, True)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert b"advisory" not in kept
    assert b"[FORGOTTEN]" in kept
    everything = threadline("purge", "--everything", "--yes", cwd=worked.path)
    assert everything.returncode == Exit.OK
    listed = json.loads(threadline("sessions", "--json", cwd=worked.path).stdout)
    assert listed["total"] == 0


def test_paths_are_meant_from_where_the_user_is(worked: Repository) -> None:
    """Part of H3."""
    worked.write("app/pay.py")
    worked.commit("Pay in cents", at=NOON + 10 * HOUR, name="app/pay.py")
    threadline("scan", cwd=worked.path)
    kept = threadline("remember", "Cents are integers", "--path", "pay.py", cwd=worked.path / "app")
    assert kept.returncode == Exit.OK
    absolute = str(worked.path / "app" / "pay.py")
    for name, folder in (("./app/pay.py", worked.path), ("pay.py", worked.path / "app")):
        found = threadline("search", "cents", "--path", name, cwd=folder)
        assert b"Cents are integers" in found.stdout, name
    done = threadline("purge", "--path", absolute, "--yes", cwd=worked.path / "app")
    assert b"1 memory and 1 event changed" in done.stderr
    assert b"app/pay.py" not in threadline("export", cwd=worked.path).stdout


def test_old_sessions_are_compacted(worked: Repository) -> None:
    """Part of A6."""
    none = threadline("sessions", "compact", cwd=worked.path)
    assert none.returncode == Exit.USAGE
    done = threadline("sessions", "compact", "--older-than", "1", cwd=worked.path)
    assert b"2 sessions compacted" in done.stderr
    page = json.loads(threadline("sessions", "--json", cwd=worked.path).stdout)
    assert [session["status"] for session in page["sessions"]] == ["compacted"] * 2
    shown = threadline("sessions", "show", cwd=worked.path)
    assert b"Never write into a user's repository" in shown.stdout


def test_everything_is_exported_and_imported(worked: Repository, tmp_path: Path) -> None:
    """Part of H2."""
    threadline("enrich", "--all", cwd=worked.path)
    threadline("sessions", "compact", "--older-than", "1", cwd=worked.path)
    first = threadline("export", cwd=worked.path).stdout
    other = str(tmp_path / "other")
    loaded = threadline("import", cwd=worked.path, stdin=first, THREADLINE_HOME=other)
    assert loaded.returncode == Exit.OK, loaded.stderr
    assert threadline("export", cwd=worked.path, THREADLINE_HOME=other).stdout == first
    found = threadline("search", "Redis", cwd=worked.path, THREADLINE_HOME=other)
    assert b"advisory locks" in found.stdout


def test_memory_is_written_for_people_to_read(worked: Repository) -> None:
    """Part of H2."""
    threadline("enrich", "--all", cwd=worked.path)
    threadline("review", "--all-of", "decision", "--accept", cwd=worked.path)
    written = threadline("export", "--markdown", cwd=worked.path).stdout.decode()
    assert "\n## Decision\n\n- **Use advisory locks instead of Redis**" in written
    assert "commit" in written.split("## Decision")[1]


def test_a_model_that_is_not_set_up_says_how(worked: Repository) -> None:
    """Part of C6."""
    refused = threadline("enrich", "--provider", "http", cwd=worked.path)
    assert refused.returncode == Exit.MODEL_FAILED
    assert b"modelBaseUrl" in refused.stderr
