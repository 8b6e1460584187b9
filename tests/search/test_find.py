"""One search over memories and records: what answers comes first, noise stays out, and nothing is shown twice."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import msgspec
import numpy as np
import pytest

from protocol.events import Commit, FileChange, NewEvent
from protocol.memories import Evidence
from protocol.recall import Hit, SearchParams, WriteParams
from sidecar.capture import record
from sidecar.memory import remember
from sidecar.search import find
from sidecar.search.meanings import Meanings
from sidecar.search.rules import scoring, snippets, terms
from sidecar.storage import texts
from sidecar.storage.vault import Vault
from tests.support import NOON

SILENT = Meanings(lambda: "no model", lambda: "no model")


class Topics:
    """A model that knows three topics by their words."""

    topics = (("car", "vehicle", "wheel"), ("cake", "bake", "oven"), ("sea", "boat", "harbour"))

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, several: Sequence[str]) -> Any:
        self.embedded += several
        rows = [
            [sum(word in text.lower() for word in topic) + 0.01 for topic in self.topics]
            for text in several
        ]
        vectors = np.zeros((len(rows), 384), np.float32)
        vectors[:, :3] = rows
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def commit(number: int, subject: str, body: str = "", *files: str, days: int = 0) -> NewEvent:
    return NewEvent(
        kind="commit",
        occurred_at=NOON - timedelta(days=days),
        idempotency_key=f"commit:{number:040x}",
        files=tuple(FileChange(path=path) for path in files),
        commit=Commit(
            sha=f"{number:040x}", authored_at=NOON, author_name="Ada", subject=subject, body=body
        ),
    )


def search(vault: Vault, query: str, meanings: Meanings = SILENT, **more: Any) -> list[Hit]:
    params = SearchParams(query=query, **more)
    return find.search(vault, params, meanings, lambda _: ())[0]


def write(vault: Vault, title: str, content: str, **more: Any) -> str:
    params = WriteParams(type="decision", title=title, content=content, **more)
    return remember.write(vault, params, SILENT).memory.memory_id


def test_a_commit_is_found_by_any_word_of_its_message_and_quoted(vault: Vault) -> None:
    """Part of C13."""
    body = "The start hook must not load it.\n\nIt costs a third of the time.\n\nSigned-off-by: Ada"
    record.ingest(vault, [commit(1, "Drop json", body, "hooks/main.py")], "test")
    (hit,) = search(vault, "why does the hook not import json")
    assert (hit.kind, hit.title, hit.author) == ("commit", "Drop json", "Ada")
    assert hit.text == "The start hook must not load it. It costs a third of the time."
    assert (hit.commit, hit.files) == (f"{1:040x}", ("hooks/main.py",))


def test_memories_and_records_are_found_together_and_told_apart(vault: Vault) -> None:
    """Part of C13."""
    record.ingest(vault, [commit(1, "Retry payments twice")], "test")
    memory_id = write(vault, "Payments are retried twice", "The gateway drops connections")
    hits = search(vault, "payments retry")
    assert {hit.kind for hit in hits} == {"commit", "memory"}
    (memory,) = [hit for hit in hits if hit.kind == "memory"]
    assert (memory.id, memory.type) == (memory_id, "decision")
    assert [hit.kind for hit in search(vault, "payments", types=("decision",))] == ["memory"]


def test_one_commit_is_shown_once(vault: Vault) -> None:
    """Part of C13: neither its cherry-picked twin nor a memory that only repeats it."""
    record.ingest(vault, [commit(1, "Pin the parser"), commit(2, "Pin the parser")], "test")
    evidence = (Evidence(commit_sha=f"{1:040x}", quote="Pin the parser"),)
    write(vault, "Pin the parser", "Pin the parser", evidence=evidence)
    assert len(search(vault, "parser")) == 1


def test_a_commit_that_was_reset_away_is_not_found(vault: Vault) -> None:
    """Part of C12: nothing is told that no branch holds any more."""
    (placed,) = record.ingest(vault, [commit(1, "Cache payments")], "test")
    assert search(vault, "payments")
    (event,) = vault.sessions.events(str(placed.session_id))
    assert event.commit is not None
    gone = msgspec.structs.replace(event.commit, dropped=True)
    with vault.transaction():
        vault.sessions.replace(msgspec.structs.replace(event, commit=gone), [event])
    assert search(vault, "payments") == []
    assert vault.verify() == []


def test_what_shares_few_words_is_left_out_where_something_answers(vault: Vault) -> None:
    """Part of C7."""
    record.ingest(
        vault,
        [
            commit(1, "Cache payments in Redis because the gateway is slow"),
            *(
                commit(number, f"Rename a slow variable {number}", "x " * 40)
                for number in range(2, 9)
            ),
        ],
        "test",
    )
    hits = search(vault, "why do we cache payments in redis, is the gateway slow")
    assert [hit.title[:5] for hit in hits] == ["Cache"]


def test_the_open_file_counts_also_by_its_former_name(vault: Vault) -> None:
    """Part of C13."""
    moved = msgspec.structs.replace(
        commit(3, "Move it"),
        files=(FileChange(path="lib/new.py", status="renamed", previous_path="old.py"),),
    )
    record.ingest(
        vault,
        [
            commit(1, "Limit the cache", "", "other.py"),
            commit(2, "Limit the cache size", "", "old.py"),
            moved,
        ],
        "test",
    )
    assert search(vault, "limit cache")[0].commit == f"{1:040x}"
    hits = search(vault, "limit cache", files_at_hand=("lib/new.py",))
    assert (hits[0].commit, hits[0].why["files"] > 0) == (f"{2:040x}", True)


def test_among_equals_the_newest_comes_first(vault: Vault) -> None:
    """Part of C7."""
    record.ingest(
        vault,
        [commit(1, "Limit the cache a", days=900), commit(2, "Limit the cache b", days=1)],
        "test",
    )
    assert [hit.commit for hit in search(vault, "limit the cache")] == [f"{2:040x}", f"{1:040x}"]


def test_meaning_decides_among_candidates_and_is_computed_once(vault: Vault) -> None:
    """Part of C13."""
    record.ingest(
        vault,
        [commit(1, "Handle it in the oven", "bake"), commit(2, "Handle it at the harbour", "boat")],
        "test",
    )
    model = Topics()
    meanings = Meanings(lambda: model)
    assert search(vault, "handle the sea", meanings)[0].commit == f"{2:040x}"
    first = len(model.embedded)
    assert search(vault, "handle the sea", meanings)[0].commit == f"{2:040x}"
    assert model.embedded[first:] == []


def test_a_search_ends_in_time_though_nothing_is_embedded(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of C7: what there is no time for is ranked by its words."""
    monkeypatch.setattr(find, "BUDGET", -1.0)
    record.ingest(vault, [commit(number, f"Handle case {number}") for number in range(40)], "test")
    model = Topics()
    hits = search(vault, "handle case 7", Meanings(lambda: model))
    assert hits[0].title == "Handle case 7"
    assert model.embedded == ["handle case 7"]


@pytest.mark.parametrize(
    "asked",
    ['"', "NEAR(a b)", "title:", "^a", "a*", "\0", "\ud800", "x " * 10_000, "{a", "AND OR NOT"],
)
def test_no_question_breaks_the_query(vault: Vault, asked: str) -> None:
    """Part of C13 and of H4."""
    record.ingest(vault, [commit(1, "something else")], "test")
    search(vault, asked)


def test_a_question_is_not_answered_by_who_asked_it_before(vault: Vault) -> None:
    """Part of C7: what was said in reply is found, also where it uses the same words."""
    said = ["Why was the parser dropped?", "The parser was dropped because nobody could read it."]
    events = [
        NewEvent(kind="capture", occurred_at=NOON, idempotency_key=text, text=text) for text in said
    ]
    record.ingest(vault, events, "test")
    assert [hit.text or hit.title for hit in search(vault, "why was the parser dropped")] == said[
        1:
    ]
    assert len(search(vault, "parser")) == 2


def test_a_snippet_is_the_sentences_that_fit() -> None:
    """Part of C13."""
    filler = "Nothing of interest is said here at all, only that somebody was busy. " * 8
    text = f"{filler}The limit is 64 because a pasted log has thousands of words. {filler}"
    shown = snippets.best(text, "why is the limit 64")
    assert "The limit is 64 because" in shown
    assert len(shown) <= snippets.SHOWN


def test_function_words_are_no_terms_unless_there_is_nothing_else() -> None:
    assert terms.of_query("why is the cache there") == ["cache"]
    assert terms.of_query("to be or not to be") == ["to", "be", "or", "not"]


def test_an_unknown_meaning_is_neither_preferred_nor_lost() -> None:
    """Part of C7."""
    one, other = (
        scoring.Candidate(key=key, words=words, at=NOON) for key, words in (("a", 2.0), ("b", 1.0))
    )
    ranked = scoring.rank([one, other], {"b": 0.5}, now=NOON)
    assert [item.key for item in ranked] == ["a", "b"]


def test_what_concerns_the_open_file_is_compared_by_meaning_though_it_shares_no_word(
    vault: Vault,
) -> None:
    """Part of D7: a question in other words still finds what was written about the file at hand."""
    record.ingest(
        vault,
        [
            commit(1, "Rounder wheels", "", "garage.py"),
            commit(2, "A cake in the oven", "", "garage.py"),
            *(commit(number, f"Which shop sells paint {number}") for number in range(3, 9)),
        ],
        "test",
    )
    model = Meanings(Topics)
    asked = "which vehicle"
    assert [hit.title for hit in search(vault, asked, model, files_at_hand=("garage.py",))][:1] == [
        "Rounder wheels"
    ]
    assert "Rounder wheels" not in [hit.title for hit in search(vault, asked, model)]


def test_the_likeliest_candidates_are_embedded_first_when_time_is_short(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of C7: a search computes what its time allows, and ranks the rest by words."""
    some = [commit(number, f"Paint number {number} " + "shop " * number) for number in range(40)]
    record.ingest(vault, some, "test")
    topics = Topics()
    monkeypatch.setattr(find, "BUDGET", -1.0)
    assert search(vault, "paint shop", Meanings(lambda: topics))
    assert topics.embedded == ["paint shop"]
    monkeypatch.undo()
    (best, *_) = texts.find(vault.database, "paint shop")
    search(vault, "paint shop", Meanings(lambda: topics))
    assert topics.embedded[2] == snippets.passages(best.text.title, "")[0]
