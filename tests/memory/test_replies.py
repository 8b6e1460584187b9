"""A model is believed as far as the events bear it out."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from protocol.errors import Code, ModelFailedError
from protocol.events import Commit, Event, FileChange
from protocol.memories import Evidence
from sidecar.memory.llm import replies
from sidecar.memory.llm.prompts import Piece, pieces
from sidecar.memory.rules.drafts import Draft, FileDiff, Reading
from tests.support import NOON

FIRST, SECOND = "01ARZ3NDEKTSV4RRFFQ69G5FA1", "01ARZ3NDEKTSV4RRFFQ69G5FA2"
SUBJECT = "Use locks instead of spinning"
BODY = "Spinning burns\n  a whole core."


def piece() -> Piece:
    event = Event(
        event_id=FIRST,
        session_id="01ARZ3NDEKTSV4RRFFQ69G5FAV",
        kind="commit",
        occurred_at=NOON,
        recorded_at=NOON,
        source="vscode",
        files=(FileChange(path="src/locks.py"),),
        commit=Commit(sha="a" * 40, authored_at=NOON, subject=SUBJECT, body=BODY, branch="main"),
    )
    note = Event(
        event_id=SECOND,
        session_id="01ARZ3NDEKTSV4RRFFQ69G5FAV",
        kind="capture",
        occurred_at=NOON,
        recorded_at=NOON,
        source="claude-code",
        text="ok go",
    )
    diff = FileDiff(path="src/locks.py", added=("with lock(path):",), removed=("while True:",))
    (found,) = pieces([Reading(event=event, diffs=(diff,)), Reading(event=note)], tokens=4_000)
    return found


def item(**changes: Any) -> dict[str, Any]:
    return {
        "type": "decision",
        "title": "Locks, not spinning",
        "content": "Locks are used instead of spinning.",
        "rationale": "Spinning burns a core.",
        "importance": 4,
        "confidence": 5,
        "files": ["src/locks.py", "src/invented.py"],
        "entities": ["lock"],
        "evidence": [{"eventId": FIRST, "quote": SUBJECT}],
    } | changes


def answer(*items: Any) -> str:
    return json.dumps({"items": items})


def quoting(quote: str, event: str = FIRST) -> dict[str, Any]:
    return item(evidence=[{"eventId": event, "quote": quote}])


DRAFT = Draft(
    type="decision",
    title="Locks, not spinning",
    content="Locks are used instead of spinning.",
    rationale="Spinning burns a core.",
    importance=4,
    confidence=5,
    entities=("lock",),
    files=("src/locks.py",),
    branch="main",
    evidence=(Evidence(quote=SUBJECT, commit_sha="a" * 40, event_id=FIRST),),
    by_model=True,
)


@pytest.mark.parametrize(
    "text",
    [
        answer(item()),
        json.dumps([item()]),
        f"  {answer(item())}\n",
        f"```json\n{answer(item())}\n```",
        f"```\n{answer(item())}\n```\n",
        json.dumps({"items": [item()]}, indent=2),
    ],
)
def test_a_good_answer_becomes_drafts(text: str) -> None:
    """Part of C6."""
    assert replies.read(text, piece()) == replies.Reply(drafts=(DRAFT,))


@pytest.mark.parametrize("text", ['{"items": []}', "[]"])
def test_nothing_worth_keeping_is_an_answer(text: str) -> None:
    assert replies.read(text, piece()) == replies.Reply()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "answered nothing"),
        (" \n", "answered nothing"),
        ("Sure! Here are the items:", "is prose"),
        (f"Here you are:\n```json\n{answer(item())}\n```", "is prose"),
        (f"```json\n{answer(item())}\n``` I hope this helps", "is prose"),
        (answer(item())[:-20], "ends in the middle"),
        (answer(item())[:40], "ends in the middle"),
        (answer(item()) + answer(item()), "is not the JSON"),
        (answer(item()) + " done", "is not the JSON"),
        ("{'items': []}", "is not the JSON"),
        ('{"items": {}}', "is not the JSON"),
        ('{"memories": []}', "is not the JSON"),
        ('{"items": [], "note": "x"}', "is not the JSON"),
        ("null", "is prose"),
        ("[" * 100_000, "is not the JSON"),
        ("\ud800", "is prose"),
    ],
)
def test_what_is_no_list_of_items_is_an_error_that_says_why(text: str, wrong: str) -> None:
    """Part of C6."""
    with pytest.raises(ModelFailedError, match=wrong) as caught:
        replies.read(text, piece())
    assert caught.value.code == Code.MODEL_FAILED


@pytest.mark.parametrize(
    "broken",
    [
        item(type="opinion"),
        item(title=""),
        item(title=" "),
        item(title="x" * 201),
        item(content=""),
        item(content="x" * 100_001),
        item(importance=0),
        item(confidence=6),
        item(importance="high"),
        item(importance=2.5),
        item(files="src/locks.py"),
        item(entities=[""]),
        item(evidence=[]),
        item(evidence="Use locks instead of spinning"),
        item(evidence=[{"eventId": FIRST}]),
        item(mood="good"),
        {key: value for key, value in item().items() if key != "evidence"},
        "just a text",
        None,
        [],
    ],
)
def test_an_item_that_does_not_fit_is_rejected_and_the_others_stay(broken: Any) -> None:
    """Part of C6."""
    reply = replies.read(answer(item(), broken, item()), piece())
    assert reply.drafts == (DRAFT, DRAFT)
    assert [rejection.number for rejection in reply.rejections] == [2]
    assert reply.rejections[0].reason


@pytest.mark.parametrize(
    ("quote", "stored"),
    [
        (SUBJECT, SUBJECT),
        ("locks instead of", "locks instead of"),
        ("Spinning burns a whole core.", "Spinning burns\n  a whole core."),
        (" Spinning\tburns \n a whole", "Spinning burns\n  a whole"),
        ("with lock(path):", "with lock(path):"),
        ("+ with lock(path):", "with lock(path):"),
        ("while True: with lock(path):", "while True:\nwith lock(path):"),
    ],
)
def test_a_quote_is_kept_as_it_stands_in_the_event(quote: str, stored: str) -> None:
    """Part of C6."""
    (draft,) = replies.read(answer(quoting(quote)), piece()).drafts
    assert draft.evidence[0].quote == stored


def test_a_short_quote_counts_when_it_is_all_that_was_said() -> None:
    short = quoting("ok  go", SECOND) | {"title": "Go", "content": "ok go"}
    (draft,) = replies.read(answer(short), piece()).drafts
    assert draft.evidence == (Evidence(quote="ok go", event_id=SECOND),)
    assert draft.branch is None


@pytest.mark.parametrize(
    "invention",
    [
        quoting("Use mutexes instead of spinning"),
        quoting("use locks instead of spinning"),
        quoting("Use locks … spinning"),
        quoting("of"),
        quoting("   "),
        quoting(SUBJECT, SECOND),
        quoting(SUBJECT, "01ARZ3NDEKTSV4RRFFQ69G5FA9"),
        quoting("src/locks.py"),
        quoting("You read the history of a software project"),
    ],
)
def test_an_item_whose_quote_is_invented_is_rejected(invention: Any) -> None:
    """Part of C6."""
    reply = replies.read(answer(invention), piece())
    assert reply.drafts == ()
    assert reply.rejections == (
        replies.Rejection(number=1, reason="no quote of it stands in the event it names"),
    )
    assert reply.invented == 1


def test_an_invented_quote_beside_a_real_one_is_dropped_and_counted() -> None:
    """Part of C6."""
    quotes = [{"eventId": FIRST, "quote": text} for text in (SUBJECT, "We all love locks")]
    reply = replies.read(answer(item(evidence=quotes)), piece())
    assert reply == replies.Reply(drafts=(DRAFT,), invented=1)


def test_no_piece_adds_more_than_its_share() -> None:
    """Part of C6."""
    reply = replies.read(answer(*[item()] * 9), piece())
    assert len(reply.drafts) == 6
    assert [rejection.number for rejection in reply.rejections] == [7, 8, 9]


def test_a_secret_that_a_model_makes_up_is_not_kept() -> None:
    token = "gh" + "p_" + "a1B2" * 9
    secretive = item(title=f"Use {token}", content=f"It is {token}", entities=[token])
    reply = replies.read(answer(secretive), piece())
    assert reply.drafts == ()
    assert token not in repr(reply)


PIECE = piece()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(FIRST),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(["items", "type", "title", "content", "evidence", "eventId", "quote"])
            | st.text(),
            inner,
        )
    ),
    max_leaves=15,
)


@pytest.mark.slow
@given(st.text() | JSON.map(json.dumps) | st.lists(JSON).map(json.dumps))
@example('{"items": [{"title": "\\ud800"}]}')
@example("[" + "[" * 5_000 + "]" * 5_000 + "]")
def test_whatever_is_answered_only_the_declared_error_is_raised(text: str) -> None:
    """Part of C6."""
    drafts: tuple[Draft, ...] = ()
    with contextlib.suppress(ModelFailedError):
        drafts = replies.read(text, PIECE).drafts
    assert drafts == ()


@settings(deadline=None)
@given(st.text(min_size=1))
def test_every_quote_that_is_kept_stands_in_its_event(quote: str) -> None:
    """Part of C6."""
    reply = replies.read(answer(quoting(quote[:2_000])), PIECE)
    for draft in reply.drafts:
        for evidence in draft.evidence:
            assert any(evidence.quote in text for text in PIECE.shown[0].quotable)
            assert evidence.quote.split() == quote.split()
    said = f"{SUBJECT}\n\n{BODY}"
    real = replies.read(answer(quoting(said[len(quote) % 20 :][:30])), PIECE)
    assert len(real.drafts) == 1
