"""Notes, sentences of a summary, and whether those hold the note."""

from typing import Literal, NamedTuple

from protocol.memories import MemoryType

Case = Literal["held", "paraphrased", "contradicted", "other", "absent"]


class Pair(NamedTuple):
    """A note, what a summary says, and what that is to the note."""

    case: Case
    type: MemoryType
    note: str
    summary: str


PAIRS = (
    Pair(
        "held", "decision", "We use Postgres instead of MySQL.", "We use Postgres instead of MySQL."
    ),
    Pair(
        "held",
        "constraint",
        "Never push directly to main.",
        "User rule: never push directly to main.",
    ),
    Pair(
        "held",
        "constraint",
        "The API key must never be logged.",
        "- The API key must never be logged",
    ),
    Pair(
        "held",
        "task",
        "Write the migration for the users table.",
        "Pending tasks:\n- Write the migration for the users table.",
    ),
    Pair(
        "held",
        "fact",
        "The staging database is wiped every night at 2 am.",
        "Note that the staging database is wiped every night at 2 am.",
    ),
    Pair(
        "held",
        "constraint",
        "Responses must stay under 200 ms at p99.",
        "Constraint: responses must stay under 200 ms at p99.",
    ),
    Pair(
        "held",
        "preference",
        "Use pnpm, not npm, in this repo.",
        'The user said "Use pnpm, not npm, in this repo."',
    ),
    Pair(
        "held",
        "correction",
        "`max_size` counts bytes, not items.",
        "Correction from the user: `max_size` counts bytes, not items.",
    ),
    Pair(
        "held",
        "decision",
        "Wir nehmen SQLite statt Postgres.",
        "Entscheidung: Wir nehmen SQLite statt Postgres.",
    ),
    Pair(
        "held",
        "constraint",
        "Nunca guardes contraseñas en los registros.",
        "Regla: nunca guardes contraseñas en los registros.",
    ),
    Pair(
        "paraphrased",
        "decision",
        "We decided to drop support for Python 3.9.",
        "Python 3.9 support was dropped.",
    ),
    Pair(
        "paraphrased",
        "decision",
        "Let's go with Postgres instead of MySQL, the JSON support is better.",
        "The team chose Postgres over MySQL because of its better JSON support.",
    ),
    Pair(
        "paraphrased",
        "constraint",
        "Never push directly to main, always open a PR.",
        "Nobody may push to main directly; changes go through a PR, always.",
    ),
    Pair(
        "paraphrased",
        "constraint",
        "All timestamps have to be stored in UTC.",
        "Timestamps are stored in UTC.",
    ),
    Pair(
        "paraphrased",
        "preference",
        "Please use tabs in the Makefile and four spaces everywhere else.",
        "Style: tabs in the Makefile, four spaces elsewhere.",
    ),
    Pair(
        "paraphrased",
        "task",
        "We still need to write the migration for the users table before Friday.",
        "Still to do: the users table migration has to be written before Friday.",
    ),
    Pair(
        "paraphrased",
        "fact",
        "The staging database is wiped every night at 2 am.",
        "The staging database gets wiped at 2 am every night.",
    ),
    Pair(
        "paraphrased",
        "constraint",
        "You must not touch anything under vendor/, it is generated.",
        "Do not touch anything in vendor/ since it is generated.",
    ),
    Pair(
        "paraphrased",
        "decision",
        "We'll use the event bus for order updates and not call the billing service directly.",
        "Order updates go over the event bus; the billing service is not called directly.",
    ),
    Pair(
        "paraphrased",
        "task",
        "Add a retry to the upload step, it fails on flaky networks.",
        "Remaining work: adding a retry to the upload step.",
    ),
    Pair(
        "paraphrased",
        "decision",
        "We agreed with the client that exports have at most 10,000 rows.",
        "Agreed with the client: exports are limited to at most 10000 rows.",
    ),
    Pair(
        "paraphrased",
        "preference",
        "I don't want any new dependencies for this.",
        "The user wants no new dependencies.",
    ),
    Pair(
        "paraphrased",
        "constraint",
        "Keep the public API backwards compatible until 3.0.",
        "The public API must remain backwards compatible until 3.0.",
    ),
    Pair(
        "paraphrased",
        "decision",
        "For the parser, we're going with recursive descent because the generated one can't report good errors.",
        "The parser will be recursive descent, since the generated one can't report good errors.",
    ),
    Pair(
        "paraphrased",
        "correction",
        "The limit is 50 requests per minute, not 500.",
        "The limit is 50 requests per minute.",
    ),
    Pair(
        "paraphrased",
        "fact",
        "The connection pool is created before the fork, so both processes share sockets.",
        "Root cause: the connection pool was created before the fork and both processes share its sockets.",
    ),
    Pair(
        "paraphrased",
        "preference",
        "I prefer small functions over comments.",
        "The user prefers small functions over comments.",
    ),
    Pair(
        "paraphrased",
        "decision",
        "Sessions are stored in Redis with a TTL of 24 hours.",
        "Sessions live in Redis (TTL 24 hours). They are stored there only.",
    ),
    Pair(
        "paraphrased",
        "task",
        "The progress bar is not wired up yet.",
        "## Open items\n- Progress bar must be wired up",
    ),
    Pair(
        "paraphrased",
        "task",
        "Don't forget to update the changelog when you are done.",
        "Next: update the changelog when done with this.",
    ),
    Pair(
        "paraphrased",
        "constraint",
        "The job has to finish within 15 minutes, otherwise the next one starts on top of it.",
        "The job must finish within 15 min.",
    ),
    Pair(
        "paraphrased",
        "decision",
        "Dates without a zone are read as UTC.",
        "Dates lacking a zone are read as UTC.",
    ),
    Pair(
        "paraphrased",
        "constraint",
        "0042 has to run before 0043.",
        "Migration 0042 must run before 0043.",
    ),
    Pair(
        "paraphrased",
        "decision",
        "Wir behalten die alte Schnittstelle bis Ende des Jahres.",
        "Die alte Schnittstelle wird bis Ende des Jahres behalten.",
    ),
    Pair(
        "paraphrased",
        "preference",
        "From now on write commit messages in English.",
        "Commit messages are to be written in English.",
    ),
    Pair(
        "contradicted",
        "constraint",
        "Never use `eval` in templates.",
        "The template engine uses `eval` in templates.",
    ),
    Pair(
        "contradicted",
        "decision",
        "We use Postgres instead of MySQL.",
        "We use MySQL instead of Postgres.",
    ),
    Pair(
        "contradicted",
        "decision",
        "We use Postgres instead of MySQL.",
        "Postgres was replaced by MySQL.",
    ),
    Pair(
        "contradicted",
        "preference",
        "Use pnpm, not npm, in this repo.",
        "Use npm, not pnpm, in this repo.",
    ),
    Pair(
        "contradicted",
        "decision",
        "We switch from Jenkins to GitHub Actions.",
        "We switch from GitHub Actions to Jenkins.",
    ),
    Pair(
        "contradicted", "constraint", "0042 has to run before 0043.", "0042 has to run after 0043."
    ),
    Pair(
        "contradicted", "constraint", "0042 has to run before 0043.", "0043 has to run before 0042."
    ),
    Pair(
        "contradicted",
        "decision",
        "Sessions are stored in Redis.",
        "Sessions are not stored in Redis.",
    ),
    Pair(
        "contradicted",
        "decision",
        "Let's use Redis for the session cache.",
        "Redis for the session cache was considered and rejected.",
    ),
    Pair(
        "contradicted",
        "decision",
        "Let's use Redis for the session cache.",
        "Should we use Redis for the session cache?",
    ),
    Pair(
        "contradicted",
        "decision",
        "The cache is enabled by default.",
        "The cache is disabled by default.",
    ),
    Pair(
        "contradicted",
        "constraint",
        "Only admins may delete a workspace.",
        "Admins and members may delete a workspace.",
    ),
    Pair(
        "contradicted",
        "constraint",
        "Passwords must have at least 12 characters.",
        "Passwords must have at most 12 characters.",
    ),
    Pair(
        "contradicted",
        "constraint",
        "Don't touch the Dockerfile, ops owns it.",
        "The Dockerfile was touched, ops owns it.",
    ),
    Pair(
        "contradicted",
        "task",
        "We still need to write the migration for the users table.",
        "The migration for the users table was written and is done.",
    ),
    Pair(
        "contradicted",
        "decision",
        "We keep the REST endpoints.",
        "Initially the REST endpoints were kept; later they were replaced.",
    ),
    Pair(
        "contradicted",
        "constraint",
        "Every endpoint requires authentication.",
        "Some endpoints require authentication.",
    ),
    Pair(
        "contradicted",
        "preference",
        "I prefer small functions over comments.",
        "The user prefers comments over small functions.",
    ),
    Pair(
        "contradicted",
        "constraint",
        "Nunca guardes contraseñas en los registros.",
        "El sistema guarda contraseñas en los registros.",
    ),
    Pair(
        "contradicted",
        "constraint",
        "Bitte niemals direkt auf den main-Branch pushen.",
        "Bitte direkt auf den main-Branch pushen.",
    ),
    Pair("other", "constraint", "Retry 3 times at most.", "Retry 5 times at most."),
    Pair("other", "constraint", "The timeout is 30 seconds.", "The timeout is 30 milliseconds."),
    Pair(
        "other",
        "decision",
        "We decided to drop support for Python 3.9.",
        "We decided to drop support for Python 3.8.",
    ),
    Pair("other", "correction", "The port is 8443, not 8080.", "The port is 8080."),
    Pair(
        "other",
        "constraint",
        "Exports have at most 10,000 rows.",
        "Exports have at most 1,000 rows.",
    ),
    Pair(
        "other",
        "constraint",
        "Don't edit files in src/generated/api.ts by hand.",
        "Don't edit files in src/generated/db.ts by hand.",
    ),
    Pair(
        "other",
        "constraint",
        "`Store.close` must be called before the fork.",
        "`Store.flush` must be called before the fork.",
    ),
    Pair("other", "decision", "Tokens expire after two hours.", "Tokens expire after three hours."),
    Pair(
        "other",
        "decision",
        "The nightly job runs on staging.",
        "The nightly job runs on production.",
    ),
    Pair(
        "other",
        "task",
        "The release to version 2.1 is still missing.",
        "The release to version 2.0 is still missing.",
    ),
    Pair("other", "decision", "The freeze begins on Monday.", "The freeze begins on Friday."),
    Pair(
        "other", "fact", "The variable is called tenant_id.", "The variable is called customer_id."
    ),
    Pair("other", "constraint", "Uploads are limited to 20 MB.", "Uploads are limited to 20 GB."),
    Pair(
        "absent",
        "decision",
        "We use Postgres instead of MySQL.",
        "The importer was written and all tests pass.",
    ),
    Pair(
        "absent", "constraint", "Never push directly to main.", "The user asked for a new importer."
    ),
    Pair(
        "absent",
        "decision",
        "Let's use Redis for the session cache.",
        "The session cache was discussed.",
    ),
    Pair("absent", "task", "Port the Windows installer.", "Pending tasks:\n- Update the docs."),
    Pair(
        "absent",
        "preference",
        "I prefer small functions.",
        "The functions in src/app.py are small.",
    ),
    Pair("absent", "constraint", "The API key must never be logged.", ""),
    Pair(
        "absent",
        "fact",
        "The staging database is wiped every night.",
        "The staging server was restarted. The production database has a nightly backup.",
    ),
    Pair("absent", "decision", "Option B: thumbnails are kept in S3.", "We looked at S3 pricing."),
    Pair(
        "absent",
        "constraint",
        "本番データベースには直接接続しないでください。",
        "テストを追加した。",
    ),
)

LATER = (
    Pair("paraphrased", "decision", "Ids are ULIDs.", "All ids are ULIDs."),
    Pair(
        "paraphrased",
        "constraint",
        "The tests must not hit the network.",
        "Tests are not allowed to hit the network.",
    ),
    Pair(
        "paraphrased",
        "decision",
        "We're sticking with Vue 2 until the design system is ported.",
        "Vue 2 stays until the design system has been ported.",
    ),
    Pair(
        "paraphrased",
        "fact",
        "The rate limiter keys by IP, so everyone behind the office proxy shares one bucket.",
        "Everyone behind the office proxy shares one bucket, since the rate limiter keys by IP.",
    ),
    Pair(
        "paraphrased",
        "task",
        "Port the Windows installer.",
        "7. Pending Tasks:\n   - Windows installer still needs to be ported",
    ),
    Pair(
        "paraphrased",
        "preference",
        "Stop adding emojis to log messages.",
        "No emojis in log messages.",
    ),
    Pair(
        "paraphrased",
        "constraint",
        "Prices are always integers in cents, never floats.",
        "Prices are integers in cents and never floats.",
    ),
    Pair(
        "paraphrased",
        "decision",
        "Deleted rows are kept for 30 days.",
        "Deleted rows will be kept 30 days.",
    ),
    Pair(
        "paraphrased",
        "correction",
        "It's called tenant_id everywhere, not customer_id.",
        "The user corrected: it is called tenant_id, not customer_id.",
    ),
    Pair(
        "paraphrased",
        "constraint",
        "Keine neuen Abhängigkeiten ohne Rücksprache.",
        "Keine neuen Abhängigkeiten ohne Rücksprache hinzufügen.",
    ),
    Pair(
        "contradicted",
        "constraint",
        "The tests must not hit the network.",
        "The tests hit the network, which is slow.",
    ),
    Pair(
        "contradicted",
        "decision",
        "We're sticking with Vue 2 until the design system is ported.",
        "We moved off Vue 2 before the design system was ported.",
    ),
    Pair(
        "contradicted",
        "decision",
        "Deleted rows are kept for 30 days.",
        "Deleted rows are no longer kept for 30 days.",
    ),
    Pair(
        "contradicted",
        "decision",
        "The admin UI stays read-only.",
        "The admin UI is not read-only any more.",
    ),
    Pair(
        "contradicted",
        "preference",
        "Stop adding emojis to log messages.",
        "The user likes emojis in log messages.",
    ),
    Pair(
        "contradicted",
        "constraint",
        "Nobody but the scheduler may write to the jobs table.",
        "The scheduler and the workers may write to the jobs table.",
    ),
    Pair(
        "contradicted",
        "decision",
        "We will not rewrite the parser in Rust.",
        "We will rewrite the parser in Rust.",
    ),
    Pair(
        "contradicted",
        "decision",
        "Use the event bus for order updates.",
        "Avoid the event bus for order updates.",
    ),
    Pair(
        "contradicted",
        "decision",
        "Use the event bus for order updates.",
        "The user asked whether to use the event bus for order updates.",
    ),
    Pair(
        "contradicted",
        "decision",
        "Use the event bus for order updates.",
        "It would be possible to use the event bus for order updates.",
    ),
    Pair(
        "contradicted",
        "constraint",
        "Clients may read the audit log.",
        "Clients may write the audit log.",
    ),
    Pair(
        "contradicted",
        "decision",
        "The worker owns the lock, not the scheduler.",
        "The scheduler owns the lock, not the worker.",
    ),
    Pair("contradicted", "decision", "We decided against GraphQL.", "We decided on GraphQL."),
    Pair(
        "contradicted",
        "constraint",
        "On ne modifie jamais les fichiers dans dist/.",
        "On modifie les fichiers dans dist/.",
    ),
    Pair("contradicted", "constraint", "不要在生产环境使用 eval。", "在生产环境使用 eval。"),
    Pair("other", "decision", "The cache lives for 5 minutes.", "The cache lives for 5 hours."),
    Pair("other", "decision", "The cache lives for 5 minutes.", "The cache lives for 15 minutes."),
    Pair("other", "fact", "The primary listens on port 5433.", "The replica listens on port 5432."),
    Pair(
        "other",
        "task",
        "Add an index on orders.customer_id.",
        "Still to do: add an index on orders.tenant_id.",
    ),
    Pair("other", "decision", "Python 3.12 is the minimum.", "Python 3.11 is the minimum."),
    Pair("other", "decision", "Backups run weekly.", "Backups run daily."),
    Pair("other", "preference", "Commit messages in English.", "Commit messages in German."),
    Pair("absent", "decision", "Ids are ULIDs.", "Ids were discussed at length."),
    Pair(
        "absent",
        "constraint",
        "Keep the public API backwards compatible.",
        "The public API has 14 endpoints.",
    ),
    Pair(
        "absent",
        "task",
        "Rotate the signing key before the release.",
        "Pending tasks: cut the release.",
    ),
    Pair(
        "contradicted",
        "decision",
        "Let's use Redis for the session cache.",
        "We use Redis for the session cache. This was reverted later.",
    ),
    Pair(
        "contradicted",
        "decision",
        "Let's use Redis for the session cache.",
        "User: use Redis for the session cache.\n\nThe tests pass.\n\nRedis is not used for the session cache any more.",
    ),
    Pair(
        "contradicted",
        "constraint",
        "Never push directly to main.",
        "Never push directly to main.\n\nPushing directly to main is allowed now.",
    ),
    Pair(
        "paraphrased",
        "constraint",
        "A DataLoader must be created per request, because a shared one would leak invoices.",
        "A DataLoader must be created per request, because a shared one would leak invoices.",
    ),
    Pair(
        "paraphrased",
        "decision",
        "Sessions are stored in Redis.",
        "Sessions are stored in Redis. This makes the login fast.",
    ),
)
"""Written when the pairs above were told apart, and measured before anything was changed for them."""
