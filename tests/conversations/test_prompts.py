"""Prompts: what is repeated of them, and what is not."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.conversations.rules import prompts

TRACE = """Traceback (most recent call last):
  File "/srv/app.py", line 12, in main
    run()
  File "/srv/app.py", line 4, in run
    raise ValueError("no rows")
ValueError: no rows
"""
LOG = "\n".join(
    f"2026-03-02 12:00:{second:02} INFO worker: job {second} done" for second in range(40)
)


@pytest.mark.parametrize(
    "said",
    [
        *("continue", "ok", "OK!", "yes", "Yes, please.", "thanks", "/compact", "/model", "  "),
        *(";", ";;;", "---", "...", "👍", "sí, gracias", "weiter", "continuez", "go ahead"),
    ],
)
def test_a_nod_or_a_command_is_not_repeated(said: str) -> None:
    """Part of E6."""
    assert prompts.condense(said) == ""


@pytest.mark.parametrize(
    "said", ["Use uv.", "A", "no, the other way", "2", "/etc/hosts is wrong", "Warum?", "为什么"]
)
def test_ordinary_words_are_repeated_as_they_were_said(said: str) -> None:
    """Part of E6."""
    assert prompts.condense(said) == said


def test_logs_and_code_go_and_the_words_around_them_stay() -> None:
    """Part of E6."""
    said = f"Why does this fail?\n```python\nprint(1)\n```\n{LOG}\n{TRACE}\nIt worked yesterday."
    assert prompts.condense(said).startswith("Why does this fail?")
    assert prompts.condense(said).endswith("It worked yesterday.")
    assert "print(1)" not in prompts.condense(said)
    assert "INFO worker" not in prompts.condense(said)
    assert "line 12" not in prompts.condense(said)


def test_of_a_mere_log_the_first_error_stays() -> None:
    """Part of E6."""
    error = "2026-03-02 12:01:00 ERROR worker: cannot reach the database"
    assert prompts.condense(f"{LOG}\n{error}\n{LOG}\n{error} again") == error
    assert prompts.condense(f"```\n{LOG}\n{error}\n```") == error
    assert prompts.condense(LOG) == ""


def test_a_long_prompt_is_told_by_its_ends() -> None:
    """Part of E6."""
    said = " ".join(f"Sentence number {one} says something." for one in range(40))
    short = prompts.shorten(said, 330)
    assert 250 < len(short) <= 330
    assert short.startswith("Sentence number 0 says something. Sentence number 1 ")
    assert short.endswith("Sentence number 38 says something. Sentence number 39 says something.")
    assert short.count("…") == 1
    assert prompts.shorten(prompts.shorten(said, 1000), 330) == short
    assert prompts.shorten("x" * 331, 330).endswith("…")


@given(st.text(max_size=3000), st.integers(40, 1000))
def test_no_prompt_is_longer_than_it_may_be_or_breaks_a_line(said: str, most: int) -> None:
    """Part of E6."""
    short = prompts.condense(said, most)
    assert len(short) <= most
    assert len(short.splitlines()) <= 1


@pytest.mark.parametrize(
    "said",
    [
        "at " + "x(" * 50_000,
        "`" * 100_000,
        "```\n" * 25_000,
        "error" * 20_000,
        "a. " * 33_000,
        f"{LOG}\n" * 40,
        "|" * 100_000,
        ";" * 100_000,
    ],
    ids=["frames", "ticks", "fences", "errors", "sentences", "logs", "bars", "semicolons"],
)
def test_no_prompt_takes_long(said: str) -> None:
    """Part of E6."""
    began = time.process_time()
    prompts.condense(said)
    assert time.process_time() - began < 1
