"""The rules: what they make memory of, what they only propose, and what they leave alone."""

import pytest

from protocol.memories import Condition
from sidecar.memory.extract import briefings, comments, guides, talk
from sidecar.memory.extract.compose import compose
from sidecar.memory.rules import measured
from sidecar.memory.rules.drafts import Draft, FileDiff, Reading
from tests.readings import capture, commit


def read(*readings: Reading) -> list[Draft]:
    return [one for one in compose("session", readings) if one.type != "episodic"]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Los botones deben estar abajo en la pantalla de inicio.", "lasting-words"),
        ("Undo should not need to be modified for zones.", "lasting-words"),
        ("Always commit the parent task when all sub-tasks are done.", "lasting-words"),
        ("From now on use uv for every script.", "lasting-words"),
        ("Il faut garder les noms des colonnes en anglais.", "lasting-words"),
        ("Die Tabelle muss immer sortiert ausgegeben werden.", "lasting-words"),
        ("Please don't use mocks in the storage tests.", "prohibition"),
        ("I want the totals in a separate column.", "wish"),
        ("We use Supabase for authentication and storage.", "project-fact"),
        ("You should check the logs of the worker.", None),
        ("It should be centred like this", None),
        ("The build must still be failing somewhere.", None),
        ("Should we always sort the table here?", None),
        ("Now the list must be sorted again by name.", None),
        ("Fix the button on the start page.", None),
        ("Let's go with option B for the parser.", None),
    ],
)
def test_only_what_a_user_says_for_good_is_kept(text: str, rule: str | None) -> None:
    """C5. Part of C14: the rest is proposed, or stays in its conversation."""
    heard = talk.judge(text)
    assert (heard.rule if heard else None) == rule
    drafts = read(capture(1, text))
    assert [one.rule for one in drafts] == ([rule] if rule else [])
    is_sure = rule == "lasting-words"
    assert all(one.status == ("active" if is_sure else "proposed") for one in drafts)


def test_a_short_turn_is_kept_whole_and_of_a_long_one_the_sentence() -> None:
    """Part of C5."""
    short = "The export is for accountants. Amounts must be printed with two decimals."
    (draft,) = read(capture(1, short))
    assert draft.content == short
    long = f"{short}\n\n{'The rest of the page can stay as plain as it is today. ' * 5}"
    (draft,) = read(capture(1, long))
    assert draft.content == "Amounts must be printed with two decimals."
    assert draft.evidence[0].quote == "Amounts must be printed with two decimals."


def test_what_an_assistant_says_is_nobodys_rule() -> None:
    """Part of C5."""
    assert read(capture(1, "The cache must always be cleared first.", agent="claude-code")) == []


def test_a_commit_states_nothing_and_proposes_little() -> None:
    """Part of C5 and C14."""
    silent = [
        commit(1, "revert: remove Windows CI workflow"),
        commit(2, "Add colorama", "Depend on colorama."),
        commit(3, "Fix the pager", "The old query ran two subqueries, because nobody had looked."),
        commit(4, "Refactor `is_hidden`", "TODO: rename it."),
        commit(5, "Drop the cache", "It must not be used because this was broken."),
    ]
    assert read(*silent) == []
    obliged = "Parent matchers must keep their own base, because roots are joined lazily."
    decided = "Use SHA-256 instead of MD5 for the index"
    drafts = read(
        commit(6, "Cache parent matchers", obliged),
        commit(7, decided, "MD5 is slow on this hardware because it has no instruction for it."),
    )
    assert [(one.rule, one.status) for one in drafts] == [
        ("obligation", "proposed"),
        ("decision", "proposed"),
    ]
    assert drafts[0].content == f"Cache parent matchers: {obliged}"
    assert drafts[1].title == decided


def test_a_name_that_the_code_has_no_more_silences_a_proposal() -> None:
    """C12."""
    said = commit(1, "Guard it", "`open_gate` must never run twice, because it holds a lock.")
    assert [one.rule for one in compose("s", [said], {"open_gate"}.intersection)][-1:] == [
        "obligation"
    ]
    gone = compose("s", [said], set[str]().intersection)
    assert [one for one in gone if one.type != "episodic"] == []


def test_a_replaced_dependency_is_proven_by_the_manifest() -> None:
    """Part of C12: the manifest must still say so."""
    diff = FileDiff(path="pyproject.toml", removed=('  "requests",',), added=('  "httpx>=1",',))
    (draft,) = read(commit(1, "Replace requests with httpx", diffs=[diff]))
    assert draft.holds == (
        Condition(kind="dependency", path="pyproject.toml", text="httpx"),
        Condition(kind="no-dependency", path="pyproject.toml", text="requests"),
    )
    assert read(commit(1, "Replace requests with httpx")) == []


DELIBERATE = (
    "# We intentionally do not call session.rollback() in get_session(): the caller\n"
    "# owns the transaction, so that nested calls see the same state.\n"
)


def test_a_comment_is_read_over_its_lines_with_its_place() -> None:
    """Part of C5."""
    (note,) = comments.find("app/db.py", f"import os\n\n{DELIBERATE}\ndef get_session(): ...\n")
    assert (note.kind, note.first, note.last) == ("deliberate", 3, 4)
    assert note.text.startswith("We intentionally do not call session.rollback()")
    assert note.text.endswith("see the same state.")


@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        ("a.py", "# Sorted because `merge_rows` expects its input in order.", "explanation"),
        (
            "a.rs",
            "// NOTE: `read_dir` may yield the same entry twice on some file systems.",
            "explanation",
        ),
        (
            "a.c",
            "/* HACK: glibc caches `getpid()` and we fork without telling it. */",
            "explanation",
        ),
        ("a.py", "# TODO: sort because `merge_rows` expects its input in order.", None),
        ("a.py", "# noqa: E501 because `merge_rows` is a very long name in this file", None),
        ("a.py", "# Do this on purpose.", None),
        ("a.py", "# This was wrong previously because `merge_rows` did not sort it.", None),
        ("a.py", "x = 1  # set because of `merge_rows` and its expectations of order", None),
        ("a.md", "Sorted because `merge_rows` expects its input in order.", None),
    ],
)
def test_what_a_comment_explains(path: str, text: str, kind: str | None) -> None:
    """Part of C14."""
    found = comments.find(path, f"{text}\n")
    assert [one.kind for one in found] == ([kind] if kind else [])


def test_what_looks_like_a_comment_in_a_text_is_none() -> None:
    """Part of C12: a story in a data file says nothing about the project."""
    comment = "# Sorted because `merge_rows` expects its input in order."
    assert comments.find("a.toml", f"{comment}\n")
    assert not comments.find("a.toml", f"text = '''\n{comment}\n'''\n")


def test_tests_and_foreign_code_are_not_read() -> None:
    paths = ("src/a.py", "tests/test_a.py", "vendor/lib/a.go", "docs/conf.py", "src/a.min.js")
    assert [path for path in paths if comments.is_source(path)] == ["src/a.py"]


def test_a_guide_gives_its_rules_and_no_courtesies() -> None:
    """Part of C14."""
    text = """# Contributing

Thank you for your help! Please read the code of conduct.

- Public functions must have a docstring that says what a caller can rely on.
- If you want to help, open an issue first.
- Never import `numpy` at module level, because it slows the start down.
"""
    assert list(guides.rules(text)) == [
        "Public functions must have a docstring that says what a caller can rely on.",
        "Never import `numpy` at module level, because it slows the start down.",
    ]
    named = ("CONTRIBUTING.md", "docs/STYLE_GUIDE.rst", "HACKING", "README.md", "AGENTS.md")
    assert [bool(guides.NAMES.search(one)) for one in named] == [True, True, True, False, False]


def test_a_session_is_named_after_its_weightiest_commit() -> None:
    """Part of C5."""
    events = [
        commit(1, "Bump version to 1.2.0").event,
        commit(2, "docs: Mention the flag").event,
        commit(3, "Lock jobs in the database (#42)").event,
        commit(4, "Merge branch 'main' into locks").event,
    ]
    assert briefings.name(events) == "Lock jobs in the database"
    assert briefings.write(events) is None


def test_a_briefing_says_why_and_what_is_open() -> None:
    """Part of C5: quoted, and nothing that the subjects say already."""
    body = "Advisory locks need no service, because we run no Redis.\n\n- [ ] document the lock\n"
    draft = briefings.write([commit(1, "Lock jobs", body).event, commit(2, "Add a worker").event])
    assert draft is not None
    assert draft.title == "Lock jobs"
    assert draft.content == (
        "“Lock jobs”: Advisory locks need no service, because we run no Redis.\n"
        "Open: document the lock"
    )


def test_grades_follow_what_was_measured() -> None:
    """Part of C17: rules that make memory are graded above all that propose."""
    made = {measured.CONFIDENCE[rule] for rule in measured.CREATES}
    proposed = {
        grade for rule, grade in measured.CONFIDENCE.items() if rule not in measured.CREATES
    }
    assert min(made) > max(proposed)
