"""Usage: a turn that quotes or names a memory is known, and no other."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.memories import Memory
from sidecar.conversations.rules import turns
from sidecar.storage import ulids

AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def memory(number: int = 1, *, title: str = "Batch inserts", content: str = "x") -> Memory:
    return Memory(
        memory_id=ulids.encode(number + 2**120),
        project_id="p",
        type="fact",
        title=title,
        content=content,
        occurred_at=AT,
        created_at=AT,
        updated_at=AT,
    )


KNOWN = memory(
    title="Line items are batched with a DataLoader",
    content="A DataLoader must be created per request, a shared one would leak invoices.",
)


@pytest.mark.parametrize(
    "text",
    [
        f"See {KNOWN.memory_id} for the reason.",
        f"(memory {KNOWN.memory_id.lower()})",
        "As noted: line items are batched, with a `DataLoader`.",
        "We know that a DataLoader must be\ncreated PER request, so I make one in the context.",
        "LINE ITEMS ARE BATCHED WITH A DATALOADER!",
    ],
)
def test_an_id_a_title_and_six_words_in_a_row_are_a_use(text: str) -> None:
    """Part of E12."""
    assert turns.quoted(text, [memory(2), KNOWN]) == (KNOWN.memory_id,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I'll use a DataLoader.",
        "The DataLoader must be created per test.",
        f"x{KNOWN.memory_id}",
        KNOWN.memory_id[:-1],
        "must be created per request",
    ],
)
def test_less_than_that_is_none(text: str) -> None:
    """Part of E12."""
    assert turns.quoted(text, [KNOWN]) == ()


def test_a_short_title_is_no_name() -> None:
    assert (
        turns.quoted("The cache is fine.", [memory(title="Cache"), memory(title="The cache")]) == ()
    )


def test_accents_and_other_scripts_are_quoted_too() -> None:
    spanish = memory(3, title="Las contraseñas nunca van a los registros")
    chinese = memory(4, content="订单服务必须通过消息队列通知计费服务。")
    assert turns.quoted("las contrasenas nunca van a los registros", [spanish]) == (
        spanish.memory_id,
    )
    assert turns.quoted("记住:订单服务必须通过消息队列通知计费服务", [spanish, chinese]) == (
        chinese.memory_id,
    )
    assert turns.quoted("订单服务和计费服务", [chinese]) == ()


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300), st.text(min_size=1, max_size=80), st.text(min_size=1, max_size=300))
def test_no_text_is_too_strange(text: str, title: str, content: str) -> None:
    one = memory(title=title, content=content)
    assert turns.quoted(text, [one]) in ((), (one.memory_id,))


def test_sixty_memories_are_looked_for_at_once() -> None:
    words = [
        "the",
        "importer",
        "keeps",
        "every",
        "order",
        "of",
        "a",
        "customer",
        "in",
        "one",
        "file",
        "and",
        "never",
        "splits",
        "it",
    ]
    many = [
        memory(number, content=" ".join(f"{word}{number}" for word in words * 25))
        for number in range(60)
    ]
    turn = " ".join(f"{word}59" for word in words * 25)
    start = time.process_time()
    assert turns.quoted(turn, many) == (many[-1].memory_id,)
    assert time.process_time() - start < 5
