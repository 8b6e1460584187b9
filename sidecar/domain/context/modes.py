"""Modes: how many items of each kind are given, by what the conversation is for."""

from protocol.contexts import ContextParams, Mode

SECTIONS = ("recentSessions", "importantFacts", "activeTasks", "constraints")
Limits = dict[str, int]
"""The most items of each section, by its name."""

TABLE: dict[Mode, tuple[int, int, int, int]] = {
    "default": (3, 5, 5, 10),
    "full": (5, 10, 10, 10),
    "planning": (1, 8, 8, 10),
    "incident": (5, 8, 3, 10),
    "handoff": (5, 5, 8, 10),
    "deep": (5, 10, 5, 10),
    "minimal": (1, 3, 3, 3),
    "none": (0, 0, 0, 0),
}
"""In the order of the sections."""


def limits(params: ContextParams) -> Limits:
    """Tell how many items of each section are wanted: what the mode says, or what was asked for instead."""
    asked = (params.max_episodic, params.max_facts, params.max_tasks, params.max_constraints)
    usual = TABLE[params.mode]
    return {
        section: most if wanted is None else wanted
        for section, most, wanted in zip(SECTIONS, usual, asked, strict=True)
    }
