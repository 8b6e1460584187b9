"""Duplicates: what says the same is one, what differs in a number, a path or a `not` never is."""

import itertools
import random

import msgspec
import pytest

from sidecar.memory.rules.duplicates import Relation, Statement, marks, relate

NUMBERS = [
    ("The upload limit is {} MB", "10", "50"),
    ("Retry failed deliveries {} times before parking them", "3", "5"),
    ("Sessions end after {} hours without an event", "4", "8"),
    ("The API listens on port {}", "8080", "9090"),
    ("Python {} is the oldest version that is supported", "3.10", "3.11"),
    ("Keep {} backups of the store", "two", "three"),
    ("The cache holds {} entries at most", "1,000", "10,000"),
    ("Requests time out after {}s", "30", "45"),
    ("Invoices are due within {} days", "14", "30"),
]
VALUES = [
    ("Use {}", "MySQL", "Postgres"),
    ("Use {} for the orders", "MySQL", "Postgres"),
    ("Deploys happen on {}", "Fridays", "Mondays"),
    ("Install packages with {}", "npm", "pnpm"),
    ("Passwords are hashed with {}", "bcrypt", "argon2"),
]
SUBJECTS = [
    ("{} must never call the database", "auth", "billing"),
    ("{} needs a review by two people", "The importer", "The exporter"),
    ("Release {} dropped the old wire format", "v2.1", "v2.2"),
    ("Shard {} holds the archive", "3", "4"),
    ("The {} service is deployed by hand", "mail", "search"),
    ("Only the {} may write to the audit log", "worker", "gateway"),
    ("{} runs before every deploy", "lint", "typecheck"),
    ("Ask {} before the schema is changed", "Ana", "Ben"),
    ("The {} report is sent to the archive", "invoice", "customer"),
    ("Column {} must stay nullable", "owner_id", "team_id"),
]
PATHS = [
    ("The parser lives in {}", "src/parser.py", "src/lexer.py"),
    ("Never edit {} by hand, it is generated", "schema.json", "types.json"),
    ("Settings are read from {}", "~/.config/app/settings.toml", "/etc/app/settings.toml"),
    ("Fixtures for the importer are in {}", "tests/data/import", "tests/data/export"),
    ("The migration is described in {}", "docs/migrate.md", "docs/upgrade.md"),
    ("Call {} before the store is opened", "open_journal", "open_archive"),
    ("The flag {} turns the check off", "--no-verify", "--no-check"),
    ("`{}` is the entry point of the worker", "worker.main", "worker.run"),
    ("Set {} to use another registry", "PIP_INDEX_URL", "NPM_INDEX_URL"),
    ("The helper {} must stay pure", "splitLines", "joinLines"),
]
NEGATIONS = [
    ("The importer {} keep empty lines", "does", "does not"),
    ("{} run migrations from a request handler", "Always", "Never"),
    ("Tests {} use the network", "may", "must not"),
    ("The dashboard is {} by default", "enabled", "disabled"),
    ("Connections are closed {} the transaction ends", "before", "after"),
    ("The index is rebuilt {} a lock", "with", "without"),
    ("The field `owner` is {}", "optional", "required"),
    ("Workers {} share a connection", "can", "cannot"),
    ("Uploads are checked on the {}", "client", "server"),
    ("We {} log the request body", "do", "don't"),
]
ENDINGS = [
    "",
    ".",
    " in production.",
    " for every tenant.",
    ", as agreed with the team.",
    " since last week.",
]


def statement(text: str, title: str = "") -> Statement:
    return Statement(type="fact", title=title or text, content=text)


def near_misses() -> list[tuple[str, str]]:
    """Make pairs that are as alike as two sentences can be, and mean something else."""
    chosen = random.Random(7)  # not for secrets
    pairs = [
        (pattern.format(left) + ending, pattern.format(right) + ending)
        for pattern, left, right in (*SUBJECTS, *PATHS, *NEGATIONS)
        for ending in ENDINGS
        for left, right in ((left, right), (right, left))
    ]
    numbers = [
        (f"Worker pool {a} handles queue {b}.", f"Worker pool {a} handles queue {b + step}.")
        for a, b, step in itertools.product(range(6), range(5), range(1, 6))
    ]
    chosen.shuffle(numbers)
    return pairs + numbers[: 510 - len(pairs)]


def test_near_misses_are_never_merged() -> None:
    """Part of C8: over 500 pairs, at the greatest likeness there is."""
    pairs = near_misses()
    assert len(pairs) >= 500
    merged = [
        pair for pair in pairs if relate(statement(pair[1]), statement(pair[0]), 0.999) != "new"
    ]
    assert merged == []


@pytest.mark.parametrize(("pattern", "left", "right"), [*NUMBERS, *VALUES])
def test_another_value_takes_the_place_of_the_older_one(
    pattern: str, left: str, right: str
) -> None:
    """C8: however little the words are alike, and whatever type either has."""
    old = msgspec.structs.replace(statement(pattern.format(left)), type="decision")
    assert relate(statement(pattern.format(right)), old, 0.0) == "update"
    assert relate(statement(f"Now {pattern.format(right).lower()}."), old, 0.0) == "update"


@pytest.mark.parametrize(
    ("new", "old", "likeness", "expected"),
    [
        ("Use uv to install packages.", "Use uv to install packages", 0.99, "same"),
        ("Install packages with uv", "Use uv to install packages", 0.95, "same"),
        ("Use uv, not pip", "Use pip, not uv", 0.98, "new"),
        ("Prefer tabs over spaces", "Prefer spaces over tabs", 0.97, "new"),
        (
            "Move the cache from Redis to Postgres",
            "Move the cache from Postgres to Redis",
            0.97,
            "new",
        ),
        (
            "The nightly job writes the invoice report to the archive",
            "The nightly job writes the customer report to the archive",
            0.96,
            "new",
        ),
        ("We decided to use uv to install packages", "Use uv to install packages", 0.94, "same"),
        ("Use Redis for the queue", "Use Redis for the cache", 0.90, "new"),
        ("The parser reads lines", "Deploys happen on Fridays", 0.2, "new"),
        (
            "The timeout was raised from 30 s to 45 s",
            "The timeout is 30 s",
            0.88,
            "update",
        ),
        (
            "Uploads go through the gateway, which signs and compresses them",
            "Uploads go through the gateway",
            0.86,
            "update",
        ),
        (
            "Uploads go through the gateway",
            "Uploads go through the gateway at /v2/upload",
            0.95,
            "same",
        ),
        ("", "Uploads go through the gateway", 0.99, "new"),
    ],
)
def test_what_is_the_same_and_what_is_newer(
    new: str, old: str, likeness: float, expected: Relation
) -> None:
    """Part of C8."""
    assert relate(statement(new), statement(old), likeness) == expected


@pytest.mark.parametrize(
    ("new", "old"),
    [
        (
            ("Do not deploy on Fridays", "We do not deploy on Fridays."),
            ("Deploy on Fridays", "We deploy on Fridays."),
        ),
        (
            ("Without Redis", "The service runs without Redis."),
            ("With Redis", "The service runs with Redis."),
        ),
    ],
)
def test_a_negation_in_title_and_content_is_still_one(
    new: tuple[str, str], old: tuple[str, str]
) -> None:
    """Part of C8."""
    left, right = (Statement(type="fact", title=one[0], content=one[1]) for one in (new, old))
    assert relate(left, right, 0.99) == relate(right, left, 0.99) == "new"


def test_an_update_is_of_the_same_type_and_subject() -> None:
    """Part of C8."""
    old = statement("Uploads go through the gateway", "Uploads")
    new = Statement(
        type="task",
        title="Uploads",
        content="Uploads go through the gateway, which must be documented",
    )
    assert relate(new, old, 0.9) == "new"


def test_marks_are_what_makes_a_statement_the_one_it_is() -> None:
    text = "Set MAX_SIZE to 10 MB in src/app.py before `boot()` and never after."
    wanted = ("max_size", "10", "mb", "src/app.py", "before", "boot()", "never", "after")
    assert marks(text) == wanted
