"""The same things said in other words: each is found, and named as a reader would name it."""

import pytest

from sidecar.memory.extract.compose import compose
from sidecar.memory.rules.drafts import Reading
from tests import wordings
from tests.readings import SESSION, capture, commit

# ruff: noqa: RUF001 - other scripts have letters that look like ours


SAID = [
    ("decision", "We'll stick with MySQL, moving would take a quarter."),
    ("decision", "I talked to Mara, we go for the hosted version."),
    ("decision", "Let's not support CSV any more, everybody has switched to Excel."),
    ("decision", "Decision after the meeting: no microservices this year."),
    ("decision", "Agreed, feature flags live in the config file and not in the database."),
    ("decision", "I've decided to drop the retry logic, the queue does it already."),
    ("decision", "Going with option B: one table per tenant."),
    ("decision", "We are moving away from Jenkins because nobody maintains the plugins."),
    ("decision|fact", "the client wants monthly invoices, so we bill monthly and not per order"),
    ("correction|decision", "Forget the plugin system, a config file will do."),
    ("decision", "Wir bleiben bei Angular, ein Umstieg lohnt sich nicht."),
    ("decision", "Wir haben uns für Keycloak entschieden, weil es SAML kann."),
    ("decision", "On part sur PostgreSQL, l'équipe le connaît déjà."),
    ("decision", "Hemos decidido usar Kafka porque ya lo opera el equipo de datos."),
    ("decision", "Vamos usar Redis em vez de Memcached porque precisamos de persistência."),
    ("decision", "我们决定使用gRPC而不是REST，因为延迟更低。"),
    ("decision", "認証にはKeycloakを採用することにした。"),
    ("constraint", "Nobody outside the finance team may see the margins."),
    ("constraint|preference", "Please never push directly to main."),
    ("constraint", "The page has to load in under two seconds on 3G."),
    ("constraint", "We can't use GPL libraries in the client."),
    ("constraint", "Important: the public API must stay backwards compatible until 5.0."),
    ("constraint", "only admins should be able to delete projects"),
    ("constraint|fact", "keep in mind that the token expires after ten minutes"),
    ("constraint|fact", "The customer's contract forbids storing data outside the EU."),
    ("constraint", "Jede Anfrage muss innerhalb von 200 ms beantwortet werden."),
    ("constraint", "Wir dürfen keine Kundendaten in den Logs haben."),
    ("constraint", "Il ne faut jamais appeler l'API depuis le thread principal."),
    ("constraint", "Los archivos no pueden superar los 10 MB."),
    ("constraint", "Os testes não podem acessar a rede."),
    ("constraint", "所有接口都必须做权限校验。"),
    ("constraint", "パスワードは平文で保存してはいけない。"),
    ("fact", "The cause was a stale DNS entry on the build machine."),
    ("fact", "Found it: the proxy strips the Authorization header."),
    ("fact", "FYI the invoices table has 40 million rows."),
    ("fact", "It was the firewall, port 5432 was closed from the new subnet."),
    ("fact", "Das Problem war ein abgelaufenes Zertifikat auf dem Proxy."),
    ("fact", "Le bug venait du fuseau horaire du serveur."),
    ("fact", "El problema era que el índice no se usaba con LIKE."),
    ("fact", "原因是连接池没有释放连接。"),
    ("task", "We still need a runbook for the failover."),
    ("task", "I didn't get to the error messages today, they are still in English."),
    ("task", "TODO for next week: rotate the signing key"),
    ("task", "remind me to ask legal about the retention period"),
    ("task", "What's left: the German translation and the changelog."),
    ("task", "Done. Two things are left: the retry on timeouts and a test for it."),
    ("task", "The mobile layout is broken on small screens, I'll fix that tomorrow."),
    ("task", "Morgen noch die Tests für den Import schreiben."),
    ("task", "Es fehlt noch die Übersetzung ins Polnische."),
    ("task", "Il reste à écrire les tests d'intégration."),
    ("task", "Falta documentar el nuevo endpoint."),
    ("task", "Ainda falta tratar o caso de estorno."),
    ("task", "还需要补充单元测试。"),
    ("task", "エラー処理はまだ実装していない。"),
    ("preference", "I'd like the tests to read like sentences."),
    ("preference", "Please write commit messages in English."),
    ("constraint|preference", "no abbreviations in variable names please"),
    ("constraint|preference", "I hate long functions, split anything over 30 lines."),
    ("constraint|decision|preference", "Use tabs in this project, not spaces."),
    ("preference", "We prefer composition over inheritance here."),
    ("constraint|preference", "Bitte immer erst die Tests schreiben."),
    ("preference", "Je préfère des fonctions courtes."),
    ("preference", "Prefiero que los nombres estén en inglés."),
    ("constraint|preference", "Don't use emojis in the UI, it looks unprofessional."),
    ("constraint|correction|fact", "No, the limit is 50 per minute, not 500."),
    ("correction", "I was wrong about the cache: it is shared between workers."),
    ("correction|fact", "Actually the timeout is in seconds."),
    ("correction", "That's not right, orders can have several invoices."),
    ("correction", "Correction: the job runs hourly, not daily."),
    ("correction|fact", "Sorry, I mixed that up: staging uses the old cluster."),
    ("correction", "Forget what I said about the index, the planner ignores it."),
    ("correction", "Ich habe mich geirrt: die Tabelle wird nicht partitioniert."),
    ("skill", "To run only the slow tests use pytest -m slow --no-cov."),
    ("fact|skill", "You get a shell in the container with docker compose exec app bash."),
    ("skill", "If the queue is stuck: stop the workers, run bin/requeue, start them again."),
    (
        "skill",
        "Deploys work like this: merge to main, wait for the image, then run ./deploy.sh prod.",
    ),
    ("skill", "Zum Zurücksetzen der Datenbank `make reset` ausführen."),
]
COMMITTED = [
    (
        "decision",
        "Store sessions in Postgres",
        "Redis was evaluated as well, but losing it would log everyone out.",
    ),
    (
        "decision|fact",
        "Render invoices with Typst",
        "LaTeX needed a 3 GB image and took 40 s per invoice.",
    ),
    (
        "decision|fact",
        "Write the importer in Go",
        "The Python version could not keep up with the feed.",
    ),
    (
        "decision",
        "Split the monorepo build by package",
        "We went for Bazel's remote cache; Nx would have meant rewriting the pipelines.",
    ),
    (
        "decision",
        "Move feature flags into the database",
        "A deploy for every flag was too slow for support.",
    ),
    (
        "constraint|decision",
        "Fetch prices through the gateway rather than directly",
        "The bank only whitelists one address.",
    ),
    ("constraint|decision|fact", "Pin numpy below 2", "scipy 1.11 does not load with it."),
    (
        "constraint|decision|fact",
        "Make the API read-only during migrations",
        "Otherwise writes made in between are lost.",
    ),
    (
        "decision",
        "Vendor the YAML parser",
        "upstream is dead and the fix for the anchor bug never got released",
    ),
    (
        "decision",
        "Give up on server-side rendering",
        "It doubled our hosting bill and nobody could see a difference.",
    ),
    ("decision", "Stop supporting Internet Explorer", "Less than 0.1 % of our visitors use it."),
    ("decision", "Remove GraphQL", "Nobody but us used it, and REST has everything the app needs."),
    ("constraint", "Encrypt exports", "Exports have to be encrypted at rest, legal insists on it."),
    ("constraint", "Add the audit log", "Nothing in here may be deleted, not even by an admin."),
    (
        "constraint",
        "Add a lock around the ledger",
        "Whoever writes to the ledger needs to hold the lock first.",
    ),
    ("constraint", "Validate webhooks", "Signatures are to be compared in constant time."),
    (
        "constraint",
        "Read secrets from the vault",
        "Secrets are not allowed in environment variables any more.",
    ),
    (
        "constraint",
        "Use the shared clock",
        "Do not call time.time() directly; tests freeze the shared clock.",
    ),
    (
        "constraint|fact",
        "Sort the migrations",
        "The order of these files matters: the second one relies on the table of the first.",
    ),
    ("constraint|fact", "Add rate limits", "The partner blocks us above 20 requests per second."),
    (
        "constraint",
        "Cache the catalogue",
        "The cache has to be cleared before every price change, or customers see old prices.",
    ),
    ("constraint", "Move PDFs to S3", "Object names must not contain customer names (GDPR)."),
    (
        "constraint",
        "Add the payments module",
        "This module is not allowed to import anything from web/.",
    ),
    ("constraint", "Bump the schema", "Every change to this file needs a new version number."),
    (
        "constraint",
        "Add health checks",
        "Don't put anything slow in here, Kubernetes kills the pod after a second.",
    ),
    ("constraint", "Extract the scheduler", "It has to work without a network."),
    ("fact", "Fix time zones in exports", "Background: Excel treats every date as local time."),
    ("task", "Add CSV export", "Excel export will follow."),
    ("task", "Add CSV export", "Large files are not streamed yet."),
    ("task", "Add a dark theme", "The login page still has to be done."),
    ("task", "Port the parser", "Missing: error recovery."),
    ("task", "Add search", "Ranking comes in the next pull request."),
    ("task", "Add search", "I left out pagination for now."),
    ("task", "Split the settings page", "What's missing is the mobile layout."),
    ("task", "Migrate users", "After the migration somebody has to delete the old table."),
    ("fact|task", "Add backups", "Restoring is untested so far."),
    ("task", "Workaround for the crash on ARM", "Remove this once libfoo 2.4 is out."),
    ("task", "Upload in parts", "Not part of this change: resuming after a restart."),
    ("task", "Add OAuth", "Open question: do we need refresh tokens for the CLI?"),
    (
        "correction|decision",
        "Undo the connection pooling",
        "pgbouncer breaks prepared statements, and we use them everywhere.",
    ),
    ("correction", "Back out the new scheduler", "It starved low priority jobs for hours."),
    (
        "correction",
        'Revert "Cache the exchange rates"',
        "This reverts commit 1234567890.\n\nRates were up to a day old on Mondays.",
    ),
    (
        "skill",
        "Add a script for releases",
        "To cut a release, run `make release VERSION=x.y.z` and push the tag.",
    ),
    ("skill", "Document the dump", "To restore a dump: `pg_restore -d app dump.sql`."),
    ("skill", "Add fixtures", "Regenerate the fixtures with `python tools/fixtures.py --all`."),
]
UNSAID = [
    "Tests are green.",
    "Looking into it.",
    "Thanks, great work!",
    "Can you check the logs?",
    "Maybe we should use Kafka one day.",
    "I think it might be the cache.",
    "The build is running.",
    "Should we drop Python 3.9?",
    "ok",
    "Pushed, have a look.",
    "I have added the endpoint and a test for it.",
    "I updated three files and the tests pass now.",
    "Let me look at the failing test first.",
    "What would you do?",
    "Imagine we had to support 10 million users.",
    "If we used Kafka, we would need an operator.",
    "Good morning! What's next?",
    "I could also rename the class if you like.",
    "Sure, I will do that now.",
    "Here is the new version of the function.",
    "Let's have lunch.",
    "I need to leave early today.",
    "Let's start with the tests.",
    "It works now, nice.",
]
UNCOMMITTED = [
    ("Rename a variable", ""),
    ("Replace a magic number with a constant", ""),
    ("Use f-strings instead of format", ""),
    ("Prefer const over let", ""),
    ("Never return a negative count", ""),
    ("Always show the total", ""),
    ("Make the button blue instead of green", ""),
    ("Fix a typo", ""),
    ("Show the user name instead of the id in the header", ""),
    ("Allow only digits in the phone field", ""),
    ("Require a password for deletion", ""),
    ("Add a test for empty input", "The test covers the case where no rows exist."),
    ("Add a todo list widget", ""),
    ("Decide the layout by the width of the window", ""),
    ("Fix the revert button", ""),
    ("Explain how to run the tests", "The readme now says how to set up a database."),
    ("Move helpers to a module of their own", ""),
    ("Add a must-have check to the form", "The form now says that a name is required."),
    (
        "Improve the error message",
        "It said that the field must be positive even when it was empty.",
    ),
    ("Use a set for lookups", ""),
    ("Switch the icons to outlines", ""),
    ("Update the next button", ""),
]


def types(reading: Reading) -> set[str]:
    """Name the types of what was found, without the summary."""
    return {str(one.type) for one in compose(SESSION, [reading]) if one.type != "episodic"}


@pytest.mark.parametrize(("expected", "text"), [*SAID, *wordings.SAID])
def test_what_is_said_in_talk_is_named(expected: str, text: str) -> None:
    """Part of C5."""
    found = types(capture(1, text))
    assert found
    assert found <= set(expected.split("|"))


@pytest.mark.parametrize(("expected", "subject", "body"), [*COMMITTED, *wordings.COMMITTED])
def test_what_a_commit_tells_is_named(expected: str, subject: str, body: str) -> None:
    """Part of C5."""
    found = types(commit(1, subject, body))
    assert found
    assert found <= set(expected.split("|"))


@pytest.mark.parametrize("text", [*UNSAID, *wordings.UNSAID])
def test_talk_that_passes_leaves_nothing(text: str) -> None:
    """Part of C10."""
    assert types(capture(1, text)) == set()


@pytest.mark.parametrize(("subject", "body"), [*UNCOMMITTED, *wordings.UNCOMMITTED])
def test_a_plain_change_leaves_no_note(subject: str, body: str) -> None:
    """Part of C10."""
    assert types(commit(1, subject, body)) == set()
