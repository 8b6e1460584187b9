"""A commit that seems to have done a task nearly always has."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import suggesting
from protocol.tasks import Task
from sidecar.tasks.rules import completion, likely_ends
from sidecar.tasks.rules.conditions import Change

DAY = datetime(2026, 1, 1, tzinfo=UTC)
ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
PAIRS = {share: suggesting.load(share) for share in suggesting.SHARES}
LEAST_RECALL = {"open": 0.85, "kept": 0.8}
"""Measured: 0.91 and 0.88. Raised with the rules; never lowered."""
SIGN = "Sign uploads with SHA-256"


def task(title: str) -> Task:
    return Task(task_id=ULID, project_id="p", title=title, created_at=DAY, updated_at=DAY)


def change(message: str, sha: str = "0" * 40) -> Change:
    return Change(sha=sha, at=DAY, message=message, paths=("a.py",))


def test_nine_of_ten_suggestions_are_right() -> None:
    """Part of D2 and F11: also on pairs that no rule was written with."""
    everything = suggesting.measure(pair for pairs in PAIRS.values() for pair in pairs)
    assert everything.pairs >= 80
    assert everything.precision >= suggesting.PRECISION >= 0.9
    assert [row for row in suggesting.rows() if row.is_missed] == []


@pytest.mark.parametrize("share", suggesting.SHARES)
def test_most_of_what_is_done_is_suggested(share: str) -> None:
    """Part of D2 and F11."""
    assert suggesting.measure(PAIRS[share]).recall >= LEAST_RECALL[share]


@pytest.mark.parametrize("share", suggesting.SHARES)
def test_the_pairs_are_hard(share: str) -> None:
    """Who suggests everything is wrong more often than right."""
    assert suggesting.measure(PAIRS[share], lambda *_: True).precision < 0.4
    assert [pair for pair in PAIRS[share] if not pair.is_done and not pair.why] == []


@pytest.mark.parametrize("share", suggesting.SHARES)
def test_no_commit_of_another_task_is_taken_for_this_one(share: str) -> None:
    """Part of D2 and F11."""
    told = suggesting.measure(suggesting.strangers(PAIRS[share]))
    assert (told.wrong, told.pairs > 2_000) == (0, True)


@pytest.mark.parametrize(
    ("title", "message", "is_done"),
    [
        ("Fix #12", "Keep the zone\n\nCloses #12.", True),
        ("GH-12: the zone is lost", "Keep the zone (fixes #12)", True),
        ("SHOP-12 The zone is lost", "Keep the zone\n\nResolves SHOP-12", True),
        ("The zone is lost", f"Keep it\n\nCompletes {ULID}", True),
        ("Fix #12", "Keep the zone\n\nCloses #121.", False),
        ("Fix #12", "Keep the zone\n\nSee #12.", False),
        ("Fix #12", "Keep the zone\n\nDoes not fix #12.", False),
        ("Fix #12", "Keep the zone\n\nPartially fixes #12.", False),
        ("Fix #12", "WIP: keep the zone\n\nFixes #12.", False),
        ("Refs #12: name the zone", "Keep the hour\n\nCloses #12.", False),
        ("Fix #12", 'Revert "Keep the zone (fixes #12)"', False),
        (SIGN, "Fixes SHA-256 of empty files", False),
    ],
)
def test_a_commit_that_closes_the_number_of_a_task_has_done_it(
    title: str, message: str, is_done: bool
) -> None:
    """Part of D2 and F11."""
    assert completion.is_done_by(task(title), change(message)) is is_done


@pytest.mark.parametrize(
    ("title", "opposite"),
    [
        ("Increase upload limit to 50 MB", "Decrease upload limit to 50 MB"),
        ("Upgrade Django to 5", "Downgrade Django to 5"),
        ("Move images to CDN", "Move images off CDN"),
        ("Copy nightly backups to S3", "Copy nightly backups from S3"),
        ("Raise the retry limit for webhooks", "Lower the retry limit for webhooks"),
        ("Scale up the worker pool", "Scale down the worker pool"),
        ("Zoom in on a double click", "Zoom out on a double click"),
        ("Run migrations before the deploy", "Run migrations after the deploy"),
        ("Show prices with tax", "Show prices without tax"),
    ],
)
def test_the_opposite_does_no_task(title: str, opposite: str) -> None:
    """Part of D2 and F11, either way round."""
    assert completion.is_done_by(task(title), change(title))
    assert completion.is_done_by(task(opposite), change(opposite))
    assert not completion.is_done_by(task(title), change(opposite))
    assert not completion.is_done_by(task(opposite), change(title))


@pytest.mark.parametrize(
    ("body", "is_done"),
    [
        ("Does not work for large reports yet.", False),
        ("Large reports can't be exported yet.", False),
        ("Large reports are still missing.", False),
        ("Until now this did not work.", True),
        ("It does not need a worker.", True),
    ],
)
def test_what_a_body_leaves_open_is_not_done(body: str, is_done: bool) -> None:
    """Part of D2 and F11."""
    said = change(f"Add CSV export to reports\n\n{body}")
    assert completion.is_done_by(task("Add CSV export to reports"), said) is is_done


def test_what_was_taken_back_later_is_not_suggested() -> None:
    """Part of D2 and F11: until it is done again."""
    done, other = change(f"{SIGN}\n\nAt last.", "a" * 40), change("Name the hour", "b" * 40)
    reverted = change(f'Revert "{SIGN}"\n\nThis reverts commit {"a" * 40}.', "c" * 40)
    renamed = change("Back out signing\n\nThis reverts commit aaaaaaa.", "d" * 40)
    again = change("Sign all uploads with SHA-256", "e" * 40)
    shown = f"commit aaaaaaa says “{SIGN}”"
    assert likely_ends.likely_end(task(SIGN), [other, done], completion.is_done_by) == shown
    assert (
        likely_ends.likely_end(task(SIGN), [other, reverted, done], completion.is_done_by) is None
    )
    assert likely_ends.likely_end(task(SIGN), [renamed, other, done], completion.is_done_by) is None
    assert likely_ends.likely_end(task(SIGN), [done, reverted], completion.is_done_by) == shown
    assert likely_ends.likely_end(task(SIGN), [again, reverted, done], completion.is_done_by) == (
        "commit eeeeeee says “Sign all uploads with SHA-256”"
    )


@pytest.mark.parametrize(
    ("subject", "later"),
    [
        (SIGN, f'Revert "{SIGN}"'),
        (f"{SIGN} (#12)", f'Revert "{SIGN}" (#13)'),
        (f"{SIGN} (#12)", f'Revert "{SIGN} (#12)"'),
        (f"feat: {SIGN}", f"revert: feat: {SIGN}"),
        (SIGN, f"Revert {SIGN.lower()}"),
    ],
)
def test_what_is_taken_back_is_known_by_its_name(subject: str, later: str) -> None:
    """Part of D2 and F11."""
    commits = [change(later, "b" * 40), change(subject, "a" * 40)]
    assert likely_ends.likely_end(task(SIGN), commits, completion.is_done_by) is None
    assert likely_ends.likely_end(task(SIGN), commits[1:], completion.is_done_by) is not None


@pytest.mark.parametrize("title", ["Add tests", "Update README.md", "Fix bugs", "Docs", "…"])
def test_a_title_that_says_little_is_never_suggested(title: str) -> None:
    """Part of D2 and F11."""
    assert not completion.is_done_by(task(title), change(title))


@given(st.text(max_size=300), st.text(max_size=300))
def test_whatever_is_written_can_be_judged(title: str, message: str) -> None:
    asked, said = task(title or "x"), change(message)
    assert completion.is_done_by(asked, said) is completion.is_done_by(asked, said)
