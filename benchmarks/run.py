"""Measure against the budgets: `python -m benchmarks.run`; exits with 1 if a gate is missed."""

import argparse
import functools
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from benchmarks import (
    answers,
    context,
    drift,
    hooks,
    insight,
    places,
    redaction,
    reliability,
    retrieval,
    rivals,
    scanning,
    searching,
    serving,
    sharing,
    storing,
    suggesting,
)
from benchmarks.timing import ATTEMPTS, Row

Measurement = Callable[[Path], Iterable[Row]]
"""Gets an empty folder of its own."""

FAVOURITE = "fastapi.jsonl.gz"
_WIDTH = 160
STORAGE = "storage"
_STORAGE = ("documents", "opening", "growth", "indexing", "sharing", "rivals", "scanning")


def main() -> int:
    """Run what is asked for, print the table, and tell whether every gate holds."""
    arguments = _parser().parse_args()
    # The user's own git settings would be measured too.
    os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    # Off a terminal the table takes the room it needs instead of 80 columns.
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    history = _history(arguments.data)
    if history is None:
        console.print("No real history is given (--data FOLDER): an invented one is imported.")
    else:
        console.print(f"Imported is the real history {history.name}.")
    chosen = {
        name: measurement
        for name, measurement in _measurements(
            history, arguments.data, is_large=arguments.large
        ).items()
        if _is_chosen(name, arguments.only)
    }
    with tempfile.TemporaryDirectory(prefix="threadline-bench-") as folder:
        places.spread(Path(folder))
        rows = list(_measure(chosen, Path(folder), console))
    console.print(_table(rows))
    if arguments.json is not None:
        arguments.json.write_bytes(msgspec.json.format(msgspec.json.encode(rows)))
    if arguments.write:
        reliability.write(rows)
    console.print(
        "Times are medians, a ratio is the median of the rounds' own; "
        f"a gate counts as missed when {ATTEMPTS} series of rounds missed it."
    )
    return int(any(row.is_missed for row in rows))


def _measurements(
    history: Path | None, data: Path | None, *, is_large: bool
) -> dict[str, Measurement]:
    return {
        "documents": storing.documents,
        "opening": storing.opening,
        "growth": functools.partial(storing.growth, most=200_000 if is_large else 20_000),
        "indexing": functools.partial(storing.indexing, count=60_000 if is_large else 6_000),
        "sharing": sharing.share,
        "rivals": rivals.compare,
        "serving": serving.serve,
        "hooks": hooks.hook,
        "scanning": functools.partial(scanning.scan, history=history),
        "searching": searching.search,
        "context": context.give,
        "answers": answers.weigh,
        "insight": insight.point,
        "drift": drift.truths,
        "drift-cost": drift.costs,
        "redaction": lambda _folder: redaction.measure(data),
        "suggesting": lambda _folder: suggesting.rows(),
        "retrieval": lambda _folder: retrieval.rows(data),
    }


def _is_chosen(name: str, wanted: str | None) -> bool:
    return wanted in {None, name} or (wanted == STORAGE and name in _STORAGE)


def _measure(chosen: Mapping[str, Measurement], folder: Path, console: Console) -> Iterator[Row]:
    for name, measurement in chosen.items():
        place = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder))
        with console.status(f"measuring {name} …"):
            yield from measurement(place)


def _table(rows: Iterable[Row]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("what", no_wrap=True)
    for heading in ("ours", "baseline", "ratio"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("gate", no_wrap=True)
    table.add_column("verdict")
    for row in rows:
        style = "red" if row.is_missed else None
        cells = (row.what, row.ours, row.baseline, row.ratio, row.gate, row.verdict)
        table.add_row(*cells, style=style)
    return table


def _history(data: Path | None) -> Path | None:
    if data is None:
        return None
    found = sorted((data / "histories").glob("*.jsonl.gz"))
    if not found:
        sys.exit(f"there is no *.jsonl.gz in {data / 'histories'}")
    return next((path for path in found if path.name == FAVOURITE), found[0])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.run",
        description="Measure against the budgets. Temporary files go to TMPDIR, which should be on a disk.",
    )
    parser.add_argument(
        "--data", type=Path, metavar="FOLDER", help="real histories: FOLDER/histories/*.jsonl.gz"
    )
    names = _measurements(None, None, is_large=False)
    parser.add_argument(
        "--only",
        choices=[*names, STORAGE],
        metavar="NAME",
        help=f"{', '.join(names)}; `{STORAGE}` stands for {', '.join(_STORAGE)}",
    )
    parser.add_argument("--large", action="store_true", help="200,000 sessions, 60,000 records")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table there, too")
    parser.add_argument(
        "--write", action="store_true", help="put the storage figures into docs/reliability.md"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
