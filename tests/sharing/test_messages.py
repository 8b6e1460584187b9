"""Messaging: each recipient gets a message once, the most urgent first."""

from datetime import datetime

import msgspec
import pytest

from protocol.messages import EVERYONE, Handling, Message, ReadMessagesParams
from sidecar.sharing import messages
from sidecar.storage.database import deadline
from sidecar.storage.vault import Vault
from tests.support import HOUR, MINUTE, NOON, FixedClock, reopen


def send(vault: Vault, content: str, target: str = "me", **more: object) -> Message:
    made = Message(
        message_id=vault.ids.next(),
        project_id=vault.project_id,
        target_id=target,
        sender_id="you",
        content=content,
        created_at=vault.clock(),
    )
    made = msgspec.structs.replace(made, **more)
    with vault.transaction():
        vault.write([vault.messages.put(made.message_id, made)])
    return made


def told(found: list[Message]) -> list[str]:
    return [one.content for one in found]


@pytest.mark.parametrize(
    ("more", "is_pending"),
    [
        ({}, True),
        ({"target_id": EVERYONE}, True),
        ({"target_id": "another"}, False),
        ({"target_id": EVERYONE, "sender_id": "me"}, False),
        ({"sender_id": "me"}, False),
        ({"expires_at": NOON}, False),
        ({"expires_at": NOON + MINUTE}, True),
        ({"handlings": {"me": Handling(delivered_at=NOON)}}, False),
        ({"handlings": {"another": Handling(delivered_at=NOON)}}, True),
    ],
)
def test_a_message_waits_for_whom_it_is_meant(
    vault: Vault, more: dict[str, object], is_pending: bool
) -> None:
    """Part of F7, F8 and F9."""
    send(vault, "hear", "me", **more)
    assert bool(messages.pending(vault, "me")) is is_pending


def test_the_most_urgent_comes_first_then_the_oldest(vault: Vault) -> None:
    """Part of F7 and F9."""

    def at(minutes: int) -> datetime:
        return NOON + minutes * MINUTE

    for number, priority in enumerate([1, 5, 3, 5, 3, 2, 4]):
        send(vault, f"{priority} at {number}", priority=priority, created_at=at(-number))
    expected = ["5 at 3", "5 at 1", "4 at 6", "3 at 4", "3 at 2"]
    assert told(messages.pending(vault, "me")) == expected
    assert told(messages.pending(vault, "me", limit=2)) == expected[:2]


@pytest.mark.parametrize(("reader", "sent"), [("me", False), ("you", True)])
def test_of_what_nobody_waits_for_the_latest_comes_first(
    vault: Vault, clock: FixedClock, reader: str, sent: bool
) -> None:
    """Part of F7: only what waits is urgent."""
    read = Handling(delivered_at=NOON, acknowledged_at=NOON)
    for priority in (3, 5, 4):
        send(vault, f"{priority}", priority=priority, handlings={"me": read})
        clock.pass_(MINUTE)
    asked = ReadMessagesParams(status="acknowledged", sent=sent, limit=2)
    assert told(list(messages.read(vault, asked, reader).messages)) == ["4", "5"]


def test_a_broadcast_stays_unread_for_the_others(vault: Vault, clock: FixedClock) -> None:
    """Part of F8."""
    sent = send(vault, "all hands", EVERYONE)
    clock.pass_(HOUR)
    (given,) = messages.deliver(vault, "me", messages.pending(vault, "me"))
    assert given.handlings == {"me": Handling(delivered_at=clock.now)}
    assert messages.pending(vault, "me") == []
    assert told(messages.pending(vault, "another")) == ["all hands"]
    messages.deliver(vault, "another", [sent])
    other = reopen(vault)
    (kept,) = other.messages.all()
    assert set(kept.handlings) == {"me", "another"}
    assert kept.handlings["me"].delivered_at == NOON + HOUR
    other.close()


def test_two_that_read_at_once_get_each_message_once(vault: Vault) -> None:
    """Part of F8 and H1."""
    send(vault, "one")
    other = reopen(vault)
    here, there = messages.pending(vault, "me"), messages.pending(other, "me")
    send(vault, "two")
    here += messages.pending(vault, "me")[1:]
    assert told(messages.deliver(other, "me", there)) == ["one"]
    assert told(messages.deliver(vault, "me", here)) == ["two"]
    assert messages.deliver(other, "me", here) == []
    other.close()


def test_what_vanished_meanwhile_is_not_delivered(vault: Vault, clock: FixedClock) -> None:
    """Part of F8."""
    brief, dropped = send(vault, "brief", expires_at=NOON + MINUTE), send(vault, "dropped")
    with vault.transaction():
        vault.write([vault.messages.drop(dropped.message_id)])
    clock.pass_(HOUR)
    assert messages.deliver(vault, "me", [brief, dropped]) == []
    assert messages.deliver(vault, "me", []) == []


def test_a_message_waits_where_it_cannot_be_noted(vault: Vault) -> None:
    """Part of F8: rather late than twice."""
    sent = send(vault, "patience")
    other = reopen(vault)
    with other.transaction(), deadline(0.01):
        assert messages.deliver(vault, "me", [sent]) == []
    assert told(messages.deliver(vault, "me", [sent])) == ["patience"]
    other.close()
