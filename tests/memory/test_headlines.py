"""A session is named in one natural phrase, and told as a colleague would."""

import pytest

from sidecar.memory.extract.compose import compose
from sidecar.memory.rules.drafts import Draft, Reading
from sidecar.text import wording
from tests.readings import SESSION, commit

TITLES = [
    (
        ["Dropped support for GDAL 3.0", "Dropped support for GEOS 3.8"],
        "Dropped support for GDAL 3.0 and GEOS 3.8",
    ),
    (
        ["Fix crash of the parser", "Fix crash when a file is empty"],
        "Fix crash of the parser and crash when a file is empty",
    ),
    (
        ["Group notifications by day", "Spell colour the British way"],
        "Group notifications by day and spell colour the British way",
    ),
    (["Add a parser for dates", "GitHub really wants Markdown"], "Add a parser for dates"),
    (
        [f"Add Polish texts for the {name} page" for name in ("start", "cart", "help", "login")],
        "Add Polish texts for the start page and 3 similar changes",
    ),
]


def told(*readings: Reading) -> Draft:
    """Give the summary."""
    return next(one for one in compose(SESSION, readings) if one.type == "episodic")


@pytest.mark.parametrize(("subjects", "title"), TITLES)
def test_a_title_is_one_phrase(subjects: list[str], title: str) -> None:
    session = [commit(number, subject) for number, subject in enumerate(subjects)]
    assert told(*session).title == title


def test_what_was_small_is_told_by_its_kind() -> None:
    small = ["fix typo", "wip", "isort", "Document the parser of dates and times"]
    session = [
        commit(1, "Add a parser for dates"),
        commit(2, "Fix the parser of times"),
        commit(3, "Reject an empty calendar"),
        *(commit(4 + number, subject) for number, subject in enumerate(small)),
    ]
    assert told(*session).content == (
        "Add a parser for dates. Also: Fix the parser of times; Reject an empty calendar. "
        "4 more commits: upkeep, documentation. Mainly in shop/orders."
    )


def test_a_single_commit_is_told_with_its_first_sentence() -> None:
    only = commit(1, "Add a parser for dates", "Calendars from Outlook write them in words.")
    assert told(only).content == (
        "Add a parser for dates. Calendars from Outlook write them in words. Mainly in shop/orders."
    )


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("Read the address from `settings.address`", "Read the address from…"),
        ("Greet everybody with “good morning”", "Greet everybody with…"),
        ("Write all dates in words (as Outlook does)", "Write all dates in words…"),
        ("Write all dates in the words of Outlook", "Write all dates in the words…"),
    ],
)
def test_a_cut_leaves_nothing_open(text: str, cut: str) -> None:
    assert wording.clipped(text, 32) == cut


def test_a_ticket_before_a_subject_does_not_hide_it() -> None:
    ticket = commit(1, "Fixed #4812 -- Made the paginator reject negative sizes.")
    assert told(ticket).title == "Made the paginator reject negative sizes"
