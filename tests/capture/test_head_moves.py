"""What HEAD's log says: tables of reasons, and what each means."""

from datetime import timedelta

import pytest

from sidecar.capture.rules import head_moves
from sidecar.capture.rules.head_moves import Amended, Left, Made, Move, Rebased, Step, Unclear
from tests.support import NOON

A, B, C, D = "a" * 40, "b" * 40, "c" * 40, "d" * 40


def log(*entries: tuple[str, str, str | None]) -> list[Move]:
    """Make a log, a second for each entry."""
    return [
        Move(old=old, new=new, at=NOON + timedelta(seconds=number), reason=reason)
        for number, (old, new, reason) in enumerate(entries)
    ]


def check(
    entries: list[tuple[str, str, str | None]], expected: list[type[Step]], *, handled: int = -1
) -> tuple[Step, ...]:
    reading = head_moves.read(log(*entries), "main", is_rebasing=handled >= 0)
    assert [type(step) for step in reading.steps] == expected
    assert reading.handled == (len(entries) if handled < 0 else handled)
    return reading.steps


@pytest.mark.parametrize(
    ("reason", "meaning"),
    [
        ("commit: feat: x", Made),
        ("commit:", Made),
        ("commit: Fast-forward the tape", Made),
        ("commit (initial): x", Made),
        ("commit (merge): Merge branch 'x'", Made),
        ("commit (cherry-pick): x", Made),
        ("commit (amend): x", Amended),
        ("commit (amend):", Amended),
        ("cherry-pick: x", Made),
        ("cherry-pick: fast-forward", Left),
        ("revert: x", Made),
        ("am: x", Made),
        ("merge x: Merge made by the 'ort' strategy.", Made),
        ("merge fix(start): Merge made by the 'ort' strategy.", Made),
        ("merge x: Fast-forward", Left),
        ("merge x: Fast-forward (no commit created; -m option ignored)", Left),
        ("pull: Fast-forward", Left),
        ("pull --no-rebase /x main: Merge made by the 'ort' strategy.", Left),
        ("pull origin fix(start): Fast-forward", Left),
        ("checkout: moving from a to b", Left),
        ("reset: moving to HEAD~1", Left),
        ("clone: from /x", Left),
        ("Branch: renamed refs/heads/a to refs/heads/b", Left),
        ("my-tool: jump", Unclear),
        ("", Unclear),
        (None, Unclear),
    ],
)
def test_one_move_means(reason: str | None, meaning: type[Step]) -> None:
    check([(A, B, reason)], [meaning])


def test_a_rebase_is_one_step_with_its_branch() -> None:
    (step,) = check(
        [
            (A, B, "rebase (start): checkout main"),
            (B, C, "rebase (pick): one"),
            (C, D, "rebase (pick): two"),
            (D, D, "rebase (finish): returning to refs/heads/topic/x"),
        ],
        [Rebased],
    )
    assert isinstance(step, Rebased)
    assert (step.before, step.onto, step.after, step.branch) == (A, B, D, "topic/x")


def test_a_rebase_under_way_is_read_again_later() -> None:
    check(
        [
            (A, B, "commit: before"),
            (B, A, "rebase (start): checkout main"),
            (A, C, "rebase (edit): one"),
            (C, D, "commit: in between"),
        ],
        [Made, Made],
        handled=1,
    )


def test_an_aborted_rebase_made_nothing() -> None:
    (step,) = check(
        [
            (A, B, "rebase (start): checkout main"),
            (B, C, "commit: in between"),
            (C, A, "rebase (abort): returning to refs/heads/main"),
        ],
        [Left],
    )
    assert isinstance(step, Left)
    assert (step.before, step.after, step.is_reset) == (C, A, True)


def test_a_rebase_without_a_branch_ends_with_its_last_step() -> None:
    check(
        [
            (A, B, "rebase (start): checkout main"),
            (B, C, "rebase (pick): one"),
            (C, D, "commit: afterwards"),
            (D, A, "checkout: moving from dddd to main"),
        ],
        [Rebased, Made, Left],
    )


def test_each_move_knows_its_branch() -> None:
    reading = head_moves.read(
        log(
            ("", A, "commit (initial): x"),
            (A, B, "commit: on main"),
            (B, B, "checkout: moving from main to side"),
            (B, C, "commit: on side"),
            (C, C, f"checkout: moving from side to {C}"),
            (C, D, "commit: on none"),
        ),
        None,
        is_rebasing=False,
    )
    made = [step for step in reading.steps if isinstance(step, Made)]
    assert [step.branch for step in made] == ["main", "main", "side", None]
