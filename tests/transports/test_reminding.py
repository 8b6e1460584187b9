"""Now and then an assistant is asked in one line to write down what it has learned, and nobody is held up by that."""

import json
from pathlib import Path
from typing import Any

import pytest

from sidecar.transports.exits import Exit
from sidecar.transports.hooks import main
from sidecar.transports.hooks.calls import Call
from tests.support import Repository, threadline

pytestmark = pytest.mark.slow

ASKED = "context_checkpoint"


class Talk:
    """A conversation of Claude Code in a repository."""

    def __init__(self, folder: Path, home: Path, key: str = "talk") -> None:
        self.folder, self.home, self.key, self.count = folder, home, key, 0

    def fire(self, event: str, **fields: Any) -> str:
        message = {
            "hook_event_name": event,
            "session_id": self.key,
            "transcript_path": f"{self.folder}/.claude/projects/x/{self.key}.jsonl",
            "cwd": str(self.folder),
            **fields,
        }
        environment = {"THREADLINE_HOME": str(self.home), "HOME": str(self.home)}
        data = json.dumps(message).encode()
        answer, finish = main.respond(Call(["claude-code"]), lambda: data, environment)
        finish()
        return answer.decode()

    def prompt(self) -> str:
        self.count += 1
        number = f"{self.key}-{self.count}"
        return self.fire("UserPromptSubmit", prompt=f"Please do step {number}.", prompt_id=number)

    def stop(self, **fields: Any) -> str:
        return self.fire("Stop", last_assistant_message=f"Did step {self.count}.", **fields)


@pytest.fixture
def talk(repository: Repository, tmp_path: Path) -> Talk:
    repository.commit("begin")
    talk = Talk(repository.path, tmp_path / "home")
    talk.fire("SessionStart", source="startup")
    return talk


def choose(talk: Talk, **settings: Any) -> None:
    talk.home.mkdir(exist_ok=True, mode=0o700)
    (talk.home / "settings.json").write_text(json.dumps(settings))


def test_after_twelve_prompts_one_line_asks_for_a_checkpoint(talk: Talk) -> None:
    """Part of C15."""
    asked = [number for number in range(1, 37) if ASKED in talk.prompt()]
    assert asked == [12, 24, 36]


def test_the_line_is_one_and_names_a_limit(talk: Talk) -> None:
    """Part of C15."""
    choose(talk, rememberAfterTurns=1)
    told = json.loads(talk.prompt())["hookSpecificOutput"]["additionalContext"]
    assert ("\n" in told, "at most five" in told, len(told) < 300) == (False, True, True)


def test_another_conversation_is_counted_by_itself(talk: Talk) -> None:
    """Part of C15."""
    choose(talk, rememberAfterTurns=2)
    other = Talk(talk.folder, talk.home, "other")
    other.fire("SessionStart", source="startup")
    assert [ASKED in one.prompt() for one in (talk, other, talk, other)] == [
        False,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("setting", [0, 5, "many", None])
def test_a_user_chooses_how_often(talk: Talk, setting: object) -> None:
    """Part of C15. What is no number counts as the default."""
    choose(talk, rememberAfterTurns=setting)
    asked = [number for number in range(1, 13) if ASKED in talk.prompt()]
    assert asked == {0: [], 5: [5, 10]}.get(setting if isinstance(setting, int) else -1, [12])


def test_after_a_compaction_it_is_asked_with_what_was_known(talk: Talk) -> None:
    """Part of C15."""
    talk.prompt()
    talk.fire("PreCompact", trigger="auto", custom_instructions=None)
    told = talk.fire("SessionStart", source="compact")
    assert told.count(ASKED) == 1


def test_who_never_wants_to_be_asked_is_not_asked_after_a_compaction(talk: Talk) -> None:
    """Part of C15."""
    choose(talk, rememberAfterTurns=0)
    talk.prompt()
    talk.fire("PreCompact", trigger="auto", custom_instructions=None)
    assert ASKED not in talk.fire("SessionStart", source="compact")


def test_by_default_no_stop_is_blocked(talk: Talk) -> None:
    """Part of C15."""
    talk.prompt()
    assert talk.stop() == ""


def test_where_the_user_chose_it_one_stop_of_a_conversation_is_blocked(talk: Talk) -> None:
    """Part of C15. An agent that goes on because of it is let go, whatever else is wrong."""
    choose(talk, rememberAtStop=True)
    talk.prompt()
    assert talk.stop(stop_hook_active=True) == ""
    talk.prompt()
    blocked = json.loads(talk.stop(stop_hook_active=False))
    assert (blocked["decision"], ASKED in blocked["reason"]) == ("block", True)
    talk.prompt()
    assert talk.stop(stop_hook_active=False) == ""


def test_a_damaged_setting_blocks_nobody(talk: Talk) -> None:
    """Part of C15."""
    (talk.home / "settings.json").write_text("{ not json")
    talk.prompt()
    assert talk.stop(stop_hook_active=False) == ""


def test_connect_turns_it_on_and_keeps_the_other_settings(
    repository: Repository, tmp_path: Path
) -> None:
    """Part of C15."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    file = home / "settings.json"
    file.write_text('{"hover": false}')
    done = threadline("connect", "claude-code", "--remember-at-stop", cwd=repository.path)
    assert done.returncode == Exit.OK, done.stderr
    assert json.loads(file.read_text()) == {"hover": False, "rememberAtStop": True}
    file.write_text("{ not json")
    refused = threadline("connect", "claude-code", "--remember-at-stop", cwd=repository.path)
    assert (refused.returncode != Exit.OK, file.read_text()) == (True, "{ not json")
