"""What is worth keeping is found and quoted; what is not stays out."""

import pytest

from benchmarks.enrichment import labels
from sidecar.memory.extract import decisions, duties, facts, noise, phrases
from sidecar.memory.extract.compose import compose
from sidecar.memory.rules.drafts import Draft, FileDiff, Reading
from sidecar.storage import ulids
from sidecar.text import wording
from sidecar.text.patterns import Table
from tests.readings import SESSION, capture, commit, save

# ruff: noqa: RUF001 - other scripts have letters that look like ours


LABELS = labels.load()


def notes(*readings: Reading) -> list[tuple[str, str]]:
    """Give type and title of what was found, without the summary."""
    return [(one.type, one.title) for one in compose(SESSION, readings) if one.type != "episodic"]


def summary(*readings: Reading) -> Draft | None:
    found = [one for one in compose(SESSION, readings) if one.type == "episodic"]
    assert len(found) <= 1
    return found[0] if found else None


SAID = [
    ("decision", "We picked SQLite over Postgres because every customer installs it alone."),
    ("decision", "Let's use advisory locks instead of Redis because a failover loses the lock."),
    ("decision", "We're going with server-side rendering."),
    ("decision", "OK, final decision: one repository per service."),
    ("decision", "Wir haben beschlossen, die Queue in Redis zu lassen."),
    ("decision", "On passe à Vite plutôt que webpack."),
    ("decision", "Hemos decidido usar colas en vez de llamadas directas."),
    ("decision", "Usamos o SQS em vez do Celery porque ninguém quer manter um broker."),
    ("decision", "我们决定使用 Redis 而不是 Memcached。"),
    ("decision", "PostgreSQL を使うことにした。"),
    ("constraint", "Never log access tokens."),
    ("constraint", "Passwords must not be stored in plain text."),
    ("constraint", "Uploads are limited to 20 MB."),
    ("constraint", "Only admins may delete a tenant."),
    ("constraint", "Do not edit files under gen/ by hand."),
    ("constraint", "Die Datenbank darf nur über das Repository angesprochen werden."),
    ("constraint", "Il ne faut jamais appeler l'API depuis le thread principal."),
    ("constraint", "No se debe guardar la contraseña en el log."),
    ("constraint", "Nunca suba segredos para o repositório."),
    ("constraint", "禁止在日志中输出密码。"),
    ("constraint", "パスワードをログに出してはいけない。"),
    ("preference", "I prefer small commits, one change each."),
    ("preference", "Please write commit messages in English."),
    ("preference", "Use British spelling in the docs, please."),
    ("preference", "Je préfère les tests courts."),
    ("task", "TODO: rotate the staging key"),
    ("task", "Next: wire the exporter into the command line."),
    ("task", "We still need to migrate the old rows."),
    ("task", "Offen: die Migration der alten Daten."),
    ("task", "Il reste à écrire les tests."),
    ("task", "Falta migrar los datos antiguos."),
    ("task", "下一步：增加重试机制。"),
    ("fact", "It turned out that the proxy buffers responses above 8 KB."),
    ("fact", "Remember: the sandbox of the vendor resets every night."),
    ("skill", "To run the integration tests, start docker and run `make itest`."),
    ("correction", "Actually, the limit is 50, not 100."),
    ("correction", "No, that's wrong: the client takes its timeout in milliseconds."),
]
UNSAID = [
    "CI is green, running the e2e suite now.",
    "done!",
    "Thanks, looks good to me.",
    "Should we use Redis instead of Postgres?",
    "Can you fix the login page?",
    "I think we could maybe use Redis.",
    "All 52 tests pass.",
    "Let me look at the code first.",
    "Please fix the failing test.",
    "nothing yet, must get a coffee first",
    "Never mind.",
    "> We must never do this.",
    "```\nTODO: this stands in code\n```",
    'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: port must be a number',
]


@pytest.mark.parametrize(("kind", "text"), SAID)
def test_what_people_say_is_kept_as_what_it_is(kind: str, text: str) -> None:
    assert [found for found, _ in notes(capture(1, text))] == [kind]


@pytest.mark.parametrize("text", UNSAID)
def test_what_passes_asks_or_is_quoted_is_not_kept(text: str) -> None:
    assert compose(SESSION, [capture(1, text)]) == ()


COMMITTED = [
    ("decision", "Use ruff instead of flake8 and isort", "", "Use ruff instead of flake8 and isort"),
    ("decision", "build: drop support for Python 3.8", "", "Drop support for Python 3.8"),
    ("decision", "Store sessions in Postgres", "We considered Redis and found it one thing too many.", "Store sessions in Postgres"),
    ("constraint", "feat(api)!: drop /v1", "", "Breaking: drop /v1"),
    ("constraint", "feat: page results", "BREAKING CHANGE: `limit` is now required", "Breaking: `limit` is now required"),
    ("constraint", "Check amounts", "Handlers must not trust amounts from the client.", "Handlers must not trust amounts from the client"),
    ("constraint", "Deprecate the old client", "", "Deprecate the old client"),
    ("task", "feat: search", "Ranking will follow in a separate PR.", "Ranking will follow in a separate PR"),
    ("task", "Add approvals", "Follow-up: approvals made offline are not synced yet.", "Approvals made offline are not synced yet"),
    ("correction", 'Revert "feat: search"', "This reverts commit 0123456789.\n\nIt made the start page time out.", "Reverted “feat: search”"),
    ("correction", 'Revert "Revert "feat: search""', "The time-out had another cause.", "Restored “feat: search”"),
]  # fmt: skip
PLAIN = [
    ("Fix typo in the readme", ""),
    ("Don't crash on an empty playlist", ""),
    ("Never show a negative duration", "This must have been a copy-and-paste error."),
    ("Revert button: ask before throwing edits away", ""),
    ("Count todos left to do in the header", ""),
    ("Muestra todo el historial del cliente", ""),
    ("Add a test", "Follow up to 569a33579c3cca5f801c544d9b52a34e3c779424."),
    ("Bump pillow from 10.3.0 to 10.4.0", "Users must upgrade."),
    ("Add parser", "Signed-off-by: Must Never <must@example.org>\nChange-Id: I0123456789"),
]


@pytest.mark.parametrize(("kind", "subject", "body", "title"), COMMITTED)
def test_what_a_commit_says_is_kept_as_what_it_is(
    kind: str, subject: str, body: str, title: str
) -> None:
    assert notes(commit(1, subject, body)) == [(kind, title)]


@pytest.mark.parametrize(("subject", "body"), PLAIN)
def test_a_plain_change_leaves_no_note(subject: str, body: str) -> None:
    assert notes(commit(1, subject, body)) == []


def test_a_decision_has_its_reason_its_names_files_tags_and_evidence() -> None:
    given = commit(1, "feat(cart): use `orjson` instead of json because it is faster, see SHOP-12")
    _, decision = compose(SESSION, [given])
    assert decision == Draft(
        type="decision",
        title="Use `orjson` instead of json",
        content="Use `orjson` instead of json because it is faster, see SHOP-12.",
        rationale="Because it is faster, see SHOP-12",
        importance=4,
        confidence=4,
        entities=("orjson", "SHOP-12"),
        files=("shop/orders/cart.py", "tests/test_cart.py"),
        tags=("cart", "shop/orders"),
        branch="main",
        evidence=decision.evidence,
    )
    (evidence,) = decision.evidence
    assert given.event.commit is not None
    assert evidence.quote == given.event.commit.subject
    assert (evidence.commit_sha, evidence.event_id) == (f"{1:040x}", given.event.event_id)


@pytest.mark.parametrize(
    "line",
    [
        'added = ["    # TODO: stream the file instead of reading it whole"]',
        "valid: ['// TODO(ana): drop the shim of the old parser'],",
    ],
)
def test_a_todo_in_a_string_is_data(line: str) -> None:
    """Part of C5."""
    work = commit(
        1, "Check marks in comments", diffs=(FileDiff(path="src/marks.py", added=(line,)),)
    )
    assert [draft.type for draft in compose(SESSION, [work]) if draft.type == "task"] == []


def test_a_todo_that_came_is_a_task_and_one_that_moved_or_went_again_is_none() -> None:
    line = "    # TODO: stream the file instead of reading it whole"
    other = "    // FIXME(ana): two-digit years are read as 19xx"
    came = FileDiff(path="shop/rows.py", added=(line, other))
    moved = FileDiff(path="shop/rows.py", added=(line,), removed=(line,))
    went = FileDiff(path="shop/rows.py", removed=(line,))
    first = commit(1, "Read rows", diffs=[came])
    assert {title for _, title in notes(first)} == {
        "Stream the file instead of reading it whole",
        "Two-digit years are read as 19xx",
    }
    assert notes(commit(1, "Move rows", diffs=[moved])) == []
    assert notes(first, commit(2, "Stream", diffs=[went])) == [
        ("task", "Two-digit years are read as 19xx")
    ]


def test_a_dependency_that_replaces_another_is_a_decision_and_a_new_version_is_none() -> None:
    swapped = FileDiff(
        path="pyproject.toml", added=('    "httpx>=0.27",',), removed=('    "requests>=2",',)
    )
    bumped = FileDiff(
        path="pyproject.toml", added=('    "httpx>=0.28",',), removed=('    "httpx>=0.27",',)
    )
    assert notes(commit(1, "Talk HTTP/2", diffs=[swapped])) == [
        ("decision", "Depend on httpx instead of requests")
    ]
    assert notes(commit(1, "Raise httpx", diffs=[bumped])) == []


def test_a_decision_record_is_read_from_its_file() -> None:
    lines = ("# 7. Keep money in cents", "", "## Decision", "Amounts are integers of cents.")
    record = FileDiff(path="docs/adr/0007-money.md", added=lines)
    proposed = FileDiff(path="docs/adr/0007-money.md", added=(*lines, "Status: proposed"))
    assert notes(commit(1, "Add a record", diffs=[record])) == [("decision", "Keep money in cents")]
    assert notes(commit(1, "Add a record", diffs=[proposed])) == []


def test_what_is_finished_reverted_or_decided_otherwise_within_a_session_is_not_kept() -> None:
    task = capture(1, "TODO: add a retry to the uploader")
    assert notes(task, commit(2, "Add a retry to the uploader")) == []
    chosen = commit(1, "Use Kafka instead of a table for the audit trail")
    reverted = commit(2, 'Revert "Use Kafka instead of a table for the audit trail"')
    assert notes(chosen, reverted) == []
    first = capture(1, "Let's use Kafka for the audit trail.")
    second = capture(2, "We will use a table instead of Kafka, since nobody can operate it.")
    assert notes(first, second) == [("decision", "Use a table instead of Kafka")]


def test_a_revert_of_a_revert_lets_the_first_commit_stand() -> None:
    chosen = "Use a table instead of Kafka for the audit trail"
    session = (commit(1, chosen), commit(2, f'Revert "{chosen}"'))
    restored = commit(3, f'Revert "Revert "{chosen}""', "The outage had another cause.")
    assert {kind for kind, _ in notes(*session, restored)} == {"decision", "correction"}
    told = summary(*session, restored)
    assert told is not None
    assert told.title == chosen


def test_a_trial_that_was_taken_back_is_kept_with_what_it_showed() -> None:
    trial = commit(1, "perf: try a larger buffer", "No effect that anybody could measure.")
    assert notes(trial, commit(2, 'Revert "perf: try a larger buffer"')) == [
        ("correction", "Reverted “perf: try a larger buffer”")
    ]


def test_two_rules_in_one_breath_are_two() -> None:
    text = "Never log access tokens. All dates must be stored in UTC."
    assert [title for _, title in notes(capture(1, text))] == [
        "Never log access tokens",
        "All dates must be stored in UTC",
    ]


def test_a_hole_in_security_weighs_more() -> None:
    body = "The root cause was that names were not escaped, see CVE-2026-1234."
    (_, fact) = compose(SESSION, [commit(1, "fix: escape names", body)])
    assert (fact.type, fact.importance, fact.tags[0]) == ("fact", 4, "security")


def test_what_an_agent_tells_its_user_to_do_is_no_task() -> None:
    assert notes(capture(1, "Remember to commit your changes.", agent="claude-code")) == []
    assert notes(capture(1, "Remember to rotate the staging key.")) != []


def test_our_own_words_in_a_changed_file_are_not_read() -> None:
    lines = ("<!-- threadline:memory -->", "# TODO: rotate the key", "<!-- /threadline:memory -->")
    given = commit(1, "Keep rules", diffs=[FileDiff(path="AGENTS.md", added=lines)])
    assert notes(given) == []


TABLES = [
    (f"{module.__name__.rpartition('.')[2]}.{name}", table)
    for module in (phrases, duties, decisions, facts, noise, wording)
    for name, table in vars(module).items()
    if isinstance(table, Table)
]


@pytest.mark.parametrize("table", [table for _, table in TABLES], ids=[name for name, _ in TABLES])
def test_a_sign_stands_wherever_a_phrase_does(table: Table) -> None:
    told = [f"{event.commit} {event.body} {event.say}" for one in LABELS for event in one.events]
    every = [text for _, text in SAID] + [f"{row[1]} {row[2]}" for row in COMMITTED] + UNSAID
    lines = [line for text in (*every, *told) for line in text.splitlines()]
    held = [line for line in lines if any(row.search(line) for _, row in table.rows)]
    assert held
    assert [line for line in held if not table.search(line)] == []


def test_what_is_said_twice_is_kept_once_with_both_as_evidence() -> None:
    said = "Never log access tokens."
    (draft,) = compose(SESSION, [capture(1, said), capture(2, "Never log the access tokens!")])
    assert {evidence.event_id for evidence in draft.evidence} == {
        ulids.encode(1001),
        ulids.encode(1002),
    }


def test_a_summary_tells_what_was_done_decided_and_left_open() -> None:
    """Part of C5."""
    told = summary(
        commit(1, "feat(cart): keep carts for thirty days"),
        commit(2, "wip"),
        commit(3, "fixup! feat(cart): keep carts for thirty days"),
        commit(4, "fix(cart): round prices once"),
        capture(5, "Let's use cents instead of floats, because floats lose money."),
        capture(6, "Next: tell customers before a cart goes."),
    )
    assert told is not None
    assert told.title == "Keep carts for thirty days and round prices once"
    assert told.content == (
        "Keep carts for thirty days. Also: Round prices once. 2 more commits: upkeep. "
        "Decided: Use cents instead of floats, because floats lose money. "
        "Left open: Tell customers before a cart goes. Mainly in shop/orders."
    )


@pytest.mark.parametrize(
    "session",
    [
        [commit(1, "Merge branch 'main' into cart"), commit(2, "Merge pull request #3 from x/y")],
        [commit(1, "Bump version to 2.0"), commit(2, "Release 2.0.1"), commit(3, "v2.0.2")],
        [commit(1, "Format"), commit(2, "isort"), commit(3, "Fix typo in README")],
        [commit(1, "Add parser", author_name="dependabot[bot]")],
        [commit(1, "Add parser", dropped=True)],
        [save(number, "a/b.py") for number in range(9)],
        [capture(1, "Hi!"), capture(2, "Hello, how are you?")],
        [save(number, f"a/b{number}.py") for number in range(4)],
    ],
    ids=["merges", "versions", "format", "bot", "dropped", "one file", "talk", "few saves"],
)
def test_a_session_without_work_leaves_nothing(session: list[Reading]) -> None:
    """Part of C10: too little happened, or nothing of substance."""
    assert compose(SESSION, session) == ()


def test_many_saves_in_one_area_without_a_commit_make_a_modest_summary() -> None:
    told = summary(*[save(number, f"shop/orders/part{number}.py") for number in range(6)])
    assert told is not None
    assert (told.title, told.importance) == ("Work on shop/orders without a commit", 2)


def test_a_commit_that_was_written_anew_speaks_once() -> None:
    old = commit(1, "Use ruff instead of flake8 and isort")
    new = commit(2, "Use ruff instead of pylint and isort", replaces=(f"{1:040x}",))
    assert notes(old, new) == [("decision", "Use ruff instead of pylint and isort")]
