"""Choosing: what is given, what is not, and the reason for each."""

import random
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.memories import Memory
from protocol.recall import Found
from sidecar.context.rules import choosing
from sidecar.context.rules.choosing import Choice, Standing
from tests.support import NOON

DAY = timedelta(days=1)
DECISIONS = [
    "Store times in UTC everywhere",
    "Use uv instead of pip for installs",
    "Log to standard error, never to standard output",
    "Retry webhooks with exponential backoff",
    "Keep the schema in one generated file",
    "Ship wheels without compiled parts",
    "Ask git through one runner only",
    "Name modules with a single word",
    "Hold the lock while the journal is written",
    "Let readers work without any lock",
]
TEMPLATES = [
    "The {} limit is {} MB in production",
    "The {} service listens on port {}",
    "Requests of the {} time out after {} seconds",
]


def found(key: str, text: str, *, score: float = 1.0, **traits: Any) -> Found:
    content = traits.pop("content", text)
    at = traits.pop("at", NOON)
    memory = Memory(
        memory_id=key,
        project_id="p",
        type=traits.pop("type", "fact"),
        title=text,
        content=content,
        occurred_at=at,
        created_at=at,
        updated_at=at,
        **traits,
    )
    return Found(memory=memory, score=score, why={})


def ids(some: Iterable[Found]) -> list[str]:
    return [one.memory.memory_id for one in some]


def reasons(choice: Choice) -> dict[str, str]:
    return {one.id: one.reason for one in choice.ungiven}


def choose(*candidates: Found, limit: int = 5, **more: Any) -> Choice:
    return choosing.choose("importantFacts", candidates, limit, **more)


def spread(texts: Iterable[str], **traits: Any) -> list[Found]:
    """Make memories of texts, a second apart."""
    return [
        found(
            f"{traits.get('agent_id', '')}{at:03d}", text, at=NOON + timedelta(seconds=at), **traits
        )
        for at, text in enumerate(texts)
    ]


def test_the_first_candidates_are_given_in_their_order_and_the_rest_is_beyond_the_limit() -> None:
    candidates = spread(DECISIONS)
    choice = choose(*candidates, limit=4)
    assert ids(choice.chosen) == ids(candidates[:4])
    assert reasons(choice) == dict.fromkeys(ids(candidates[4:]), "limit")


@pytest.mark.parametrize(
    ("traits", "standing", "reason"),
    [
        ({"feedback": -1.0}, {}, "wrong"),
        ({"feedback": -0.9}, {}, None),
        ({"status": "superseded"}, {}, "superseded"),
        ({"status": "stale"}, {}, "gone"),
        ({"status": "forgotten"}, {}, "gone"),
        ({"verdict": "gone"}, {}, "gone"),
        ({"verdict": "gone"}, {"verdicts": {"a": "fresh"}}, None),
        ({"verdict": "fresh"}, {"verdicts": {"a": "gone"}}, "gone"),
        ({"verdict": "changed"}, {}, None),
        ({}, {"elsewhere": {"a"}}, "other branch"),
        ({}, {"elsewhere": {"b"}}, None),
    ],
)
def test_what_does_not_hold_is_left_out_and_says_why(
    traits: dict[str, Any], standing: dict[str, Any], reason: str | None
) -> None:
    choice = choose(found("a", DECISIONS[0], **traits), standing=Standing(**standing))
    assert reasons(choice).get("a") == reason
    assert ids(choice.chosen) == ([] if reason else ["a"])


def test_an_objection_is_named_also_beyond_the_limit() -> None:
    choice = choose(found("a", DECISIONS[0], status="superseded"), limit=0)
    assert reasons(choice) == {"a": "superseded"}


def test_what_is_given_carries_the_latest_verdict() -> None:
    standing = Standing(verdicts={"a": "changed"})
    (chosen,) = choose(found("a", DECISIONS[0], verdict="fresh"), standing=standing).chosen
    assert chosen.memory.verdict == "changed"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Use uv instead of pip for installs", "Use uv instead of pip for installs."),
        ("Store times in UTC everywhere", "store times in utc, everywhere"),
        ("Keep the schema in one generated file", "We keep the schema in one generated file"),
        (
            "Deploys wait for the smoke tests. They run on staging.",
            "Deploys wait for the smoke tests",
        ),
        ("Deploys wait for the smoke tests", "Deploys wait for the smoke tests"),
    ],
)
def test_nothing_is_said_twice_and_the_better_ranked_stays(first: str, second: str) -> None:
    choice = choose(found("a", first), found("b", second, at=NOON + DAY))
    assert ids(choice.chosen) == ["a"]
    assert reasons(choice) == {"b": "said already"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Retry failed deliveries 3 times", "Retry failed deliveries 5 times"),
        ("The parser lives in src/parser.py", "The parser lives in src/lexer.py"),
        ("Workers can share a connection", "Workers cannot share a connection"),
        ("Use uv, not pip", "Use pip, not uv"),
        ("Never deploy on a Friday. It ends badly.", "Deploy on a Friday"),
        (
            "Deploys wait for the smoke tests",
            "Deploys wait for the smoke tests. They run on staging.",
        ),
        ("The cache is flushed", "The cache is flushed before the tests of billing start"),
        ("Tests of the cache start before the flush. Billing is down.", "The cache is down"),
    ],
)
def test_what_differs_in_what_it_says_stays(first: str, second: str) -> None:
    choice = choose(found("a", first), found("b", second, at=NOON + DAY))
    assert ids(choice.chosen) == ["a", "b"]


def test_what_another_section_says_is_not_said_again() -> None:
    given = [found("a", DECISIONS[0], type="constraint")]
    choice = choose(found("b", DECISIONS[0]), given[0], given=given)
    assert reasons(choice) == {"b": "said already", "a": "said already"}


def test_a_rule_is_not_left_out_because_a_session_told_of_it() -> None:
    given = [found("a", DECISIONS[0], type="episodic")]
    assert ids(choose(found("b", DECISIONS[0]), given=given).chosen) == ["b"]


def test_a_statement_that_clipping_would_hide_is_said_by_itself() -> None:
    hidden = "The importer was written anew. " * 6 + "Deploys wait for the smoke tests."
    candidates = (
        found("a", "A long note", content=hidden),
        found("b", "Deploys wait for the smoke tests"),
    )
    assert ids(choose(*candidates).chosen) == ["a", "b"]


def test_texts_that_differ_after_two_thousand_letters_both_stay() -> None:
    start = "The importer keeps every line as it is. " * 60
    candidates = [
        found(key, "Importer", content=start + rest, at=NOON + DAY * at)
        for at, (key, rest) in enumerate((("a", "It skips blanks."), ("b", "It counts tabs.")))
    ]
    assert ids(choose(*candidates).chosen) == ["a", "b"]


def flood(template: str, **traits: Any) -> list[Found]:
    return spread((template.format(at) for at in range(300)), agent_id="flooder", **traits)


@pytest.mark.parametrize(
    "template",
    [
        "The deploy cache of service {} must be warmed before the deploy starts",
        "Note {}: always call the deploy helper with the cache warmed",
        "The deploy cache must be warmed before the deploy starts",
        "deploy cache warm {}",
    ],
)
def test_a_flood_by_one_author_does_not_crowd_out_the_others(template: str) -> None:
    relevant = found("ada", "Deploys read the cache key from deploy.toml", agent_id="ada")
    choice = choose(*flood(template), relevant)
    assert "ada" in ids(choice.chosen)
    assert len(choice.chosen) <= 3
    assert set(reasons(choice).values()) <= {"said already", "one author"}


def test_a_flood_in_ever_other_words_does_not_crowd_out_the_others() -> None:
    chance = random.Random(7)
    noise = ["".join(chance.choices("bcdfgklmnprstaeiou", k=7)) for _ in range(400)]
    texts = (
        f"The deploy cache must be warmed before the deploy starts {' '.join(chance.sample(noise, 3))}"
        for _ in range(300)
    )
    relevant = found("ada", "Deploys read the cache key from deploy.toml", agent_id="ada")
    choice = choose(*spread(texts, agent_id="flooder"), relevant)
    assert ids(choice.chosen)[-1] == "ada"
    assert len(choice.chosen) == 3


def test_a_flood_that_lasts_is_still_one() -> None:
    slow = [
        found(
            f"{at:03d}",
            f"Note {at}: warm the deploy cache first",
            at=NOON + timedelta(minutes=9 * at),
        )
        for at in range(60)
    ]
    assert ids(choose(*slow).chosen) == ["000", "001"]


def test_a_burst_is_counted_over_all_sections() -> None:
    many = flood("Note {}: warm the deploy cache first")
    choice = choose(*many[2:], given=many[:2])
    assert choice.chosen == ()


@pytest.mark.parametrize(
    "by", [{"agent_id": "claude-code"}, {"session_id": "s", "job_id": "j"}, {}]
)
def test_the_different_decisions_of_one_session_all_stay(by: dict[str, str]) -> None:
    candidates = spread(DECISIONS, **by)
    assert ids(choose(*candidates, limit=10).chosen) == ids(candidates)


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_few_facts_of_one_form_all_stay(template: str) -> None:
    names = (("upload", 10), ("download", 50), ("avatar", 2), ("export", 400), ("import", 80))
    candidates = spread((template.format(*one) for one in names), agent_id="claude-code")
    assert ids(choose(*candidates).chosen) == ids(candidates)


def test_the_same_words_on_other_days_or_by_others_are_no_burst() -> None:
    text = "Release {} went to production without an incident"
    days = [found(f"{at}", text.format(at), at=NOON + at * DAY) for at in range(4)]
    assert len(choose(*days).chosen) == 4
    authors = [found(f"{at}", text.format(at), agent_id=f"agent-{at}") for at in range(4)]
    assert len(choose(*authors).chosen) == 4
    committers = Standing(authors={str(at): f"dev-{at}" for at in range(4)})
    made = [found(f"{at}", text.format(at)) for at in range(4)]
    assert len(choose(*made, standing=committers).chosen) == 4
    assert len(choose(*made).chosen) == 2


def test_what_was_read_from_a_long_history_at_once_is_no_burst() -> None:
    text = "Release {} went to production without an incident"
    read = [found(f"{at}", text.format(at), at=NOON + at * DAY, job_id="j") for at in range(4)]
    at_once = [
        msgspec.structs.replace(one, memory=msgspec.structs.replace(one.memory, created_at=NOON))
        for one in read
    ]
    assert len(choose(*at_once).chosen) == 4


def summaries(count: int = 3) -> list[Found]:
    return [
        found(f"s{at}", DECISIONS[at], type="episodic", session_id=f"s{at}", at=NOON + at * DAY)
        for at in range(count)
    ]


def digest(**traits: Any) -> Found:
    covers = traits.pop("covers", ("s0", "s1"))
    return found(
        "d", "2026-03-02: a day", type="episodic", agent_id="daily-digest", covers=covers, **traits
    )


def test_a_digest_takes_the_place_of_its_sessions_summaries() -> None:
    choice = choose(*summaries(), digest(), limit=2)
    assert ids(choice.chosen) == ["d", "s2"]
    assert reasons(choice) == {"s0": "in a digest", "s1": "in a digest"}


def test_a_digest_of_another_section_stands_for_its_summaries() -> None:
    choice = choose(*summaries(), given=[digest()])
    assert ids(choice.chosen) == ["s2"]


@pytest.mark.parametrize("traits", [{"feedback": -1.0}, {"status": "superseded"}, {"covers": ()}])
def test_a_digest_that_is_not_given_replaces_nothing(traits: dict[str, Any]) -> None:
    choice = choose(digest(**traits), *summaries())
    assert {"s0", "s1", "s2"} <= set(ids(choice.chosen))


def test_digests_that_were_caught_up_with_at_once_are_no_burst() -> None:
    made = [
        found(
            f"d{at}", f"2026-03-0{at}: parser and tests", type="episodic", agent_id="daily-digest"
        )
        for at in range(1, 5)
    ]
    assert len(choose(*made).chosen) == 4


def test_a_candidate_that_comes_twice_is_given_once_and_not_missed() -> None:
    one = found("a", DECISIONS[0])
    assert choose(one, one) == Choice(chosen=(one,))


WORDS = st.lists(
    st.sampled_from(["deploy", "cache", "warm", "not", "3", "5", "uv", "pip", "lock"]),
    min_size=1,
    max_size=5,
)
CANDIDATES = st.lists(
    st.builds(
        lambda said, agent, minute, more: found(
            "", " ".join(said), agent_id=agent, at=NOON + timedelta(minutes=minute), **more
        ),
        WORDS,
        st.sampled_from((None, "ada", "bob")),
        st.integers(0, 60),
        st.sampled_from(({}, {"status": "stale"}, {"type": "episodic"}, {"feedback": -1.0})),
    ),
    max_size=30,
)


@settings(max_examples=100, deadline=None)
@given(CANDIDATES, st.integers(0, 8))
def test_every_candidate_is_given_or_named_with_a_reason(some: list[Found], limit: int) -> None:
    candidates = [found_again(one, str(at)) for at, one in enumerate(some)]
    choice = choose(*candidates, limit=limit)
    given_ids = ids(choice.chosen)
    assert sorted((*given_ids, *reasons(choice)), key=int) == ids(candidates)
    assert given_ids == sorted(given_ids, key=int)
    assert len(given_ids) <= limit
    assert choose(*candidates, limit=limit) == choice


def found_again(one: Found, key: str) -> Found:
    memory = one.memory
    return found(
        key,
        memory.title,
        type=memory.type,
        agent_id=memory.agent_id,
        status=memory.status,
        feedback=memory.feedback,
        at=memory.created_at,
    )
