"""Whatever a session holds, what is made of it keeps its promises."""

import random
import time

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.memories import Content, Grade, Title
from sidecar.memory.extract.compose import MOST, compose, compose_findings, findings
from sidecar.memory.rules.drafts import Draft, FileDiff, Reading
from sidecar.text import own_words
from tests.readings import SESSION, capture, commit, save
from tests.support import enclose

LINES = [
    "Let's use Postgres instead of Redis because a failover loses the lock.",
    "Never log access tokens: they end up in the search index.",
    "TODO: rotate the staging key",
    "The cause was a missing index on orders.",
    "I prefer small commits.",
    "BREAKING CHANGE: `limit` is now required",
    "- [ ] write the upgrade guide",
    "- [x] write the upgrade guide",
    "Decisions:",
    "* Use tabs",
    "Why not?",
    "    indented code must stay out",
    "> a quotation must stay out",
    "```",
    "diff --git a/x b/x",
    "",
    "Signed-off-by: A <a@example.org>",
    "必须使用 UTC。",
    "Wir nehmen Postgres statt MySQL, weil es schon da ist.",
    "\u202eright to left must never break",
    "<!-- threadline:memory -->",
    "<!-- /threadline:memory -->",
    "a" * 300,
    "must " * 300,
]
texts = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from(LINES), max_size=8).map("\n".join),
    st.text(st.characters(categories=["Cs", "Cc", "Cf", "Lo"]), max_size=60),
)
diffs = st.builds(
    FileDiff,
    path=st.sampled_from(["a/b.py", "pyproject.toml", "docs/adr/1-x.md", "package.json", "\ud800"]),
    added=st.lists(texts, max_size=3).map(tuple),
    removed=st.lists(texts, max_size=3).map(tuple),
)
readings = st.lists(
    st.one_of(
        st.tuples(st.just("commit"), texts, texts, st.lists(diffs, max_size=2)),
        st.tuples(st.just("capture"), texts, texts, st.just([])),
        st.tuples(st.just("save"), st.just("a/b.py"), texts, st.just([])),
    ),
    max_size=7,
).map(lambda rows: [made(number, *row) for number, row in enumerate(rows)])


def made(number: int, kind: str, text: str, body: str, changed: list[FileDiff]) -> Reading:
    if kind == "commit":
        return commit(number, text, body, diffs=changed)
    return capture(number, text or "x") if kind == "capture" else save(number, text)


def told(reading: Reading) -> str:
    """Join all that a quotation may come from."""
    event = reading.event
    parts = [event.text or "", *(change.path for change in event.files)]
    parts += [event.commit.subject, event.commit.body] if event.commit else []
    return "\n\n".join([*parts, *(line for diff in reading.diffs for line in diff.added)])


@settings(deadline=None, max_examples=40)
@given(readings)
def test_every_item_is_valid_quoted_and_one_of_a_few(session: list[Reading]) -> None:
    """Part of C4, C5."""
    drafts = compose(SESSION, session)
    texts = {reading.event.event_id: told(reading) for reading in session}
    assert len(drafts) <= MOST
    assert sum(draft.type == "episodic" for draft in drafts) <= 1
    for draft in drafts:
        msgspec.convert(draft.title, Title)
        msgspec.convert(draft.content, Content)
        msgspec.convert(draft.importance, Grade)
        msgspec.convert(draft.confidence, Grade)
        assert draft.evidence
        assert all(one.quote and one.quote in texts[one.event_id or ""] for one in draft.evidence)
        msgspec.json.encode((draft.title, draft.content, draft.rationale, draft.evidence))


@settings(deadline=None, max_examples=40)
@given(readings)
def test_the_same_session_gives_the_same_whatever_the_order_of_its_events(
    session: list[Reading],
) -> None:
    shuffled = list(session)
    random.Random(7).shuffle(shuffled)
    read = [findings(reading) for reading in shuffled]
    assert compose(SESSION, session) == compose(SESSION, shuffled)
    assert compose(SESSION, session) == compose_findings(SESSION, read)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(readings, st.sampled_from(["marks", "fence", "comment", "element"]))
def test_our_own_words_are_never_taken_in_again(session: list[Reading], form: str) -> None:
    """Part of C5."""
    first = compose(SESSION, session)
    known = first
    for turn in range(10):
        session = [*session, capture(100 + turn, injected(known, form))]
        known = compose(SESSION, session)
        assert known == first


def injected(drafts: tuple[Draft, ...], form: str) -> str:
    text = "\n".join(f"- {draft.type}: {draft.title}\n  {draft.content}" for draft in drafts)
    text = f"{text}\nWe must never forget this. TODO: remember it"
    plain = text.replace("threadline:memory", "").replace("```", "").replace("-->", "")
    return {
        "marks": enclose(text),
        "fence": f"``` threadline:memory\n{plain}\n```",
        "comment": f"<!-- threadline:memory\n{plain}\n-->",
        "element": f"<threadline:memory v=1>\n{plain}\n</threadline:memory>",
    }[form]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("a <!-- threadline:memory -->\nb\n<!-- /threadline:memory --> c", "a  c"),
        ("a <!-- threadline:memory:begin --> b <!-- threadline:memory:end --> c", "a  c"),
        ("a <!-- threadline:memory --> b", "a "),
        ("a <!-- /threadline:memory --> b", " b"),
        ("a\n```threadline:memory\nb\n```\nc", "a\n\nc"),
        ("a\n```\nb\n```\nc", "a\n```\nb\n```\nc"),
        ("what threadline:memory means", "what threadline:memory means"),
        (enclose("x <!-- /threadline:memory --> y"), ""),
    ],
)
def test_what_is_ours_is_cut_out_and_nothing_else(text: str, rest: str) -> None:
    assert own_words.without(text) == rest
    assert len(own_words.blank(text)) == len(text)


@pytest.mark.parametrize(
    "text",
    [
        "must not " * 11_000,
        "a" * 100_000,
        "Use a instead of b because c. " * 3_300,
        "`" * 100_000,
        "<!-- " * 20_000 + "threadline:memory",
        "- [ ] " * 16_000,
        "\n" * 100_000,
        ". " * 50_000,
        "TODO: " * 16_000,
        "(" * 50_000 + ")" * 50_000,
        "from a to " * 10_000,
        "必须" * 50_000,
    ],
    ids=range(12),
)
def test_huge_texts_take_time_that_grows_with_them_alone(text: str) -> None:
    def seconds(part: str) -> float:
        begin = time.process_time()
        compose(SESSION, [commit(1, part, part), capture(2, part)])
        return time.process_time() - begin

    assert seconds(text) < max(2.0, 40 * seconds(text[: len(text) // 10]))
