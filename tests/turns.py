"""Turns of developers who talk to assistants, and what of each must not be lost.

A keep is `type: words`, where the words stand in the note as they stand here; `a|b` are types that are
equally good, and a keep that begins with `?` may be left out without blame.
"""

from typing import NamedTuple


class Turn(NamedTuple):
    """One turn and what a careful listener writes down."""

    text: str
    keep: tuple[str, ...] = ()


def _user(text: str, *keep: str) -> Turn:
    return Turn(text, keep)


UNSEEN = (
    _user(
        "Let's go with Postgres instead of MySQL, the JSON support is better.", "decision: Postgres"
    ),
    _user(
        "hey, quick one: never push directly to main, always open a PR",
        "constraint|preference: never push directly to main",
    ),
    _user(
        "Please use tabs in the Makefile and four spaces everywhere else.",
        "preference|constraint: four spaces",
    ),
    _user(
        "No, that's wrong. The limit is 50 requests per minute, not 500.",
        "correction|fact: 50 requests per minute",
    ),
    _user("We decided to drop support for Python 3.9.", "decision: drop support for Python 3.9"),
    _user(
        "I prefer small functions over comments. Keep that in mind.", "preference: small functions"
    ),
    _user(
        "We still need to write the migration for the users table before Friday.",
        "task: migration for the users table",
    ),
    _user(
        "Remember that the staging database is wiped every night at 2 am.",
        "fact|constraint: staging database is wiped",
    ),
    _user(
        "You must not touch anything under vendor/, it is generated.",
        "constraint: vendor/",
    ),
    _user(
        "ok so I talked to Lena. We'll use the event bus for order updates and not call the billing service directly. Can you sketch it?",
        "decision: event bus",
    ),
    _user("Use pnpm, not npm, in this repo.", "preference|constraint|decision: pnpm"),
    _user(
        "TODO: add a retry to the upload step, it fails on flaky networks",
        "task: retry to the upload",
    ),
    _user(
        "The API key must never be logged. Also can you rename the variable?",
        "constraint: never be logged",
    ),
    _user(
        "Actually it's the worker that owns the lock, not the scheduler.",
        "correction|fact: worker that owns the lock",
    ),
    _user(
        "Don't forget to update the changelog when you are done.",
        "task|constraint|preference: changelog",
    ),
    _user(
        "From now on write commit messages in English.",
        "preference|constraint|decision: commit messages in English",
    ),
    _user(
        "We agreed with the client that exports have at most 10,000 rows.",
        "decision|constraint: 10,000 rows",
    ),
    _user("I don't want any new dependencies for this.", "constraint|preference: new dependencies"),
    _user(
        "Hi! Thanks for the quick fix. For the parser, we're going with recursive descent because the generated one can't report good errors.",
        "decision: recursive descent",
    ),
    _user(
        "The rate limiter keys by IP, so everyone behind the office proxy shares one bucket. That is the root cause.",
        "fact: root cause|keys by IP",
    ),
    _user(
        "let's not use redis here, an in-process lru cache is enough for one node",
        "decision|constraint: redis",
    ),
    _user(
        "All timestamps have to be stored in UTC.",
        "constraint: UTC",
    ),
    _user(
        "That's incorrect: `max_size` counts bytes, not items.",
        "correction|fact: counts bytes",
    ),
    _user(
        "What's left: wiring the flag into the CLI and documenting it in docs/flags.md.",
        "task: wiring the flag into the CLI",
    ),
    _user(
        "Important: the order of the migrations matters, 0042 has to run before 0043.",
        "constraint|fact: 0042",
    ),
    _user(
        "Keep the public API backwards compatible until 3.0.",
        "constraint|preference: backwards compatible",
    ),
    _user(
        "Responses must stay under 200 ms at p99, that's what we promised in the SLA.",
        "constraint: 200 ms",
    ),
    _user(
        "I'd rather have explicit imports than star imports.",
        "preference: explicit imports",
    ),
    _user(
        "I changed my mind, let's keep the REST endpoints and forget about GraphQL.",
        "decision|correction: REST endpoints",
    ),
    _user(
        "Only admins may delete a workspace. Members can archive it.",
        "constraint|fact: admins may delete",
    ),
    _user(
        "Wir nehmen SQLite statt Postgres, weil alles auf einem Gerät laufen muss.",
        "decision: SQLite",
    ),
    _user(
        "Bitte niemals direkt auf den main-Branch pushen.",
        "constraint|preference: main-Branch",
    ),
    _user(
        "Wir müssen noch die Übersetzungen für die Einstellungsseite ergänzen.",
        "task: Übersetzungen",
    ),
    _user(
        "Nein, das stimmt nicht: der Port ist 8443, nicht 8080.",
        "correction|fact: 8443",
    ),
    _user(
        "Hemos decidido usar Kafka para los eventos de pago.",
        "decision: Kafka",
    ),
    _user(
        "Nunca guardes contraseñas en los registros.",
        "constraint: contraseñas",
    ),
    _user(
        "Falta escribir las pruebas del módulo de facturas.",
        "task: pruebas",
    ),
    _user(
        "On a décidé de garder le format XML pour les archives.",
        "decision: XML",
    ),
    _user(
        "Il ne faut jamais modifier les fichiers générés dans dist/.",
        "constraint: dist/",
    ),
    _user(
        "Je préfère des tests courts sans mocks.",
        "preference: tests courts",
    ),
    _user(
        "Decidimos usar filas do RabbitMQ em vez de cron.",
        "decision: RabbitMQ",
    ),
    _user(
        "Non usare mai eval nei template.",
        "constraint: eval",
    ),
    # What follows is small talk, questions, status, guesses and dumps.
    _user("thanks!"),
    _user("looks good"),
    _user("ok, next"),
    _user("Can you run the tests again?"),
    _user("hmm, why does this fail on my machine but not in CI?"),
    _user("Good morning! How are we doing with the release?"),
    _user("perfect, that's exactly what I wanted. great work!"),
    _user("yes please"),
    _user("continue"),
    _user("What does the `limit` parameter do?"),
    _user("we could maybe use a bloom filter here, not sure"),
    _user("I wonder if we should split this module at some point."),
    _user("show me the diff"),
    _user("fix the failing test in tests/test_login.py"),
    _user("Should we use Redis or Memcached for this?"),
    _user(
        'Traceback (most recent call last):\n  File "app.py", line 12, in <module>\n    main()\n  File "app.py", line 8, in main\n    raise ValueError("limit must not be negative")\nValueError: limit must not be negative'
    ),
    _user(
        "I get this:\n```\nnpm ERR! You must not use sudo with npm\nnpm ERR! Please use nvm instead\n```\nany idea?"
    ),
    _user("lol ok"),
    _user("Danke, sieht gut aus!"),
    _user("¿Puedes ejecutar las pruebas otra vez?"),
    _user("merci, c'est parfait"),
    _user("What if we used websockets instead? Just thinking out loud."),
    _user("explain this function to me"),
    _user("wait, let me check something"),
)
"""Written before anybody had seen what the rules make of them."""

LATER = (
    _user(
        "Ok I looked at the profile. Parsing takes 80 % of the time, so forget the database for now. Let's memoize `parse_rule` and leave the loader as it is.\n\nAlso, please don't add comments to every line, they distract me.",
        "decision: memoize",
        "preference|constraint: comments to every line",
        "?fact: Parsing takes 80 %",
    ),
    _user(
        "the tests must not hit the network. use the recorded cassettes in tests/cassettes",
        "constraint: must not hit the network",
        "?preference|constraint|decision|fact|skill: recorded cassettes",
    ),
    _user(
        "Before you start: our customers run Windows Server 2016, so nothing newer than .NET 6.",
        "constraint|fact: .NET 6",
    ),
    _user(
        "stop adding emojis to log messages",
        "preference|constraint: emojis",
    ),
    _user(
        "I want every new endpoint behind the feature flag `beta_api`.",
        "preference|constraint: beta_api",
    ),
    _user(
        "It's called tenant_id everywhere, not customer_id. Please fix the new code accordingly.",
        "correction|fact|constraint: tenant_id everywhere",
    ),
    _user(
        "We're sticking with Vue 2 until the design system is ported.",
        "decision: Vue 2",
    ),
    _user(
        "Small functions, no classes, no decorators, that's how we write code here.",
        "preference|constraint: no classes",
    ),
    _user(
        "- [ ] migrate the cron jobs\n- [x] move the secrets to the vault\n- [ ] delete the old bucket",
        "task: migrate the cron jobs",
        "task: delete the old bucket",
    ),
    _user(
        "You misunderstood: the invoice is created when the order ships, not when it is paid.",
        "correction|fact: when the order ships",
    ),
    _user(
        "Heads up: port 5432 on staging is the replica. The primary listens on 5433.",
        "fact: replica|5433",
        "?fact: 5433",
    ),
    _user(
        "Our convention is one component per file, with the file named after the component.",
        "preference|constraint|fact: one component per file",
    ),
    _user(
        "Option B please. Store the thumbnails in S3 and serve them through the CDN.",
        "decision|preference: Option B|thumbnails in S3",
        "?decision|preference: thumbnails in S3",
    ),
    _user(
        "Yes, do it with a feature branch. And never rebase shared branches, we had trouble with that.",
        "constraint: never rebase shared branches",
        "?decision: feature branch",
    ),
    _user(
        "The job has to finish within 15 minutes, otherwise the next one starts on top of it.",
        "constraint: 15 minutes",
    ),
    _user(
        "We won't support IE11 any more.",
        "decision|constraint: IE11",
    ),
    _user(
        "Remember for later: the feature flag `new_checkout` is still off in production.",
        "fact|task: new_checkout",
    ),
    _user(
        "for the record, we chose UUIDv7 for ids because they sort by time",
        "decision|fact: UUIDv7",
    ),
    _user(
        "Good. Leave the Dockerfile alone though, ops owns it.",
        "constraint|preference: Dockerfile",
    ),
    _user(
        "Prices are always integers in cents, never floats.",
        "constraint|fact: integers in cents",
    ),
    _user(
        "Wir haben uns für Tailwind entschieden, weil das Team es schon kennt.",
        "decision: Tailwind",
    ),
    _user(
        "Kommentare bitte immer auf Englisch schreiben.",
        "preference|constraint: Englisch",
    ),
    _user(
        "Die Sitzung darf höchstens 30 Minuten gültig sein.",
        "constraint: 30 Minuten",
    ),
    _user(
        "Vamos a usar Redis en lugar de Memcached.",
        "decision: Redis",
    ),
    _user(
        "Todos los endpoints deben requerir autenticación.",
        "constraint: autenticación",
    ),
    _user(
        "Il reste à documenter la nouvelle option --dry-run.",
        "task: --dry-run",
    ),
    _user(
        "On va utiliser pytest plutôt que unittest.",
        "decision: pytest",
    ),
    _user(
        "我们决定使用 PostgreSQL,不用 MySQL。",
        "decision: PostgreSQL",
    ),
    _user(
        "本番データベースには直接接続しないでください。",
        "constraint|preference: 本番データベース",
    ),
    _user(
        "Não podemos alterar o formato dos arquivos de backup.",
        "constraint: backup",
    ),
    # What follows is small talk, questions, status, guesses and dumps.
    _user("Now the same for the other three files please."),
    _user("I just pushed the branch, can you have a look?"),
    _user("That didn't work. Same error."),
    _user("go ahead"),
    _user("Could you make the button blue and move it to the left?"),
    _user("If we ever move to Kubernetes we might need a different logger."),
    _user("Is it true that Python must not be older than 3.11 for this?"),
    _user("I'm getting a 500 from /api/users when I log in, no idea why."),
    _user("I have a meeting in ten minutes, let's continue afterwards."),
    _user(
        "2026-03-01 12:00:01 ERROR worker-3 task 991 must not be retried\n2026-03-01 12:00:02 INFO worker-3 shutting down\n2026-03-01 12:00:02 WARN queue never drained"
    ),
    _user("let's see what happens if you remove that line"),
    _user("add a test for the empty list"),
    _user("ja, mach weiter"),
    _user("Alles klar, danke dir! Bis morgen."),
    _user("vale, perfecto"),
    _user("nice one, the page loads much faster now!"),
)
"""Written when the rules for talk were known, and measured before anything was changed for them."""

FRESH = (
    _user(
        "so the thing is, legal told us customer emails can't leave the EU region. that means no US-hosted mail provider",
        "constraint|fact: can't leave the EU",
        "?constraint|fact: US-hosted mail provider",
    ),
    _user(
        "can you refactor this? but keep the function signatures exactly as they are, other teams import them",
        "constraint|preference: function signatures",
    ),
    _user(
        "Alright, final answer: we ship without offline mode in 2.0 and add it in 2.1.",
        "decision: offline mode",
    ),
    _user(
        "I'd like the error messages to be short and without stack traces.",
        "preference: error messages",
    ),
    _user(
        "just so you know the CI machine has only 4 GB of memory, builds with -j8 get killed",
        "fact|constraint: 4 GB",
    ),
    _user(
        "go with the second approach, the one with the write-ahead log",
        "decision: write-ahead log",
    ),
    _user(
        "Not MySQL, MariaDB. We use MariaDB 10.6 in production.",
        "correction|fact: MariaDB",
        "?fact|correction: MariaDB 10.6",
    ),
    _user(
        "Each migration needs a down step, reviewers reject it otherwise.",
        "constraint: down step",
    ),
    _user(
        "There's one thing left to do: the Safari bug with the date picker.",
        "task: Safari",
    ),
    _user(
        "Whenever you change the schema, run `make schema` and commit the result.",
        "constraint|preference|skill: make schema",
    ),
    _user(
        "I was wrong earlier, the token lives 7 days, not 30.",
        "correction|fact: 7 days",
    ),
    _user(
        "We're not going to rewrite this in Rust. Python stays.",
        "decision: Rust",
        "?decision: Python stays",
    ),
    _user(
        "No mocks in integration tests, we use testcontainers for that.",
        "constraint|preference: testcontainers|No mocks",
        "?preference|fact: testcontainers",
    ),
    _user(
        "The acceptance criterion is that a cold start takes less than 400 ms on the Pi 4.",
        "constraint|fact: 400 ms",
    ),
    _user(
        "Somebody still has to rotate the signing key before the release.",
        "task: signing key",
    ),
    _user(
        "the customer insists on PDF/A, so plain PDF is not an option",
        "constraint|decision|fact: PDF/A",
    ),
    _user(
        "Als nächstes fehlt noch die Paginierung in der Kundenliste.",
        "task: Paginierung",
    ),
    _user(
        "Keine neuen Abhängigkeiten ohne Rücksprache.",
        "constraint|preference: Abhängigkeiten",
    ),
    _user(
        "Mejor usamos tabs, no espacios, en los ficheros Makefile.",
        "preference|decision|constraint: tabs",
    ),
    _user(
        "En fait le port est 9090, pas 8080.",
        "correction|fact: 9090",
    ),
    _user("hm, that looks odd. are you sure about line 40?"),
    _user("ok let me try it locally first"),
    _user("Write a function that returns the median of a list."),
    _user("rename it to fetchOrders and move it to services"),
    _user("It works now, thanks a lot! I'll test the rest tomorrow."),
    _user("The page is blank after I click save, nothing in the console."),
    _user("Do you think we should always validate on the server too?"),
    _user(
        "export function limit(n) {\n  // must never be negative\n  if (n < 0) {\n    throw new Error('n must not be negative');\n  }\n  return n;\n}"
    ),
    _user("In theory we could shard by tenant, but that's a discussion for another day."),
    _user("what's next?"),
    _user("Super, vielen Dank. Kannst du noch kurz erklären, wie das funktioniert?"),
)
"""Written when all of the above was right, and measured before anything was changed for them."""

LAST = (
    _user(
        "the retention should be 90 days, not configurable",
        "constraint|preference|decision: 90 days",
    ),
    _user(
        "I hate it when tests depend on each other, make every one set up its own data.",
        "preference|constraint: set up its own data",
    ),
    _user(
        "Two things: 1) ids stay strings everywhere 2) no dates without a zone",
        "constraint|decision: ids stay strings",
        "constraint: no dates without a zone",
    ),
    _user(
        "We promised the beta testers that their projects can be opened by the final version.",
        "constraint|fact: beta testers",
    ),
    _user(
        "Ask me before you delete anything.",
        "preference|constraint: before you delete",
    ),
    _user(
        "our deadline is the 14th, the demo is on the 12th",
        "fact|constraint: 14th",
    ),
    _user(
        "We've moved on from Jenkins, everything is built by GitHub Actions now.",
        "decision|fact: GitHub Actions",
    ),
    _user(
        "For the colours, take the palette from design/tokens.json, don't invent new ones.",
        "constraint|preference|decision: design/tokens.json",
    ),
    _user(
        "Nobody but the scheduler may write to that table.",
        "constraint: scheduler",
    ),
    _user(
        "I already told you that the folder is called `packages`, not `libs`.",
        "correction|fact: packages",
    ),
    _user(
        "Later we have to replace the fake payment provider with the real one.",
        "task: payment provider",
    ),
    _user(
        "it turned out that the old exporter rounds to two digits, the new one to four",
        "fact: two digits",
    ),
    _user(
        "Tests schreiben wir immer mit pytest, nie mit unittest.",
        "preference|constraint|decision: pytest",
    ),
    _user("El límite de subida es de 20 MB como máximo.", "constraint|fact: 20 MB"),
    _user("Nous gardons Java 17 jusqu'à la fin de l'année.", "decision|constraint: Java 17"),
    _user("why not?"),
    _user("can't you just use the existing helper?"),
    _user("same error as before, see the screenshot"),
    _user("Nice. Commit it and open a PR."),
    _user("I'm off for today, see you tomorrow."),
    _user("delete the unused imports and run the formatter"),
    _user("Is the build green again?"),
)
"""Written and measured last of all."""
