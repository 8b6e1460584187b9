"""What it costs to be told what matters: from what is kept, made anew, and by a process that has just begun.

Requests are held against empty ones to the same server. A write by another process comes between two answers that
are made anew; it is not counted.
"""

import itertools
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from statistics import median, quantiles

from benchmarks import homes, serving, stores
from benchmarks.serving import Server
from benchmarks.timing import ATTEMPTS, Duel, Go, Row, in_words, judge, timed
from sidecar.capture import record
from sidecar.context import receipts
from sidecar.storage.vault import Vault

CACHED, BUILT = 1.6, 20.0
"""How many times as long as an empty request an answer may take."""
IN_ALL = 0.4
"""Seconds in which 19 of 20 processes have told all, Python's own start included."""
_SIZE = range(12_000, 16_001)
_KEY = "measured"
_AT_ONCE, _ROUNDS = 200, 15
_MADE, _FEW_ROUNDS = 5, 15
_PROCESSES, _SOME = 20, 5
_ASKED = {
    "agentId": homes.AGENT,
    "harness": homes.AGENT,
    "mode": "full",
    "summaryOnly": False,
    "maxResponseChars": 16_000,
    "sessionKey": _KEY,
}
_HOOK = """
import sys
from pathlib import Path
from sidecar.app import open_application
from protocol.contexts import RenderParams

app = open_application(here=Path.cwd(), source="claude-code")
params = RenderParams(host="claude-code", agent_id="claude-code", session_key=sys.argv[1])
print(app.dialogue.render(params).text)
app.close()
"""
_COMMAND = "from sidecar.transports.entry import main; main()"


def give(folder: Path) -> Iterator[Row]:
    """Time answers of a server, and the first one of a process."""
    repository = homes.build(folder)
    with (
        closing(homes.opened(folder)) as app,
        closing(Server(serving.SERVE, repository, folder / "home")) as server,
    ):
        yield from _answers(server, app.vault(None))
    yield from _beginnings(repository)


def _answers(server: Server, vault: Vault) -> Iterator[Row]:
    size = server.ask("threadline/context/start", _ASKED)
    if size not in _SIZE:
        raise RuntimeError(f"the answer has {size} bytes; a budget for 14 KB says nothing of it")
    # Who asks for receipts lets them be written down at once.
    server.ask("threadline/context/receipts", {})
    chance, numbers = random.Random(1), itertools.count()
    empty, one = _empty(server, _AT_ONCE), _empty(server, 1)
    told = f"context of {size / 1000:.1f} KB"
    yield judge(Duel(f"{told}, cached, vs empty requests", _cached(server), empty, _ROUNDS, CACHED))
    writes: tuple[tuple[str, Callable[[], object], float | None], ...] = (
        ("a memory", lambda: _put_memory(vault, chance), BUILT),
        ("a save", lambda: _save(vault, next(numbers)), BUILT),
        ("a receipt", lambda: _put_receipt(vault), None),
    )
    for what, write, gate in writes:
        name = f"{told}, after {what} was written, vs empty requests"
        yield judge(Duel(name, _after(server, write), one, _FEW_ROUNDS, gate))


def _beginnings(repository: Path) -> Iterator[Row]:
    numbers = itertools.count()
    yield _in_all(lambda: _run(repository, _HOOK, f"hook-{next(numbers)}"))
    for what, words in (
        ("`threadline context`", ("context", "--host", "claude-code")),
        ("`threadline search`", ("search", "why is it so")),
    ):
        ours = _command(repository, *words)
        empty = _command(repository, "--version")
        yield judge(Duel(f"{what} vs `threadline --version`", ours, empty, _SOME))


def _empty(server: Server, count: int) -> Go:
    def go() -> float:
        return timed(lambda: [server.ask("threadline/version", {}) for _ in range(count)])

    return lambda: go() / count


def _cached(server: Server) -> Go:
    def go() -> float:
        asked = range(_AT_ONCE)
        return timed(lambda: [server.ask("threadline/context/start", _ASKED) for _ in asked])

    return lambda: go() / _AT_ONCE


def _after(server: Server, write: Callable[[], object]) -> Go:
    """Ask after each of a few writes; the middle one counts."""

    def go() -> float:
        write()
        return timed(lambda: server.ask("threadline/context/start", _ASKED))

    return lambda: median(go() for _ in range(_MADE))


def _put_memory(vault: Vault, chance: random.Random) -> None:
    with vault.transaction():
        vault.write([homes.put_memory(vault, chance)])


def _save(vault: Vault, number: int) -> None:
    record.ingest(vault, [stores.save(number, "measured")], stores.SOURCE)


def _put_receipt(vault: Vault) -> None:
    """Count a receipt once more, as after each answer."""
    with vault.transaction():
        vault.write(receipts.keep(vault, vault.receipts.all()[0]))


def _in_all(run: Go) -> Row:
    """Start processes until 19 of 20 were quick enough; a missed limit is measured again before it counts."""
    run()
    for _ in range(ATTEMPTS):
        seconds = [run() for _ in range(_PROCESSES)]
        slowest = quantiles(seconds, n=20)[-1]
        if slowest <= IN_ALL:
            break
    return Row(
        what=f"start, open {homes.MEMORIES:,} memories and tell, 95 % within",
        ours=in_words(slowest),
        baseline=f"middle {in_words(median(seconds))}",
        ratio="",
        gate=f"≤ {in_words(IN_ALL)}",
        verdict="MISSED" if slowest > IN_ALL else "holds",
        is_missed=slowest > IN_ALL,
    )


def _command(repository: Path, *words: str) -> Go:
    return lambda: _run(repository, _COMMAND, *words)


def _run(repository: Path, code: str, *arguments: str) -> float:
    """Time a process of its own, in a home that is there."""
    folder = repository.parent
    environment = serving.installed(folder) | {"THREADLINE_HOME": str(folder / "home")}
    command = [sys.executable, "-c", code, *arguments]
    return timed(
        lambda: subprocess.run(
            command, check=True, cwd=repository, env=environment, stdout=subprocess.DEVNULL
        )
    )
