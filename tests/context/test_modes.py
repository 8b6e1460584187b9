"""Modes and hosts: how many items, and how many characters."""

import pytest

from protocol.contexts import ContextParams, Mode
from sidecar.context.rules import choosing
from sidecar.hosts import assistant

NAMES = ("recentSessions", "importantFacts", "activeTasks", "constraints")


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("default", (3, 5, 5, 10)),
        ("full", (5, 10, 10, 10)),
        ("planning", (1, 8, 8, 10)),
        ("incident", (5, 8, 3, 10)),
        ("handoff", (5, 5, 8, 10)),
        ("deep", (5, 10, 5, 10)),
        ("minimal", (1, 3, 3, 3)),
        ("none", (0, 0, 0, 0)),
    ],
)
def test_a_mode_says_how_many_items_are_given(mode: Mode, expected: tuple[int, ...]) -> None:
    """Part of D3."""
    assert choosing.limits(ContextParams(mode=mode)) == dict(zip(NAMES, expected, strict=True))


def test_what_is_asked_for_counts_instead_of_the_mode() -> None:
    """Part of D3."""
    params = ContextParams(mode="minimal", max_episodic=0, max_facts=7, max_tasks=50)
    assert tuple(choosing.limits(params).values()) == (0, 7, 50, 3)
    assert choosing.limits(ContextParams(mode="none", max_constraints=2))["constraints"] == 2


@pytest.mark.parametrize(
    ("host", "wanted", "expected"),
    [
        ("claude-code", None, 10_000),
        ("windsurf", None, 6_000),
        ("Windsurf", None, 6_000),
        ("clipboard", None, 16_000),
        ("an editor of tomorrow", None, 10_000),
        ("windsurf", 2_000, 2_000),
        ("windsurf", 20_000, 6_000),
    ],
)
def test_a_host_has_its_cap(host: str, wanted: int | None, expected: int) -> None:
    """Part of D5."""
    assert assistant.cap(host, wanted) == expected
