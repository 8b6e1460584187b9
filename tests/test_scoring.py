"""The scorer rewards what a good reader keeps and blames the rest."""

import re
from collections.abc import Sequence

import pytest

from benchmarks.enrichment import figures, labels, readings, scoring, words
from benchmarks.enrichment.labels import Kept, Label, Summary, WrittenDiff, WrittenEvent
from protocol.memories import Evidence, MemoryType
from sidecar.memory.rules.drafts import Draft, Reading

DECISION = "Use Postgres advisory locks instead of Redis because a failover loses the lock."
LABEL = Label(
    name="example",
    share="open",
    about="A lock moves.",
    style=("conversation",),
    events=(
        WrittenEvent(say=DECISION),
        WrittenEvent(
            commit="Take jobs under an advisory lock",
            body="Redis goes.",
            files=("M queue/worker.py", "R queue/a.py -> queue/b.py"),
            diffs=(WrittenDiff(path="queue/worker.py", added=("# TODO: measure it", "go()")),),
        ),
    ),
    keep=(
        Kept(type="decision", what=DECISION, words=("advisory", "redis")),
        Kept(type="task", what="Measure it.", words=("measure",), optional=True),
    ),
    summary=Summary(accomplished=("advisory lock",), open=("measure",)),
    never=("secret sauce",),
)
NOTE = "Jobs are taken under an advisory lock. Left open: measure it."


def draft(
    content: str,
    type: MemoryType = "decision",  # noqa: A002 - it is called so in a draft
    quote: str = DECISION,
    title: str = "Note",
    **where: str,
) -> Draft:
    evidence = (Evidence(quote=quote, **where),)
    return Draft(type=type, title=title, content=content, evidence=evidence)


def scored(*drafts: Draft, label: Label = LABEL) -> scoring.Score:
    def compose(session_id: str, read: Sequence[Reading]) -> tuple[Draft, ...]:
        assert {reading.event.session_id for reading in read} == {session_id}
        return drafts

    return scoring.score(label, compose)


def test_the_right_memories_are_rewarded() -> None:
    """Part of C5."""
    score = scored(draft(DECISION), draft(NOTE, "episodic"))
    assert (score.false, score.missed, score.violations) == ((), (), ())
    counted = figures.count([score])
    assert counted.precision == counted.recall == counted.typed_precision == (2, 2)
    assert counted.notes_precision == counted.notes_recall == (1, 1)
    assert (counted.accomplished, counted.open) == ((1, 1), (1, 1))


def test_other_words_for_the_same_are_rewarded() -> None:
    score = scored(draft("Locks are Postgres advisory locks; Redis loses a lock at failover."))
    assert [pair.expected for pair in score.pairs] == [LABEL.keep[0]]


def test_an_optional_memory_counts_for_precision_alone() -> None:
    counted = figures.count([scored(draft("Measure it", "task", quote="measure it"))])
    assert counted.precision == (1, 1)
    assert counted.recall == (0, 2)


def test_a_wrong_type_costs_the_type_alone() -> None:
    counted = figures.count([scored(draft(DECISION, "fact"))])
    assert (counted.precision, counted.typed_precision) == ((1, 1), (0, 1))
    assert (counted.recall, counted.typed_recall) == ((1, 2), (0, 2))


def test_saying_it_twice_is_blamed() -> None:
    score = scored(draft(DECISION), draft(DECISION, title="Again"))
    assert [false.title for false in score.false] == ["Again"]


def test_the_typed_of_two_alike_is_taken() -> None:
    score = scored(draft(DECISION, "fact"), draft(DECISION))
    assert [false.type for false in score.false] == ["fact"]


@pytest.mark.parametrize(
    "content",
    ["CI is green.", "Advisory locks are in Redis.", f"{DECISION} {'and so on ' * 80}"],
    ids=["status", "the words without the sense", "a transcript"],
)
def test_what_nobody_would_keep_is_blamed(content: str) -> None:
    score = scored(draft(content))
    assert len(score.false) == 1
    assert LABEL.keep[0] in score.missed


def test_a_summary_must_tell_what_was_done() -> None:
    score = scored(draft("Left open: measure it.", "episodic"))
    assert score.summary is None
    assert LABEL.summary in score.missed


def test_a_summary_that_repeats_everything_is_none() -> None:
    assert scored(draft(f"{NOTE} {'And then. ' * 200}", "episodic")).summary is None


def check_violations(given: Sequence[Draft], expected: list[str]) -> None:
    assert [violation.partition(":")[0] for violation in scored(*given).violations] == expected


def test_quotes_are_looked_up_where_they_say_they_stand() -> None:
    """Part of C5."""
    said, done = readings.read(LABEL)
    assert done.event.commit is not None
    sha = done.event.commit.sha
    good = ["Redis goes.", "# TODO: measure it", "Take jobs", "lock\n\nRedis"]
    check_violations([draft(DECISION, quote=quote, commit_sha=sha) for quote in good], [])
    wrong = [
        draft(DECISION, quote="Redis stays."),
        draft(DECISION, quote="redis goes."),
        draft(DECISION, quote=DECISION, commit_sha=sha),
        draft(DECISION, quote="Redis goes.", event_id=said.event.event_id),
        draft(DECISION, quote="Redis goes.", commit_sha="0" * 40),
    ]
    check_violations(wrong, ["not in the event"] * len(wrong))
    check_violations([draft(DECISION, quote=" ")], ["an empty quote"])
    check_violations([Draft(type="fact", title="Note", content=DECISION)], ["no evidence"])


def test_a_list_of_files_is_junk() -> None:
    files = "Changed files: queue/worker.py, queue/b.py"
    check_violations([draft(files, title="Modified worker.py")], ["only a list of files"])
    check_violations([draft(f"{DECISION} See queue/worker.py.")], [])


def test_too_many_drafts_and_two_summaries_break_the_rules() -> None:
    check_violations([draft(DECISION)] * 7, ["7 drafts, 6 are the most"])
    check_violations([draft(NOTE, "episodic")] * 2, ["more than one summary"])


def test_what_must_not_be_taken_in_is_found_in_any_letters() -> None:
    check_violations([draft("The Secret Sauce is advisory.")], ["'secret sauce' is taken in"])


def test_an_enricher_that_keeps_nothing_misses_the_gates() -> None:
    assert any(row.is_missed for row in figures.rows([scored()]))


def test_the_gates_hold_for_what_is_right_alone() -> None:
    kept = Label(
        **{name: getattr(LABEL, name) for name in LABEL.__struct_fields__} | {"share": "kept"}
    )
    right = [draft(DECISION), draft(NOTE, "episodic")]
    good = [scored(*right), scored(*right, label=kept)]
    assert not any(row.is_missed for row in figures.rows(good))
    bad = [*good, scored(*right, draft("CI is green."), label=kept)]
    assert any(row.is_missed for row in figures.rows(bad))


def test_words_are_compared_in_any_writing() -> None:
    assert words.coverage("缓存键必须包含租户", "缓存键必须包含租户编号") == 1.0
    assert words.coverage("Migrations hold locks", "a migration holding a lock") == 1.0
    assert words.coverage("Migrations hold locks", "CI is green") == 0.0
    assert words.mentioned(("mutex|lock", "redis"), "A LOCK in Postgres") == 1


ALL = labels.load()


def test_the_set_is_large_and_enough_of_it_is_kept_back() -> None:
    """Part of C5."""
    kept_back = [label for label in ALL if label.is_kept_back]
    assert len(ALL) >= 150
    assert len(kept_back) >= 45
    assert sum(not kept.optional for label in kept_back for kept in label.keep) >= 60
    assert len({label.name for label in ALL}) == len(ALL)


@pytest.mark.parametrize("label", ALL, ids=lambda label: label.name)
def test_a_label_agrees_with_itself(label: Label) -> None:
    """What is expected can be met, and what must never be held is there to be found."""
    said = " ".join(text for told in readings.texts(readings.read(label)).values() for text in told)
    for kept in label.keep:
        assert words.mentioned(kept.words, kept.what) == len(kept.words), kept
        assert words.mentioned(kept.words, said) == len(kept.words), kept
        assert words.coverage(kept.what, said) >= 0.7, kept
    if label.summary is not None:
        assert label.summary.mentions
        assert words.mentioned(label.summary.mentions, said) == len(label.summary.mentions)
    assert all(held.casefold() in said.casefold() for held in label.never)


@pytest.mark.parametrize("label", ALL, ids=lambda label: label.name)
def test_a_reader_who_keeps_what_is_required_gets_full_marks(label: Label) -> None:
    texts = (text for told in readings.texts(readings.read(label)).values() for text in told)
    held = re.compile("|".join(label.never) or "(?!)", re.IGNORECASE)
    quote = next(text for text in texts if text and not held.search(text))
    right = [draft(kept.what, kept.type, quote) for kept in label.keep if not kept.optional]
    if label.summary is not None and not label.summary.optional:
        told = ", ".join(mention.partition("|")[0] for mention in label.summary.mentions)
        right.append(draft(f"What was done: {told}", "episodic", quote))
    score = scored(*right, label=label)
    assert (score.false, score.missed, score.violations) == ((), (), ())
    assert all(pair.is_typed for pair in score.pairs)
