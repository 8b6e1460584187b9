"""The user's own assistants are asked by their command lines: without tools, in an empty folder, not for ever."""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from protocol.errors import CancelledError, ModelFailedError
from sidecar.memory.llm import assistants
from sidecar.memory.llm.assistants import PROGRAMS, AssistantModel
from sidecar.memory.llm.prompts import Completion, Prompt
from sidecar.storage import spool
from tests.desks import Desk
from tests.support import threadline

pytestmark = pytest.mark.slow

PROMPT = Prompt(system="Answer in JSON.", user="What happened?")
ANSWER = '{"items": []}'
OUTPUTS = {
    "claude": json.dumps(
        {
            "type": "result",
            "is_error": False,
            "result": ANSWER,
            "usage": {"input_tokens": 7, "cache_read_input_tokens": 5, "output_tokens": 3},
        }
    ),
    "codex": ANSWER,
    "copilot": f"{ANSWER}\n",
    "gemini": "Loaded credentials.\n" + json.dumps({"response": ANSWER, "stats": {}}, indent=2),
    "opencode": "\n".join(
        json.dumps(line)
        for line in (
            {"type": "step_start", "part": {"type": "step-start"}},
            {"type": "text", "part": {"type": "text", "text": ANSWER}},
        )
    ),
}
_SCRIPT = """#!{python}
import json, os, sys, time
seen = {{"words": sys.argv[1:], "asked": sys.stdin.read(), "folder": os.listdir("."), "cwd": os.getcwd(),
        "hooks": os.environ.get("THREADLINE_HOOKS"), "nested": os.environ.get("CLAUDECODE")}}
open({record!r}, "w").write(json.dumps(seen))
{body}
"""

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a program that writes down how it was asked, and then does as it is told."""
    place = tmp_path / "bin"
    place.mkdir()
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CLAUDECODE", "1")

    def install(name: str, body: str) -> Path:
        record = tmp_path / f"{name}.json"
        file = place / name
        file.write_text(_SCRIPT.format(python=sys.executable, record=str(record), body=body))
        file.chmod(0o755)
        return record

    return install


def ask(
    name: str, *, seconds: float = 30, cancelled: Callable[[], bool] = lambda: False
) -> Completion:
    return AssistantModel(name, seconds).complete(PROMPT, max_tokens=10, cancelled=cancelled)


def test_every_program_has_a_case() -> None:
    assert OUTPUTS.keys() == PROGRAMS.keys()


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_assistant_is_asked_on_standard_input_in_an_empty_folder(
    name: str, install: Install, tmp_path: Path
) -> None:
    """Part of C15. Nobody can read the question in a list of processes, and no hook of ours keeps it."""
    record = install(name, f"print({OUTPUTS[name]!r})")
    completion = ask(name)
    assert completion.text == ANSWER
    seen = json.loads(record.read_text())
    assert PROMPT.user in seen["asked"]
    assert PROMPT.user not in " ".join(seen["words"])
    assert (PROMPT.system in seen["asked"]) != (PROMPT.system in seen["words"])
    assert (seen["hooks"], seen["nested"]) == ("off", None)
    assert [one for one in seen["folder"] if not one.startswith(".")] == []
    assert not Path(seen["cwd"]).exists()
    assert not Path(seen["cwd"]).is_relative_to(tmp_path / "repository")


def test_what_it_took_is_counted_as_told_or_estimated(install: Install) -> None:
    """Part of C15."""
    install("claude", f"print({OUTPUTS['claude']!r})")
    install("codex", f"print({OUTPUTS['codex']!r})")
    assert ask("claude") == Completion(text=ANSWER, input_tokens=12, output_tokens=3)
    estimated = ask("codex")
    assert (estimated.input_tokens, estimated.output_tokens > 0) == (PROMPT.tokens, True)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("print('')", "empty"),
        ("sys.exit('please log in')", "please log in"),
        ("print('{}')", "empty"),
        ("print('no json')", "empty"),
        (
            """print('{"type": "result", "is_error": true, "result": "credit is used up"}')""",
            "credit",
        ),
    ],
)
def test_what_goes_wrong_is_said(install: Install, body: str, said: str) -> None:
    """Part of C15."""
    install("claude", body)
    with pytest.raises(ModelFailedError, match=said):
        ask("claude")


def test_a_program_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Part of C15."""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ModelFailedError, match="`gemini` is not installed"):
        ask("gemini")


def test_a_program_that_hangs_is_ended_with_all_it_started(
    install: Install, tmp_path: Path
) -> None:
    """Part of C15."""
    child = tmp_path / "child"
    install(
        "codex",
        "import subprocess\n"
        f"p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\nopen({str(child)!r}, 'w').write(str(p.pid))\n"
        "time.sleep(600)",
    )
    with pytest.raises(ModelFailedError, match="in time"):
        ask("codex", seconds=2)
    identifier = int(child.read_text())
    until = time.monotonic() + 10
    while Path(f"/proc/{identifier}").exists() and time.monotonic() < until:
        if "Z" in Path(f"/proc/{identifier}/stat").read_text().rpartition(")")[2].split()[0]:
            break
    else:
        assert not Path(f"/proc/{identifier}").exists()


def test_who_cancels_is_heard_soon(install: Install) -> None:
    """Part of C15."""
    install("copilot", "time.sleep(600)")
    begun = time.monotonic()
    with pytest.raises(CancelledError):
        ask("copilot", cancelled=lambda: time.monotonic() - begun > 0.5)
    assert time.monotonic() - begun < 10


def test_an_answer_is_read_up_to_a_limit(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    """Part of C15."""
    monkeypatch.setattr(assistants, "_LARGEST", 1000)
    install("codex", "print('x' * 1_000_000)")
    assert len(ask("codex").text) == 1000


def test_an_assistant_reads_a_session_within_the_same_checks(desk: Desk, install: Install) -> None:
    """Part of C15. What it cannot quote is not believed, and the caps are those of any model."""
    desk.commit("feat: Keep the queue in SQLite because we run no Redis", "queue.py")
    invented = {
        "type": "decision",
        "title": "Use Kafka",
        "content": "We use Kafka.",
        "evidence": [],
    }
    install(
        "claude",
        f"print({json.dumps({'type': 'result', 'result': json.dumps({'items': [invented]})})!r})",
    )
    desk.app.configure(user={"modelProvider": "claude"})
    job = desk.ask("enrichment/start")
    assert (job["provider"], job["status"]) == ("claude", "completed")
    assert "Kafka" not in json.dumps(desk.ask("memories/list"))
    desk.app.configure(user={"modelProvider": "claude", "modelTokensPerJob": 1000})
    desk.commit("fix: Close the queue, since Windows keeps the file", "queue.py")
    capped = desk.ask("enrichment/start")
    assert (capped["status"], "cap" in json.dumps(capped)) == ("failed", True)


def test_an_agent_cannot_spend_on_an_assistant_that_the_user_did_not_choose(
    desk: Desk, install: Install
) -> None:
    """Part of C15: consent is the user's own setting."""
    record = install("claude", f"print({OUTPUTS['claude']!r})")
    desk.commit("feat: Keep the queue in SQLite because we run no Redis", "queue.py")
    desk.app.is_for_people = False
    refusal = desk.refused("enrichment/start", provider="claude")
    assert refusal["data"]["field"] == "provider"
    assert desk.app.configure(project={"modelProvider": "claude"}) != []
    assert not record.exists()


@pytest.mark.parametrize("switch", ["off", ""])
def test_hooks_keep_nothing_of_a_conversation_that_is_ours(tmp_path: Path, switch: str) -> None:
    """Part of C15. Without the switch the same message is kept."""
    message = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "a",
        "transcript_path": f"{tmp_path}/.claude/projects/x/a.jsonl",
        "cwd": str(tmp_path),
        "prompt": "We must never log names.",
    }
    done = threadline(
        "hook",
        "claude-code",
        cwd=tmp_path,
        stdin=json.dumps(message).encode(),
        THREADLINE_HOOKS=switch,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert spool.is_empty(str(tmp_path / "home")) == bool(switch)
    assert (done.stdout == b"") == bool(switch)
