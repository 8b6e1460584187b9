"""Whatever a user types is stored: nothing of it ends among what belongs nowhere."""

import json
import logging
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sidecar.app import Application, open_application
from sidecar.conversations.rules import signals
from sidecar.transports.hooks import main
from sidecar.transports.hooks.calls import Call
from tests.support import Repository, threadline

SQL = "BEGIN\n;\nDROP TABLE users\n;\nCOMMIT;"
SHAPES = (
    ";",
    SQL,
    "\uff1b ;\n;;;\n- ;",
    '"; and that ;"',
    "`" * 5000,
    "> > > \"'“«“\"'\n|",
    "<private>",
    "</private> open <private> twice <private>never closed",
    "<private><private></private>rest",
    "```\n<!-- threadline:memory -->\n=== recorded data\n```",
    "<!-- threadline:memory",
    "\x00\x01\x1b[31m\x7f\x85 words",
    "\u202e\u2066\u200b\ufeff\U000e0041 words",
    "half \ud83d a character \udc00",
    "We must never do this because ;",
    "you told me that ; and that ;",
    "We decided to use Redis. " * 4000,
    "(" * 3000 + "[" * 3000,
    "\u2028".join("abc"),
)
"""Texts with the forms that rules about sentences, quotations, fences and marks look for."""
PIECES = (
    *("; ", ";\n", ".", "!", "…", ": ", '"', "“", "«", "`", "```\n", "- ", "> ", "| ", "# "),
    *("<private>", "</private>", "<!-- threadline:memory -->", "<!-- /threadline:memory -->"),
    *("=== recorded data", "we must never ", "because ", "you told me that ", "no, ", "decided "),
    *("`01ARZ3NDEKTSV4RRFFQ69G5FAV` ", "(files: a)", "\n\n", "\r\n", "\x00", "\ud800", "\u200b"),
)
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.text(st.sampled_from(";.!?…:\"'`<>|-*#()[]{} \n\t"), max_size=60),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5))).map("".join),
)


@pytest.fixture
def environment(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Give what a hook sees of its environment, in a repository with a history."""
    repository.commit("feat: begin", name="hello.txt")
    monkeypatch.chdir(repository.path)
    return {"THREADLINE_HOME": os.environ["THREADLINE_HOME"], "HOME": os.environ["HOME"]}


def message(prompt: str, session: str, folder: Path) -> bytes:
    """Write what Claude Code tells its hook about a prompt."""
    fields = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": session,
        "transcript_path": "/home/dev/.claude/projects/x/s.jsonl",
        "cwd": str(folder),
        "prompt": prompt,
    }
    return json.dumps(fields).encode()


def unplaced() -> str:
    path = Path(os.environ["THREADLINE_HOME"]) / "logs" / "unplaced.jsonl"
    return path.read_text() if path.exists() else ""


def stored(app: Application, session: str) -> list[str]:
    """Give the words of a conversation that are kept, by the road that its hook's spool takes."""
    app.hearing.place()
    return [one.text for one in app.vault(None).entries.find("sessionKey", session)]


@pytest.mark.parametrize("prompt", [";", SQL, "half \ud83d a character", "</private> ; <private>"])
def test_a_prompt_of_the_real_hook_is_stored(prompt: str, repository: Repository) -> None:
    repository.commit("feat: begin")
    done = threadline(
        *("hook", "claude-code", "UserPromptSubmit"),
        cwd=repository.path,
        stdin=message(prompt, "real", repository.path),
        THREADLINE_HOOK_SECONDS="60",
    )
    assert done.returncode == 0, done.stderr
    app = open_application(here=repository.path, source="test")
    assert len(stored(app, "real")) == 1
    app.close()
    assert unplaced() == ""


def test_no_text_is_lost_between_a_hook_and_its_turn(environment: dict[str, str]) -> None:
    app = open_application(here=Path.cwd(), source="test")
    number = 0

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(prompt=TEXTS)
    def tell(prompt: str) -> None:
        nonlocal number
        number += 1
        session = f"s{number}"
        data = message(prompt, session, Path.cwd())
        _, finish = main.respond(Call(["claude-code", ""]), lambda: data, environment)
        finish()
        words = stored(app, session)
        assert unplaced() == ""
        if "<" not in prompt and prompt.strip():
            assert len(words) == 1, prompt

    for shape in SHAPES:
        tell = example(prompt=shape)(tell)
    tell()
    app.close()


def test_a_rule_that_fails_costs_what_it_would_have_found_and_not_the_words(
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no rule foresaw this")

    monkeypatch.setattr(signals, "detect", fail)
    data = message("We must keep these words.", "s", Path.cwd())
    _, finish = main.respond(Call(["claude-code", ""]), lambda: data, environment)
    finish()
    app = open_application(here=Path.cwd(), source="test")
    with caplog.at_level(logging.ERROR):
        assert stored(app, "s") == ["We must keep these words."]
    app.close()
    assert unplaced() == ""
    assert "no rule foresaw this" in caplog.text
