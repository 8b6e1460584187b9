"""Letters: messages are sent, read once by each recipient, acknowledged, answered, and vanish."""

from collections.abc import Iterator
from datetime import timedelta

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from protocol.errors import BusyError, InvalidParamsError, NotFoundError
from protocol.messages import (
    EVERYONE,
    AckParams,
    Handling,
    ReadMessagesParams,
    SendParams,
    SentMessage,
    ShownMessage,
    Thread,
    ThreadParams,
)
from sidecar.sharing import messages
from sidecar.storage.database import deadline
from sidecar.storage.vault import Vault
from sidecar.upkeep import tidy
from tests.support import HOUR, MINUTE, FixedClock, reopen

DAY = timedelta(days=1)
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


def send(vault: Vault, content: str, target: str = "b", sender: str = "a", **more: object) -> str:
    return sent(vault, content, target, sender, **more).message.message_id


def sent(vault: Vault, content: str, target: str, sender: str, **more: object) -> SentMessage:
    params = msgspec.structs.replace(SendParams(target_id=target, content=content), **more)
    return messages.send(vault, params, sender)


def read(vault: Vault, reader: str, **more: object) -> list[str]:
    return [one.content for one in shown(vault, reader, **more)]


def shown(vault: Vault, reader: str, **more: object) -> tuple[ShownMessage, ...]:
    params = msgspec.structs.replace(ReadMessagesParams(), **more)
    return messages.read(vault, params, reader).messages


def ack(vault: Vault, message_id: str, agent_id: str | None = None) -> ShownMessage:
    params = AckParams(message_id=message_id, agent_id=agent_id)
    return messages.acknowledge(vault, params, "client")


def thread(vault: Vault, message_id: str) -> Thread:
    return messages.thread(vault, ThreadParams(message_id=message_id))


def test_a_message_has_all_that_was_said_of_it(vault: Vault, clock: FixedClock) -> None:
    """Part of F7."""
    first = send(vault, "Before")
    result = sent(
        vault,
        "Could you?",
        "b",
        "a",
        category="a-word-of-our-own",
        priority=5,
        subject="Please",
        expires_in_days=0.5,
        parent_message_id=first,
    )
    message = result.message
    assert (result.outcome, result.is_target_known, result.is_parent_known) == ("sent", False, True)
    assert (message.target_id, message.sender_id, message.content) == ("b", "a", "Could you?")
    assert (message.category, message.priority) == ("a-word-of-our-own", 5)
    assert (message.subject, message.parent_message_id) == ("Please", first)
    assert (message.created_at, message.expires_at) == (clock.now, clock.now + 12 * HOUR)
    assert (message.status, message.handlings) == ("pending", {})
    assert sent(vault, "Now known", "a", "b").is_target_known


def test_a_message_goes_from_pending_to_delivered_to_acknowledged(
    vault: Vault, clock: FixedClock
) -> None:
    """Part of F8."""
    key = send(vault, "Hear")
    first = clock.now + MINUTE
    clock.pass_(MINUTE)
    (given_,) = shown(vault, "b")
    assert (given_.status, given_.handlings) == ("delivered", {"b": Handling(delivered_at=first)})
    clock.pass_(MINUTE)
    done = ack(vault, key)
    expected = {"b": Handling(delivered_at=first, acknowledged_at=clock.now)}
    assert (done.status, done.handlings) == ("acknowledged", expected)
    clock.pass_(MINUTE)
    assert ack(vault, key, "b").handlings == expected
    (seen,) = shown(vault, "a", sent=True, status="all")
    assert (seen.status, seen.handlings) == ("acknowledged", expected)


def test_each_status_lists_its_own(vault: Vault) -> None:
    """Part of F8."""
    ack(vault, send(vault, "done", priority=5))
    send(vault, "read", priority=4)
    assert read(vault, "b") == ["read"]
    send(vault, "new", category="request")
    send(vault, "to all", EVERYONE, priority=1)
    look = {"preview": True}
    assert read(vault, "b", status="pending", **look) == ["new", "to all"]
    assert read(vault, "b", status="delivered", **look) == ["read"]
    assert read(vault, "b", status="acknowledged", **look) == ["done"]
    assert read(vault, "b", status="open", **look) == ["read", "new", "to all"]
    assert read(vault, "b", status="all", **look) == ["done", "read", "new", "to all"]
    assert read(vault, "b", status="all", category="request", **look) == ["new"]
    assert read(vault, "b", status="all", include_broadcast=False, **look) == [
        "done",
        "read",
        "new",
    ]
    assert read(vault, "b", status="all", limit=1, **look) == ["done"]
    assert read(vault, "c", status="all", **look) == ["to all"]
    assert read(vault, "a", status="all", **look) == []
    assert read(vault, "b") == ["new", "to all"]
    assert read(vault, "b") == []


def test_a_broadcast_reaches_who_appears_later_unless_it_expired(
    vault: Vault, clock: FixedClock
) -> None:
    """Part of F7 and F8."""
    key = send(vault, "for good", EVERYONE)
    send(vault, "for a day", EVERYONE, expires_in_days=1)
    assert read(vault, "b") == ["for good", "for a day"]
    ack(vault, key, "b")
    clock.pass_(2 * DAY)
    assert read(vault, "latecomer") == ["for good"]
    (seen,) = shown(vault, "a", sent=True, status="all")
    assert {name: one.acknowledged_at is not None for name, one in seen.handlings.items()} == {
        "b": True,
        "latecomer": False,
    }


def test_two_that_read_at_once_get_each_message_once(vault: Vault) -> None:
    """Part of F8 and H1."""
    for number in range(4):
        send(vault, f"message {number}")
    other = reopen(vault)
    assert read(vault, "b", limit=2) == ["message 0", "message 1"]
    assert read(other, "b") == ["message 2", "message 3"]
    assert read(vault, "b") == read(other, "b") == []
    other.close()


@pytest.fixture
def two(vault: Vault) -> Iterator[tuple[Vault, Vault]]:
    other = reopen(vault)
    yield vault, other
    other.close()


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(("send", "read", "ack")),
            st.booleans(),
            st.sampled_from(("a", "b", "c")),
            st.sampled_from(("a", "b", "c", EVERYONE)),
        ),
        max_size=25,
    )
)
def test_whatever_happens_each_recipient_gets_each_message_once(
    two: tuple[Vault, Vault], steps: list[tuple[str, bool, str, str]]
) -> None:
    """Part of F7 and F8: nobody misses one, and nobody's reading is another's."""
    with two[0].transaction():
        two[0].write([two[0].messages.drop(key) for key in two[0].messages.ids()])
    got: dict[str, list[str]] = {"a": [], "b": [], "c": []}
    meant: dict[str, list[str]] = {"a": [], "b": [], "c": []}
    for action, is_first, who, whom in steps:
        vault = two[0] if is_first else two[1]
        if action == "send" and who != whom:
            key = send(vault, "hear", whom, who)
            for name in [*meant] if whom == EVERYONE else [whom]:
                if name != who:
                    meant[name].append(key)
        elif action == "read":
            got[who] += [one.message_id for one in shown(vault, who, limit=2)]
        elif action == "ack" and got[who]:
            ack(vault, got[who][-1], who)
    for name, already in got.items():
        rest = [one.message_id for one in shown(two[0], name, limit=100)]
        assert sorted(already + rest) == sorted(meant[name])
    for message in two[1].messages.all():
        readers = {name for name, keys in meant.items() if message.message_id in keys}
        assert set(message.handlings) == readers


def test_a_reader_is_told_that_the_store_is_busy_rather_than_that_nothing_waits(
    vault: Vault,
) -> None:
    """Part of F8."""
    send(vault, "patience")
    other = reopen(vault)
    with other.transaction(), deadline(0.01), pytest.raises(BusyError):
        read(vault, "b")
    assert read(vault, "b") == ["patience"]
    other.close()


def test_a_message_that_comes_again_is_the_one_that_is_there(vault: Vault) -> None:
    """Part of A7 and F7."""
    first = sent(vault, "Once", "b", "a", idempotency_key="k")
    again = sent(vault, "Once", "b", "a", idempotency_key="k")
    assert (first.outcome, again.outcome) == ("sent", "duplicate")
    assert again.message == first.message
    assert len(vault.messages) == 1


@pytest.mark.parametrize(
    ("written", "meant"),
    [("User", "user"), ("USER", "user"), (" user", "user"), (" beta ", "beta"), (" * ", EVERYONE)],
)
def test_a_name_is_known_however_it_is_written(vault: Vault, written: str, meant: str) -> None:
    """Part of F7."""
    reader = "user" if meant == EVERYONE else meant
    result = sent(vault, "Hear", written, "a")
    assert result.message.target_id == meant
    assert read(vault, reader) == ["Hear"]
    assert read(vault, f" {reader}", status="all") == ["Hear"]
    assert list(ack(vault, result.message.message_id, f"{reader} ").handlings) == [reader]
    if meant != EVERYONE:
        assert sent(vault, "Back", "a", written).message.sender_id == meant
        with pytest.raises(InvalidParamsError):
            send(vault, "To myself", meant, written)


def test_messages_are_read_page_by_page(vault: Vault, clock: FixedClock) -> None:
    """Part of F8: of a thread the latest first."""
    keys = [send(vault, "0", "b", "a")]
    for number in range(1, 5):
        clock.pass_(MINUTE)
        keys.append(send(vault, f"{number}", "b", "a", parent_message_id=keys[0]))
    for more in ({"status": "all"}, {"status": "all", "preview": True}):
        pages = [read(vault, "b", limit=2, offset=place, **more) for place in (0, 2, 4, 6)]
        assert pages == [["0", "1"], ["2", "3"], ["4"], []]
    pages = [read(vault, "b", limit=2, offset=place, thread_of=keys[2]) for place in (0, 2, 4, 6)]
    assert pages == [["3", "4"], ["1", "2"], ["0"], []]


def test_two_senders_may_choose_the_same_key(vault: Vault) -> None:
    """Part of A7 and F7."""
    outcomes = [sent(vault, f"Of {who}", "c", who, idempotency_key="1").outcome for who in "abab"]
    assert outcomes == ["sent", "sent", "duplicate", "duplicate"]
    assert read(vault, "c") == ["Of a", "Of b"]


def test_a_thread_is_found_from_any_of_its_messages(vault: Vault, clock: FixedClock) -> None:
    """Part of F8."""
    keys = [send(vault, "root")]
    for place, words in ((0, "left"), (0, "right"), (1, "leaf")):
        clock.pass_(MINUTE)
        keys.append(send(vault, words, "a", "b", parent_message_id=keys[place]))
    send(vault, "another")
    for key in keys:
        found = thread(vault, key)
        assert [one.content for one in found.messages] == ["root", "left", "right", "leaf"]
        assert found.missing == ()


def test_a_thread_survives_a_parent_that_expired_or_is_gone(
    vault: Vault, clock: FixedClock
) -> None:
    """Part of F8."""
    root = send(vault, "root", expires_in_days=1)
    middle = send(vault, "middle", "a", "b", parent_message_id=root)
    leaf = send(vault, "leaf", parent_message_id=middle)
    clock.pass_(2 * DAY)
    for key in (root, middle, leaf):
        found = thread(vault, key)
        assert ([one.content for one in found.messages], found.missing) == (
            ["middle", "leaf"],
            (root,),
        )
    with vault.transaction():
        vault.write([vault.messages.drop(middle)])
    late = sent(vault, "late", "a", "b", parent_message_id=middle)
    assert not late.is_parent_known
    for key in (middle, leaf, late.message.message_id):
        assert [one.content for one in thread(vault, key).messages] == ["leaf", "late"]
    with pytest.raises(NotFoundError):
        thread(vault, "01ARZ3NDEKTSV4RRFFQ69G5FAV")


def test_a_thread_stays_whole_when_one_in_its_midst_is_removed(
    vault: Vault, clock: FixedClock
) -> None:
    """Part of F8: what answers it still knows how the thread began."""
    root = send(vault, "root")
    middle = send(vault, "middle", "a", "b", parent_message_id=root, expires_in_days=1)
    clock.pass_(MINUTE)
    leaf = send(vault, "leaf", parent_message_id=middle)
    clock.pass_(9 * DAY)
    assert tidy.tidy(vault) == 1
    late = send(vault, "late", "a", "b", parent_message_id=middle)
    deep = send(vault, "deep", parent_message_id=late)
    send(vault, "another thread")
    for key in (root, middle, leaf, late, deep):
        found = thread(vault, key)
        assert [one.content for one in found.messages] == ["root", "leaf", "late", "deep"]
        assert found.missing == (middle,)
    assert {one.thread_id for one in vault.messages.all()} == {None, root}


def test_a_thread_is_read_in_full_and_what_waited_in_it_is_delivered(
    vault: Vault, clock: FixedClock
) -> None:
    """Part of F8."""
    keys = [send(vault, "0")]
    for number in range(1, 6):
        clock.pass_(MINUTE)
        ends = ("a", "b") if number % 2 else ("b", "a")
        keys.append(send(vault, f"{number}", *ends, parent_message_id=keys[-1], priority=number))
    other = send(vault, "aside")
    assert read(vault, "b", thread_of=keys[3], preview=True) == ["0", "1", "2", "3", "4", "5"]
    latest = shown(vault, "b", thread_of=keys[0], limit=3)
    assert [(one.content, one.status) for one in latest] == [
        ("3", "pending"),
        ("4", "delivered"),
        ("5", "pending"),
    ]
    assert read(vault, "b", preview=True) == ["0", "aside", "2"]
    assert read(vault, "b", thread_of=keys[5], status="acknowledged", category="none", sent=True)
    assert read(vault, "b", preview=True) == ["aside"]
    assert read(vault, "c", thread_of=other) == ["aside"]
    assert vault.messages.some({other})[other].handlings == {}
    with pytest.raises(NotFoundError) as refusal:
        read(vault, "b", thread_of="01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert refusal.value.field == "threadOf"


def test_a_name_that_is_nearly_known_is_doubted(vault: Vault) -> None:
    """Part of F7."""
    send(vault, "I am here", "user", "claude-code")
    meant = {"Claude Code": "claude-code", "claud-code": "claude-code", "codex": None, "!": None}
    assert {name: sent(vault, "hear", name, "b").meant for name in meant} == meant
    assert sent(vault, "hear", "claude-code", "b").meant is None
    assert sent(vault, "hear", "claude", "claude-code").meant is None


def test_messages_that_answer_each_other_in_a_circle_are_one_thread(vault: Vault) -> None:
    """Part of F8: an import may bring anything."""
    one = send(vault, "one")
    other = send(vault, "other", parent_message_id=one)
    message = vault.messages.get(one)
    assert message is not None
    looped = msgspec.structs.replace(message, parent_message_id=other)
    with vault.transaction():
        vault.write([vault.messages.put(one, looped)])
    assert len(thread(vault, one).messages) == 2


def test_what_expired_vanishes_and_is_removed_later(vault: Vault, clock: FixedClock) -> None:
    """Part of F8."""
    brief = send(vault, "brief", expires_in_days=1)
    had = send(vault, "had", expires_in_days=1)
    send(vault, "lasting")
    assert read(vault, "b", limit=1) == ["brief"]
    clock.pass_(DAY)
    assert read(vault, "b", status="all") == ["lasting"]
    assert read(vault, "a", sent=True, status="all") == ["lasting"]
    assert ack(vault, brief).status == "acknowledged"
    with pytest.raises(NotFoundError):
        ack(vault, had)
    assert tidy.tidy(vault) == 0
    clock.pass_(8 * DAY)
    assert tidy.tidy(vault) == 2
    assert [one.content for one in vault.messages.all()] == ["lasting"]


@pytest.mark.parametrize(
    ("target", "agent", "is_allowed"),
    [
        ("b", None, True),
        ("b", "b", True),
        ("b", "c", False),
        ("b", "a", False),
        (EVERYONE, "c", True),
        (EVERYONE, "a", False),
        (EVERYONE, None, True),
    ],
)
def test_only_who_was_meant_can_acknowledge(
    vault: Vault, target: str, agent: str | None, is_allowed: bool
) -> None:
    """Part of F8."""
    key = send(vault, "hear", target)
    if is_allowed:
        assert ack(vault, key, agent).status == "acknowledged"
    else:
        with pytest.raises(InvalidParamsError) as refusal:
            ack(vault, key, agent)
        assert refusal.value.field == "agentId"
        assert vault.messages.all()[0].handlings == {}


@pytest.mark.parametrize(
    ("content", "target", "field"),
    [
        ("hear", "a", "targetId"),
        ("hear", " ", "targetId"),
        (" \n", "b", "content"),
        ("<private>all</private>", "b", "content"),
    ],
)
def test_what_reaches_nobody_or_says_nothing_is_refused(
    vault: Vault, content: str, target: str, field: str
) -> None:
    """Part of F7."""
    with pytest.raises(InvalidParamsError) as refusal:
        send(vault, content, target)
    assert refusal.value.field == field
    assert vault.messages.all() == []


def test_no_secret_is_kept(vault: Vault) -> None:
    """Part of E11."""
    send(vault, f"Use {TOKEN}", subject=TOKEN, category=TOKEN, idempotency_key=TOKEN)
    (kept,) = vault.messages.all()
    assert (kept.content, kept.subject, kept.category) == (
        "Use [REDACTED]",
        "[REDACTED]",
        "[REDACTED]",
    )
    assert sent(vault, "again", "b", "a", idempotency_key=TOKEN).outcome == "duplicate"
    data = b"".join(path.read_bytes() for path in vault.folder.rglob("*") if path.is_file())
    assert TOKEN.encode() not in data
