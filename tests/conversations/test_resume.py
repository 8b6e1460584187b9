"""Resuming: a conversation that goes on is told of messages that came meanwhile, each once, and loses none."""

import msgspec
import pytest

from protocol.contexts import Rendered, RenderParams
from tests.desks import Desk
from tests.support import MINUTE
from tests.upkeep.test_exchange import contents, read, send

pytestmark = pytest.mark.slow

HOST = RenderParams(
    session_key="c1", agent_id="claude-code", harness="claude-code", host="claude-code"
)


def resume(desk: Desk, **more: object) -> Rendered:
    """Go on with the conversation; its host has got what it was told."""
    asked = msgspec.structs.replace(HOST, occasion="resume", **more)
    told = desk.app.dialogue.greet(asked)
    desk.app.flush()
    return told


@pytest.fixture
def begun(desk: Desk) -> Desk:
    """A desk at which a conversation was told what is known."""
    desk.remember("Uploads are signed")
    desk.app.dialogue.greet(HOST)
    desk.app.flush()
    desk.clock.pass_(MINUTE)
    return desk


def test_what_came_meanwhile_is_told_once(begun: Desk) -> None:
    """Part of F9."""
    for number in range(7):
        send(begun, f"Letter {number}", "claude-code", "cursor")
    first = resume(begun).text
    assert [number for number in range(7) if f"Letter {number}" in first] == [0, 1, 2, 3, 4]
    assert "2 more messages wait" in first
    second = resume(begun).text
    assert [number for number in range(7) if f"Letter {number}" in second] == [5, 6]
    assert "more message" not in second
    assert resume(begun).text == ""


def test_what_does_not_fit_is_not_taken_for_told(begun: Desk) -> None:
    """Part of F8 and F9."""
    long = [
        send(begun, f"Letter {number} " + "and more " * 60, "claude-code", "cursor")
        for number in range(4)
    ]
    told = resume(begun, max_chars=1_200)
    heard = [number for number in range(4) if f"Letter {number}" in told.text]
    assert 0 < len(heard) < 4
    assert told.left_out["pendingMessages"] == 4 - len(heard)
    waiting = begun.ask("messages/read", agentId="claude-code", preview=True)["messages"]
    assert [one["messageId"] for one in waiting] == long[len(heard) :]


def test_what_another_process_was_given_is_not_told_again(
    begun: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of F8: also where that happens between looking and telling."""
    send(begun, "For one of us", "claude-code", "cursor")
    other = begun.second()
    contexts = begun.app.dialogue._contexts  # the moment between looking and telling
    look = contexts.start

    def race(scene: object) -> object:
        looked = look(scene)  # type: ignore[arg-type]  # handed on as it came
        assert read(other, "claude-code") == ["For one of us"]
        return looked

    monkeypatch.setattr(contexts, "start", race)
    assert resume(begun).text == ""
    other.close()
    (sent,) = begun.ask("messages/read", agentId="cursor", sent=True, status="all")["messages"]
    assert list(sent["handlings"]) == ["claude-code"]
    assert contents([sent]) == ["For one of us"]
