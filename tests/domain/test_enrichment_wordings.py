"""Said once more in other words: each is found, and named as a reader would name it."""

import pytest

from sidecar.domain.drafts import Reading
from sidecar.domain.enrichment.composing import compose
from tests.readings import SESSION, capture, commit

SAID = [
    ("decision", "After comparing both we'll take Stripe, Adyen needs a contract first."),
    ("decision", "Let's keep the two databases separate for now."),
    ("decision", "Fine, SQLite then. It only ever runs on one machine."),
    ("decision|preference", "I'd go with cursor pagination because offsets get slow."),
    ("constraint|decision", "We won't support Windows 7, it has been dead for years."),
    ("constraint|decision", "we agreed with ops that deploys happen on tuesdays only"),
    ("constraint|decision", "No more feature branches: we work on main from now on."),
    ("decision|preference", "Nehmen wir doch lieber Playwright, Selenium ist zu langsam."),
    ("decision", "Se decidió migrar a Kubernetes por el coste."),
    ("constraint", "Under no circumstances should the agent touch the production database."),
    ("constraint", "The app has to run on Android 8 too, many drivers have old phones."),
    ("constraint", "Accessibility is a requirement: every control needs a label."),
    ("constraint", "don't bump the api version without asking the partners first"),
    ("constraint", "all money amounts are stored in cents, never as floats"),
    ("constraint", "Es dürfen höchstens 100 Zeilen pro Anfrage zurückgegeben werden."),
    ("constraint", "Les mots de passe ne doivent jamais apparaître dans les logs."),
    ("fact", "I found out why the tests are flaky: they share one port."),
    ("fact", "The legacy API returns dates in local time without a zone."),
    ("fact", "Grafana runs on port 3001 because 3000 is taken by the app."),
    ("fact", "La causa era un índice que faltaba en la tabla de pedidos."),
    ("constraint|task", "We have to tell the customers before we switch it off."),
    ("task", "Still open: who renews the certificate?"),
    ("task", "I could not finish the migration script, the last two tables are missing."),
    ("constraint|task", "Before the release we must update the privacy page."),
    ("task", "Next I want to cover the error paths with tests."),
    ("task", "Noch zu tun: die Hilfeseiten aktualisieren."),
    ("task", "Queda por traducir la página de ayuda."),
    ("preference", "I like tests that need no mocks."),
    ("preference", "Short answers please, I read them on my phone."),
    ("constraint|preference", "I'd prefer it if you asked before adding dependencies."),
    ("constraint|preference", "Please use the imperative in commit subjects."),
    ("constraint|decision|fact|preference", "We always squash before merging."),
    ("preference", "Nutze bitte deutsche Kommentare in diesem Projekt."),
    ("correction|fact", "Wait, that's wrong: the index is on email, not on name."),
    ("correction|fact", "Earlier I said the cron job runs in UTC. It runs in local time."),
    ("constraint|correction", "No, not the staging server. The key belongs on the build server."),
    ("fact|skill", "To see the SQL, start the server with LOG_SQL=1."),
    ("skill", "You can reproduce it with curl -X POST localhost:8080/orders -d '{}'."),
]
COMMITTED = [
    (
        "decision|fact",
        "Hash passwords with argon2id",
        "bcrypt cuts everything after 72 bytes, which one customer noticed.",
    ),
    (
        "decision|fact",
        "Deliver webhooks from a queue",
        "Sending them inside the request made the checkout as slow as the slowest receiver.",
    ),
    ("constraint|decision", "Settle on ISO 8601 for every date in the API", ""),
    (
        "decision",
        "feat(search): index with Tantivy",
        "We compared it with Elasticsearch: half the memory, and no JVM to look after.",
    ),
    ("decision|fact", "build: use esbuild", "webpack needed 90 s for what esbuild does in 2 s."),
    (
        "decision",
        "Keep the queue in Postgres",
        "A broker would be one more thing to operate, and 200 jobs a minute do not need one.",
    ),
    (
        "constraint|decision|fact",
        "refactor: turn the plugin API into plain functions",
        "Classes gave plugin authors state they should not have.",
    ),
    (
        "constraint",
        "Add the importer",
        "Rows without an id must be skipped silently, the supplier sends them on purpose.",
    ),
    (
        "constraint",
        "Split the config",
        "config/base.yml is read before the logger exists, so nothing in it may log.",
    ),
    (
        "constraint|fact",
        "Cap the batch size",
        "Lambda kills us after 15 minutes, hence at most 500 rows per batch.",
    ),
    (
        "constraint",
        "Add the ledger",
        "Amounts are always integers in the smallest unit; floats are forbidden here.",
    ),
    (
        "constraint",
        "Make invoices immutable",
        "An issued invoice can never be changed, only cancelled.",
    ),
    (
        "fact",
        "fix: do not lose events on shutdown",
        "The consumer acknowledged a message before it was written.",
    ),
    (
        "fact",
        "Fix double booking",
        "Two requests could read the same free seat because the row was not locked.",
    ),
    (
        "fact",
        "Fix slow start",
        "The plugin loader scanned node_modules, 40,000 files on my machine.",
    ),
    ("fact", "Fix the broken avatar upload", "Turns out nginx limits bodies to 1 MB by default."),
    ("fact", "perf: avoid copying frames", "Encoding a minute of video goes from 41 s to 17 s."),
    ("fact|task", "Add invoices", "Credit notes are not supported yet."),
    (
        "task",
        "Add the sync",
        "Conflicts are resolved by the last write; a real merge is left for later.",
    ),
    ("task", "Show a map", "Clustering the markers is still open."),
    ("task", "Speed up imports", "TODO: do the same for exports"),
    (
        "fact|task",
        "Add single sign-on",
        "Logout does not end the session at the provider, that needs another ticket.",
    ),
    ("correction|decision", "Revert to polling", "Websockets were cut by the hotel's proxy."),
    (
        "correction",
        'Revert "feat: lazy load images"',
        "This reverts commit abcdef1234.\n\nSafari showed blank boxes when scrolling fast.",
    ),
    ("skill", "Add a seed script", "Run `bin/seed --small` to get ten customers with orders."),
    (
        "skill",
        "Describe the failover",
        "If the primary dies: `pg_ctl promote` on the replica, then point the proxy at it.",
    ),
]
UNSAID = [
    "I'm on it.",
    "Give me a minute.",
    "That looks good to me.",
    "Do you want me to continue?",
    "I've refactored the parser and added two tests.",
    "Perhaps a queue would be better.",
    "The pipeline failed again.",
    "What does this function do?",
    "We could use Redis, or maybe Memcached.",
    "Reading the files now.",
    "I renamed the method as you asked.",
    "Nice, much faster!",
    "If it breaks again, tell me.",
    "I'm not sure whether we need this.",
    "See you tomorrow.",
    "Now the tests.",
    "Try again please.",
    "Add a button for that.",
    "Can you make the header blue?",
    "Okay, I'll write the test first.",
    "Show me the diff.",
    "Everything is committed.",
    "The weather is great today.",
    "It should work now.",
]
UNCOMMITTED = [
    ("Add a spinner", ""),
    ("Extract a method", "It was used in three places."),
    ("Use the new icon", ""),
    ("Show prices with two decimals", ""),
    ("Replace tabs with spaces", ""),
    ("Sort imports", ""),
    ("Only show active users by default in the picker", ""),
    ("Rename the flag", ""),
    ("Add missing translations", "French and Spanish."),
    ("Handle a missing avatar", ""),
    ("Move the sidebar to the left", ""),
    ("Use a shorter title", ""),
    ("Remove an unused import", ""),
    ("Improve the docs of the importer", "Explains what has to be configured."),
    ("Never show an empty list", ""),
    ("Write tests for the mailer", "They cover the text and the HTML part."),
    ("Update screenshots", ""),
    ("Let users choose a colour", ""),
    ("Stop the spinner when loading fails", ""),
    ("Clean up", ""),
    ("Return early", ""),
    ("Keep the scroll position when going back", ""),
]


def types(reading: Reading) -> set[str]:
    """Name the types of what was found, without the summary."""
    return {str(one.type) for one in compose(SESSION, [reading]) if one.type != "episodic"}


@pytest.mark.parametrize(("expected", "text"), SAID)
def test_what_is_said_in_talk_is_named(expected: str, text: str) -> None:
    """Part of C5."""
    found = types(capture(1, text))
    assert found
    assert found <= set(expected.split("|"))


@pytest.mark.parametrize(("expected", "subject", "body"), COMMITTED)
def test_what_a_commit_tells_is_named(expected: str, subject: str, body: str) -> None:
    """Part of C5."""
    found = types(commit(1, subject, body))
    assert found
    assert found <= set(expected.split("|"))


@pytest.mark.parametrize("text", UNSAID)
def test_talk_that_passes_leaves_nothing(text: str) -> None:
    """Part of C10."""
    assert types(capture(1, text)) == set()


@pytest.mark.parametrize(("subject", "body"), UNCOMMITTED)
def test_a_plain_change_leaves_no_note(subject: str, body: str) -> None:
    """Part of C10."""
    assert types(commit(1, subject, body)) == set()
