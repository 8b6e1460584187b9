"""Memories of an invented project (a ferry line's booking system), and questions that say it in other words."""

from typing import NamedTuple


class Pair(NamedTuple):
    """A memory, and a question that it answers."""

    title: str
    content: str
    question: str


PAIRS = tuple(
    Pair(*row)
    for row in (
        (
            "Seats are held for twelve minutes",
            "When a traveller starts checkout we reserve the seats for twelve minutes; after that the hold expires and they return to the pool. Shorter holds made people on slow phones lose their places.",
            "how long does a customer have to finish paying before we release the places",
        ),
        (
            "Prices are integers of cents",
            "All amounts are stored and computed as whole cents in the account's currency. Floating point caused three invoices to be off by one cent in the pilot.",
            "why don't we use decimals or floats for money",
        ),
        (
            "Postgres instead of MongoDB",
            "We chose PostgreSQL because bookings need transactions across vehicles, cabins and passengers. The document store of the prototype sold the same cabin twice.",
            "which database engine did we settle on and for what reason",
        ),
        (
            "Departures are kept in UTC, shown in harbour time",
            "Every timestamp in the tables is UTC. The conversion to the harbour's own zone happens in the presentation layer only, because two of our routes cross a zone border.",
            "what do I do with local time of a port when I save a sailing",
        ),
        (
            "Retry payments at most twice",
            "The payment gateway may be asked again twice, with the same idempotency key, and then the order fails. More attempts led to cards being locked by the banks.",
            "number of attempts when charging a credit card does not go through",
        ),
        (
            "No personal data in logs",
            "Names, passport numbers and e-mail addresses must never reach the log files; the formatter masks them. The data protection officer checks this every quarter.",
            "am I allowed to print a passenger's details while debugging",
        ),
        (
            "The mobile app talks GraphQL, partners talk REST",
            "Travel agencies integrate through the versioned REST endpoints. Our own app uses GraphQL so that screens can ask for just what they show on bad ship wifi.",
            "what kind of API should an external agency connect to",
        ),
        (
            "Overbooking is capped at three percent",
            "The yield team may sell three percent more foot passenger tickets than there are places. Cabins and car deck metres are never oversold.",
            "can we sell more tickets than the boat has room for",
        ),
        (
            "Vehicle length is measured in decimetres",
            "Car deck planning needs lengths in decimetres as integers, rounding up. Metres were too coarse for motorbikes and trailers.",
            "unit for how long a car or lorry is",
        ),
        (
            "Feature flags live in the database",
            "Switches for unfinished functions are rows in the table flags, cached for thirty seconds, so that support can turn them off without a deployment.",
            "how do we disable something new without releasing again",
        ),
        (
            "Tests may not sleep",
            "A test that waits must wait for an event with an upper bound. Fixed delays made the nightly pipeline take forty minutes and fail at random.",
            "rule about pauses and timing in the test suite",
        ),
        (
            "Cancellation is free until 24 hours before departure",
            "Travellers get the whole fare back if they cancel a day ahead, half of it until two hours ahead, and nothing afterwards. Weather cancellations by us are always refunded in full.",
            "what money do people get back when they call off their trip",
        ),
        (
            "Search results are cached for ninety seconds",
            "Availability answers may be up to ninety seconds old; the final check happens when the hold is made. Without the cache the holiday rush brought the primary down.",
            "how stale may the list of free sailings be",
        ),
        (
            "One branch per ticket, squash on merge",
            "Work happens on short branches named after the ticket, and is squashed into one commit on main. Long-lived branches cost us a week of merging in spring.",
            "what does our git workflow look like",
        ),
        (
            "Harbour gateways speak MQTT",
            "The boarding gates publish scans over MQTT with quality of service one; the consumer deduplicates by scan id, because messages can arrive twice.",
            "protocol between the turnstiles at the pier and our backend",
        ),
        (
            "Ids are ULIDs",
            "New tables use ULIDs as primary keys: they sort by creation time and can be made on the client while the ship is offline.",
            "what type of identifier should a fresh entity have",
        ),
        (
            "The crew tablet works offline",
            "The check-in tablet keeps a local SQLite copy of the manifest and synchronises when the ship has a connection. Conflicts are resolved in favour of the tablet, as the crew sees the passenger.",
            "what happens to boarding when there is no internet at sea",
        ),
        (
            "Redis may be lost at any time",
            "Nothing may live only in Redis. It holds holds, sessions and rate counters that can be rebuilt from Postgres; we test by flushing it every night in staging.",
            "is it fine to keep important state solely in the in-memory cache",
        ),
        (
            "Deployments only before Thursday noon",
            "Releases go out from Monday to Thursday noon. Weekends are when most people travel, and nobody wants to roll back on a Friday evening.",
            "which days are we allowed to ship to production",
        ),
        (
            "Dependabot is switched off",
            "We update dependencies by hand once a month in one batch, because the stream of automatic pull requests was ignored by everybody.",
            "how are third-party libraries kept current",
        ),
        (
            "Emails are sent by the outbox worker",
            "A message is first written into the outbox table in the same transaction as the booking; a worker delivers it afterwards. Direct sending lost confirmations when the transaction rolled back.",
            "why can't I call the mail server straight from the request handler",
        ),
        (
            "Children under four travel free",
            "Infants do not pay but count towards the safety limit of the vessel, so they need a ticket with price zero.",
            "do toddlers need a fare",
        ),
        (
            "TypeScript strict mode everywhere",
            "The web client compiles with strict and noUncheckedIndexedAccess. Turning it on found eleven real bugs in seat maps.",
            "which compiler settings does the frontend use",
        ),
        (
            "No ORM in the pricing engine",
            "Pricing reads its tariffs with hand-written SQL, because the ORM issued four hundred queries per quote. Everything else may use the ORM.",
            "where should we avoid the object mapper for performance",
        ),
        (
            "Seat maps are drawn as SVG",
            "Deck plans are vector drawings made by the shipyard and converted once; canvas was dropped since screen readers could not see it.",
            "how do we render the decks, with accessibility in mind",
        ),
        (
            "Admin needs a hardware key",
            "Staff who can change fares log in with a security key; passwords with text message codes are not enough since the phishing incident in May.",
            "second factor for employees with elevated rights",
        ),
        (
            "Monitoring alerts on symptoms",
            "We page people for failed bookings per minute and slow quotes, never for processor load. The old alarms woke someone every second night for nothing.",
            "what conditions should wake up the on-call engineer",
        ),
        (
            "Migrations must be backwards compatible",
            "Two versions run at once during a roll-out, so a column is first added, then filled, then used, and dropped one release later.",
            "how to rename a database field safely while instances are being replaced",
        ),
        (
            "The booking code has six letters without vowels",
            "References are six consonants and digits, without characters that look alike, so that they can be read over the phone and never form a rude word.",
            "format of the confirmation number given to travellers",
        ),
        (
            "Weather data comes from the national service",
            "Wind and wave forecasts are fetched hourly from the meteorological institute; the commercial provider was cheaper but wrong about gusts.",
            "source of the storm predictions",
        ),
        (
            "Log in by magic link",
            "Customers do not have passwords; they get a link by e-mail that works once within fifteen minutes. Support tickets about forgotten passwords vanished.",
            "how do travellers sign in to their account",
        ),
        (
            "Currency conversion happens at noon",
            "Exchange rates are fixed once a day at noon from the central bank, so that a quote does not change between two clicks.",
            "when do foreign prices get refreshed",
        ),
        (
            "Background jobs must be idempotent",
            "The queue delivers at least once. Each job records its key in a table before it acts, and a second delivery does nothing.",
            "what if a worker receives the same task two times",
        ),
        (
            "The monolith stays for now",
            "We decided against splitting into services until two teams own different parts. The trial with a separate cabin service doubled the latency of quotes.",
            "are we going to move to microservices",
        ),
        (
            "Accessibility bookings are confirmed by phone",
            "Wheelchair places depend on the lift of the ship, so they are requested online and a human calls back within a day.",
            "procedure for passengers with reduced mobility",
        ),
        (
            "Rate limit of sixty quotes per minute",
            "An anonymous address may ask for sixty quotes in a minute; scrapers of a rival made up forty percent of the load.",
            "protection against bots that harvest our fares",
        ),
        (
            "Pets need the pet cabin or the car deck",
            "Dogs may stay in special cabins or in the car on short routes. The inventory of these cabins is separate and small.",
            "rules for bringing a dog on board",
        ),
        (
            "Error pages never show stack traces",
            "Customers see an incident number; the trace is in the error tracker under that number. A penetration test had found table names on an error page.",
            "what should users see when the server breaks",
        ),
        (
            "French and German are translated by people",
            "Texts in French and German are done by an agency each sprint; the other four languages use machine translation with a review of the legal parts.",
            "who localises the site's copy",
        ),
        (
            "Backups are restored every month",
            "On the first Monday the newest backup is restored into an empty cluster and compared by row counts. An untested backup failed us in the first year.",
            "how do we know that we could recover from losing the data",
        ),
        (
            "The seat allocator is greedy",
            "Groups are placed by a greedy pass from the bow, which is within two percent of the optimum and takes a millisecond. The solver took nine seconds for a full ship.",
            "why is the algorithm that puts families together not an exact optimiser",
        ),
        (
            "API versions live for eighteen months",
            "An old version of the partner interface is kept for eighteen months after its successor appears, with a sunset header in its answers.",
            "deprecation period for agencies' integrations",
        ),
        (
            "Images are resized at upload",
            "Harbour photos are converted to three widths of WebP when they are uploaded; resizing on the fly exhausted the memory of the small servers.",
            "when do we generate thumbnails of pictures",
        ),
        (
            "Customer service sees a read-only mirror",
            "Support works on a replica that lags up to ten seconds; changes go through commands that are audited.",
            "which copy of the data does the help desk look at",
        ),
        (
            "Vouchers do not combine",
            "Only one promotional code can be applied to an order, the one worth most; stacking them made a trip cost less than nothing in December.",
            "may several discounts be used together",
        ),
        (
            "The timetable is imported from a spreadsheet",
            "The planners deliver the season as an Excel workbook; the importer refuses the whole file if a single row is wrong, and lists all the errors at once.",
            "how does the seasonal schedule get into the system",
        ),
        (
            "Sessions end after thirty idle minutes",
            "Web sessions are closed after half an hour without activity, because terminals in the harbour halls are shared by strangers.",
            "automatic logout on public computers",
        ),
        (
            "Kubernetes was rejected",
            "Six containers on three virtual machines with systemd are enough; running a cluster would need an operator that we do not have.",
            "did we consider container orchestration",
        ),
        (
            "PDF tickets are made with WeasyPrint",
            "Tickets are HTML turned into PDF by WeasyPrint. Headless Chrome used 400 MB for each worker and leaked.",
            "tool that produces the printable boarding pass",
        ),
        (
            "Lint errors fail the build",
            "The pipeline stops at the first ruff or Biome finding; warnings that nobody must fix had grown to two thousand.",
            "are style violations blocking in continuous integration",
        ),
        (
            "Freight has its own contract prices",
            "Haulage companies pay by lane metre under yearly contracts; the public fare rules do not apply and their invoices are sent monthly.",
            "how are lorries of regular business clients billed",
        ),
        (
            "Sailings are closed thirty minutes ahead",
            "Check-in ends half an hour before departure, as the manifest has to be sent to the coast guard by then.",
            "latest moment somebody can still board",
        ),
        (
            "Refunds go to the original card",
            "Money returns only by the way it came. Cash or another account would need an anti-laundering check that we cannot do.",
            "can a client get reimbursed to a different bank account",
        ),
        (
            "Load tests use last summer's traffic",
            "We replay the anonymised requests of the busiest Saturday of July at double speed before each season.",
            "how do we verify the platform survives the peak",
        ),
        (
            "GPS positions are thinned out",
            "Ships report every second; we keep one point a minute and each change of course over five degrees. The raw stream filled a disk in nine days.",
            "how much of the vessel tracking do we retain",
        ),
        (
            "The word is sailing, never trip",
            "In code and interface a single departure of a ship is a sailing; a journey is what a customer books and may have several sailings.",
            "correct terminology for one voyage",
        ),
        (
            "Customers are deleted after three years",
            "Accounts without a booking for three years are anonymised by a nightly job; invoices stay ten years as tax law demands.",
            "data retention of inactive people",
        ),
        (
            "Webhooks are signed",
            "Every call to a partner carries an HMAC of its body with the partner's secret; unsigned callbacks were forged during the audit.",
            "how can an agency verify that a notification really is ours",
        ),
        (
            "Cabin upgrades are auctioned",
            "Two days ahead travellers may bid for empty better cabins; the highest bids win at the price they offered.",
            "what do we do with luxury rooms that remain unsold",
        ),
        (
            "Local development runs with one command",
            "`make up` starts the database, the broker and both applications with invented data; a new colleague must have a running system on the first morning.",
            "getting started on a fresh laptop",
        ),
        (
            "Maps are served by ourselves",
            "Route maps come from our own vector tiles of OpenStreetMap; the commercial map billed by view and tracked the visitors.",
            "why did we leave Google for geography on the website",
        ),
        (
            "Analytics without cookies",
            "Page views are counted on the server without identifying anyone, so that no consent banner is needed.",
            "how is visitor behaviour measured in a privacy-friendly way",
        ),
        (
            "Reviews by a second person",
            "Every change needs the approval of someone who did not write it; changes to fares need one from the yield team as well.",
            "who has to sign off code before it is merged",
        ),
        (
            "Circuit breaker around the weather service",
            "After five failures in a minute we stop asking for forecasts for two minutes and show the last known one with its age.",
            "behaviour when the forecast provider is down",
        ),
    )
)
