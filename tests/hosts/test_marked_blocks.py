"""Our block in a text of somebody else's: put in, replaced, taken out to the letter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.errors import ConflictError
from protocol.rules import Target
from sidecar.hosts import rules_files

SAID = "Never log names.\n| and this\n"
TEXTS = st.text(st.sampled_from("ab #-\t\r\n\ufeff<>!:/`é🙂")) | st.text()


def block(newline: str = "\n", body: str = SAID) -> str:
    """Give a block as it stands in a text with such line breaks."""
    return (
        rules_files.put_block("x" + newline, body)
        .removeprefix(f"x{newline}{newline}")
        .removesuffix(newline)
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "{}\n"),
        ("\ufeff", "\ufeff{}\n"),
        ("Use tabs.\n", "Use tabs.\n\n{}\n"),
        ("Use tabs.", "Use tabs.\n\n{}"),
        ("\ufeffUse tabs.\n", "\ufeffUse tabs.\n\n{}\n"),
        ("Use tabs.\n\n\n", "Use tabs.\n\n\n\n{}\n"),
        ("\n", "\n\n{}\n"),
        ("one\rtwo\r", "one\rtwo\r\n\n{}"),
    ],
)
def test_a_block_goes_to_the_end_and_leaves_as_it_came(before: str, after: str) -> None:
    """Part of D12."""
    put = rules_files.put_block(before, SAID)
    assert put == after.format(block())
    assert rules_files.drop_block(put) == before


@pytest.mark.parametrize("before", ["Use tabs.\r\n", "Use\r\ntabs.", "Use\r\ntabs.\n", "\r\n"])
def test_lines_end_as_they_do_around_it(before: str) -> None:
    """Part of D12."""
    put = rules_files.put_block(before, SAID)
    assert block("\r\n") in put
    assert "\n" not in put.removeprefix(before).replace("\r\n", "")
    assert rules_files.drop_block(put) == before


@given(TEXTS, st.text(), st.text())
def test_writing_twice_and_removing_gives_the_text_back(before: str, said: str, again: str) -> None:
    """Part of D12."""
    first = rules_files.put_block(before, said)
    second = rules_files.put_block(first, again)
    for text in (first, second):
        found = rules_files.find_block(text)
        assert found is not None
        assert found.is_intact
        assert rules_files.drop_block(text) == before
    assert rules_files.put_block(second, again) == second


@given(st.text(), TEXTS, TEXTS)
def test_everything_around_a_block_stays_when_it_is_renewed(
    said: str, before: str, after: str
) -> None:
    """Part of D12."""
    text = f"{before}\n{block()}\n{after}"
    put = rules_files.put_block(text, said)
    assert put.startswith(f"{before}\n<!-- ")
    assert put.endswith(f" -->\n{after}")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("one\n\n{}\n\ntwo\n", "one\n\ntwo\n"),
        ("one\n\n{}\ntwo\n", "one\ntwo\n"),
        ("one\n{}\ntwo\n", "one\ntwo\n"),
        ("{}\n\ntwo\n", "\ntwo\n"),
        ("one\n{}", "one"),
    ],
)
def test_a_block_that_somebody_moved_leaves_the_rest(text: str, left: str) -> None:
    """Part of D12."""
    assert rules_files.drop_block(text.format(block())) == left


def test_a_block_is_known_to_be_edited_whatever_became_of_its_line_breaks() -> None:
    """Part of D12."""
    put = rules_files.put_block("Use tabs.\n", SAID)
    for text in (put, put.replace("\n", "\r\n")):
        found = rules_files.find_block(text)
        assert found is not None
        assert found.is_intact
    edited = rules_files.find_block(put.replace("Never", "Always"))
    assert edited is not None
    assert not edited.is_intact


def begin() -> str:
    return block().splitlines()[0]


@pytest.mark.parametrize(
    "text",
    [
        f"one\n{rules_files.END}\n",
        f"one\n\n{block()}\n\n{block()}\n",
        f"{rules_files.END}\ntwo\n{begin()}\n",
        f"one\n{begin()}\ntwo\n",
        f"one\n{begin()}\n{block()}\n",
        f"{block()}\n{rules_files.END}\n",
        f"one {block()}\n",
        f"{block()} two\n",
        f"one\n> {rules_files.END}\n",
        block().replace(" sum ", " "),
        block().replace("<!-- thread", "<!--thread"),
    ],
)
def test_damaged_marks_are_refused(text: str) -> None:
    """Part of D12."""
    for act in (
        rules_files.find_block,
        rules_files.drop_block,
        lambda given: rules_files.put_block(given, SAID),
    ):
        with pytest.raises(ConflictError, match="damaged"):
            act(text)


@given(
    st.lists(
        st.sampled_from(["a", "\n", "\r\n", "x", begin(), rules_files.END, block(), block("\r\n")])
    )
)
def test_whatever_stands_in_a_text_it_is_refused_or_given_back(pieces: list[str]) -> None:
    """Part of D12."""
    text = "".join(pieces)
    try:
        found = rules_files.find_block(text)
    except ConflictError:
        return
    if found is None:
        assert rules_files.drop_block(rules_files.put_block(text, SAID)) == text
    else:
        assert rules_files.find_block(rules_files.drop_block(text)) is None


def test_what_is_told_cannot_close_the_block() -> None:
    """Part of D11."""
    put = rules_files.put_block("one\n", f"{begin()}\n{rules_files.END}\nObey me.")
    found = rules_files.find_block(put)
    assert found is not None
    assert "Obey me." in found.body
    assert rules_files.drop_block(put) == "one\n"


@pytest.mark.parametrize("target", rules_files.TARGETS)
def test_a_file_stays_within_its_limit(target: Target) -> None:
    """Part of D12."""
    written = rules_files.put(target, None, "x" * rules_files.room(target))
    assert len(written) <= {"agents": 6_000, "cursor": 10_000, "windsurf": 6_000}[target]
    assert rules_files.find(target, written) is not None
    assert rules_files.drop(target, written) == ""


@pytest.mark.parametrize("target", ["cursor", "windsurf"])
@pytest.mark.parametrize("text", ["mine\n", "\n", "\ufeff", "a\0b"])
def test_a_file_of_somebody_else_is_not_ours(target: Target, text: str) -> None:
    """Part of D12."""
    with pytest.raises(ConflictError):
        rules_files.find(target, text)
