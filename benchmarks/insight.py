"""What it costs to point at code: a hover and a lens of a server with years of memory, against empty requests."""

import itertools
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from statistics import median

from benchmarks import homes, serving
from benchmarks.serving import Server
from benchmarks.timing import Duel, Go, Row, judge, timed

HOVER = 30.0
"""How many times as long as an empty request a hover may take once the line was pointed at before."""
_FILES, _LINES = 8, range(6, 18)
_AT_ONCE, _ROUNDS, _FEW = 96, 15, 9
_SAID = 100
"""Bytes that an answer has which says something."""

Ask = Callable[[Server], object]


def point(folder: Path) -> Iterator[Row]:
    """Time hovers and lenses, of lines that were pointed at before and of lines that were not."""
    repository = homes.build(folder)
    files = sorted(repository.rglob("*.py"))
    known = list(itertools.product(files[:_FILES], _LINES))
    with closing(Server(serving.SERVE, repository, folder / "home")) as server:
        said = [_hover(server, *place) for place in known]
        if sum(size > _SAID for size in said) < len(said) / 2:
            raise RuntimeError("most hovers say nothing; a budget for those says nothing either")
        many = f"{homes.MEMORIES:,} memories"
        empty = _each(server, lambda _: server.ask("threadline/version", {}))
        hovers, lenses = itertools.cycle(known), itertools.cycle(files[:_FILES])
        warm = _each(server, lambda server: _hover(server, *next(hovers)))
        yield judge(Duel(f"hover, warm, {many}, vs empty requests", warm, empty, _ROUNDS, HOVER))
        lens = _each(server, lambda server: _lens(server, next(lenses)))
        yield judge(
            Duel(f"code lens, warm, {many}, vs empty requests", lens, empty, _ROUNDS, HOVER)
        )
        fresh = itertools.product(files[_FILES:], _LINES)
        blamed = itertools.cycle(known)
        first = _median(lambda: timed(lambda: _hover(server, *next(fresh))))
        git = _median(lambda: timed(lambda: _blame(repository, *next(blamed))))
        yield judge(Duel("hover of a new line vs git blame", first, git, _FEW))


def _each(server: Server, ask: Ask) -> Go:
    return lambda: timed(lambda: [ask(server) for _ in range(_AT_ONCE)]) / _AT_ONCE


def _median(go: Go) -> Go:
    return lambda: median(go() for _ in range(5))


def _hover(server: Server, path: Path, line: int) -> int:
    position = {"line": line, "character": 0}
    params = {"textDocument": {"uri": path.as_uri()}, "position": position}
    return server.ask("textDocument/hover", params)


def _lens(server: Server, path: Path) -> int:
    return server.ask("textDocument/codeLens", {"textDocument": {"uri": path.as_uri()}})


def _blame(repository: Path, path: Path, line: int) -> None:
    command = ["git", "blame", "--porcelain", f"-L{line + 1},{line + 1}", "HEAD", "--", str(path)]
    subprocess.run(command, check=True, cwd=repository, stdout=subprocess.DEVNULL)
