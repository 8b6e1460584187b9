"""What hooks hear of conversations goes the same way as turns that are told: weighed, kept once, saved or let go."""

from datetime import timedelta
from typing import Any

from sidecar.app import Application, now
from sidecar.upkeep import maintenance
from tests.conversations.test_turns import captured
from tests.transports.test_hooks import claude, environment, open_here, send, talk

__all__ = ["environment"]
"""The fixture."""

DECISION = "We decided to use a token bucket instead of a sliding window because bursts are fine."


def hook(environment: dict[str, str], event: str, **fields: object) -> None:
    send(environment, "claude-code", message=claude(event, **fields))


def told(app: Application) -> dict[str, Any]:
    """Tell what is known of the conversation `s1`, whoever told it."""
    known, vault = talk(app), app.vault(None)
    return {
        "prompts": known.prompt_count,
        "notes": [(note.type, note.text, note.said_by) for note in known.notes],
        "events": [(one.text, one.source, one.agent_id) for one in captured(vault)],
        "entries": {(one.said_by, one.text, one.signal_score) for one in vault.entries.all()},
    }


def test_a_hook_and_a_told_turn_leave_the_same(environment: dict[str, str]) -> None:
    """Part of F4 and F5."""
    for _ in range(3):
        hook(environment, "UserPromptSubmit", prompt=DECISION, prompt_id="p1")
    hook(environment, "UserPromptSubmit", prompt="thanks!", prompt_id="p2")
    hook(environment, "Stop", last_assistant_message="As agreed, v1 stays until October.")
    app = open_here()
    heard = told(app)
    assert (heard["prompts"], len(heard["entries"]), len(heard["events"])) == (2, 3, 1)
    # The agent itself tells what its hook has told already.
    known = {"agentId": "claude-code", "harness": "claude-code", "sessionKey": "s1", "role": "user"}
    again: Any = app.call("threadline/turns/ingest", {**known, "content": DECISION})
    assert again.extraction_status == "duplicate"
    assert told(app) == heard
    for role, content in (
        ("user", DECISION),
        ("user", "thanks!"),
        ("assistant", "As agreed, v1 stays until October."),
    ):
        params = {**known, "sessionKey": "s2", "role": role, "content": content}
        app.call("threadline/turns/ingest", params)
    vault = app.vault(None)
    rows = vault.entries.find("sessionKey", "s2")
    assert {(one.said_by, one.text, one.signal_score) for one in rows} == heard["entries"]
    assert [(one.text, one.source, one.agent_id) for one in captured(vault)][1:] == heard["events"]
    app.close()


def test_tools_that_hooks_see_are_activities(environment: dict[str, str]) -> None:
    """Part of F5."""
    for tool, path in (("Edit", "hello.txt"), ("Write", "new.txt"), ("Edit", ".env")):
        hook(environment, "PostToolUse", tool_name=tool, tool_input={"file_path": path})
    app = open_here()
    app.hearing.place()
    rows = app.vault(None).activities.all()
    assert {(one.tool, one.category, one.input_summary) for one in rows} == {
        ("Edit", "write", "hello.txt"),
        ("Write", "write", "new.txt"),
    }
    app.close()


def test_the_end_that_a_hook_tells_saves_what_waits_or_lets_it_go(
    environment: dict[str, str],
) -> None:
    """Part of F5."""
    hook(environment, "UserPromptSubmit", prompt=DECISION, prompt_id="p1")
    hook(environment, "SessionEnd", reason="exit")
    hook(environment, "UserPromptSubmit", prompt="good morning", session="s2", prompt_id="p2")
    hook(environment, "SessionEnd", reason="exit", session="s2")
    app = open_here()
    app.hearing.place()
    vault = app.vault(None)
    (saved,) = vault.checkpoints.all()
    assert (saved.session_key, saved.trigger) == ("s1", "session_end")
    assert f"- user: {DECISION}" in saved.digest
    assert (len(vault.entries), len(captured(vault))) == (0, 1)
    app.close()


def test_a_conversation_that_only_hooks_know_is_saved_when_it_is_silent(
    environment: dict[str, str],
) -> None:
    """Part of F5."""
    hook(environment, "UserPromptSubmit", prompt=DECISION, prompt_id="p1")
    app = open_here()
    app.hearing.place()
    vault = app.vault(None)
    maintenance.maintain(vault, app.settings)
    assert (len(vault.checkpoints), len(vault.entries)) == (0, 1)
    vault.clock = lambda: now() + timedelta(minutes=11)
    maintenance.maintain(vault, app.settings)
    assert (len(vault.checkpoints), len(vault.entries)) == (1, 0)
    app.close()
