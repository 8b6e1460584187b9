"""`threadline doctor`, in homes and repositories with known faults."""

import json
from pathlib import Path

import pytest

from sidecar.transports.exits import Exit
from tests.support import Repository, threadline


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a user's folder in which Claude Code and Cursor are installed."""
    user = tmp_path / "user"
    (user / ".claude").mkdir(parents=True)
    (user / ".cursor").mkdir()
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return user


def diagnose(folder: Path) -> tuple[int, dict[str, list[tuple[str, str, str | None]]]]:
    """Run the command; return its exit code, and its findings by what they are about."""
    run = threadline("doctor", "--json", cwd=folder)
    by_subject: dict[str, list[tuple[str, str, str | None]]] = {}
    for finding in json.loads(run.stdout)["findings"]:
        row = (finding["state"], finding["text"], finding.get("fix"))
        by_subject.setdefault(finding["about"], []).append(row)
    return run.returncode, by_subject


@pytest.mark.slow
def test_doctor_names_what_is_missing_and_its_fix(user: Path, repository: Repository) -> None:
    """G8."""
    repository.commit("begin")
    code, findings = diagnose(repository.path)
    assert code == Exit.OK
    assert findings["git"][0][0] == "ok"
    assert findings["capture"] == [("note", "nothing is recorded yet", "threadline scan")]
    assert findings["claude-code"][0][0::2] == ("note", "threadline connect claude-code")
    assert {"cursor"} <= findings.keys()
    assert "opencode" not in findings
    threadline("connect", "claude-code", cwd=repository.path)
    threadline("scan", cwd=repository.path)
    repository.commit("a commit nobody has seen", name="b.txt")
    code, findings = diagnose(repository.path)
    assert code == Exit.OK
    assert findings["claude-code"] == [("ok", "Claude Code is connected", None)]
    head = repository.git("rev-parse", "HEAD")
    assert findings["capture"][0][0] == "note"
    assert head[:8] in findings["capture"][0][1]
    settings = user / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace("hook", "hooked", 1))
    code, findings = diagnose(repository.path)
    assert code == Exit.FAILED
    assert findings["claude-code"][0][0::2] == ("problem", "threadline connect claude-code")


@pytest.mark.slow
@pytest.mark.usefixtures("user")
def test_doctor_names_what_is_wrong_with_the_store(
    tmp_path: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit("begin")
    threadline("scan", cwd=repository.path)
    home = tmp_path / "home"
    threadline("pause", cwd=repository.path)
    (home / "logs").mkdir(exist_ok=True)
    (home / "logs" / "parked.jsonl").write_text('{"key": "a"}\n')
    code, findings = diagnose(repository.path)
    assert code == Exit.FAILED
    assert findings["capture"] == [("note", "capture is paused", "threadline resume")]
    assert ("problem", "events that failed three times and are kept aside: 1") in [
        row[:2] for row in findings["hooks"]
    ]
    (vault,) = home.glob("projects/*/vault.sqlite")
    vault.write_bytes(b"not a database" * 1000)
    code, findings = diagnose(repository.path)
    assert code == Exit.FAILED
    assert findings["store"][0][0] == "problem"
    monkeypatch.setenv("PATH", "/nowhere")
    code, findings = diagnose(repository.path)
    assert code == Exit.FAILED
    assert findings["git"][0][0] == "problem"
