"""What its author marked as private is not kept, however it is written."""

import pytest

from protocol.events import Commit, NewEvent
from sidecar.privacy import cleaning
from tests.support import NOON


@pytest.mark.parametrize(
    ("text", "public"),
    [
        ("nothing private", "nothing private"),
        ("a <private>b</private>c", "a c"),
        ("a <PRIVATE>b</Private>c", "a c"),
        ('a <private class="x">b</private>c', "a c"),
        ("a < private >b</ private >c", "a c"),
        ("<private>a<private>b</private>c</private>d", "d"),
        ("a <private>never closed", "a "),
        ("a</private> b", "a</private> b"),
        ("x < y and <b>privateer</b>", "x < y and <b>privateer</b>"),
    ],
)
def test_a_text_keeps_what_is_public(text: str, public: str) -> None:
    """B6."""
    assert cleaning.public(text) == public


@pytest.mark.parametrize(
    ("subject", "body", "public"),
    [
        ("fix", "why <private>for Acme</private>", ("fix", "why")),
        ("<private>Title", "TOPSECRET</private>\nrest", ("rest", "")),
        ("fix <private>a", "b", ("fix", "")),
        ("<private>a</private>", "b", ("", "b")),
    ],
)
def test_a_mark_may_span_subject_and_body(subject: str, body: str, public: tuple[str, str]) -> None:
    commit = Commit(sha="a" * 40, authored_at=NOON, subject=subject, body=body)
    event = cleaning.public_event(NewEvent(kind="commit", commit=commit))
    assert event is not None
    assert event.commit is not None
    assert (event.commit.subject, event.commit.body) == public


def test_nothing_is_kept_of_a_capture_that_is_all_private() -> None:
    event = NewEvent(kind="capture", text="<private>all of it</private> ")
    assert cleaning.public_event(event) is None
