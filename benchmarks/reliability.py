"""The figures in docs/reliability.md, each table between two marks: `python -m benchmarks.reliability crash.jsonl`."""

import json
import os
import platform
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.timing import Row

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reliability.md"
_TOPS = ("_ms", "_s", "descriptors", "folders", "sessions")
"""How figures end of which the highest counts; all others are added up."""


def write(rows: Sequence[Row]) -> None:
    """Put a table of what was measured in the place of the one before."""
    cells = [(row.what, row.ours, row.baseline, row.ratio, row.gate, row.verdict) for row in rows]
    _put("figures", ("what", "ours", "baseline", "ratio", "gate", "verdict"), cells)


def write_crashes(lines: Iterable[str]) -> None:
    """Put a table of what `make crash` did and found in the place of the one before, one row for each test."""
    runs: Counter[str] = Counter()
    figures: dict[str, dict[str, float]] = {}
    for line in lines:
        told = json.loads(line)
        test = str(told.pop("test")).partition("[")[0]
        runs[test] += 1
        own = figures.setdefault(test, {})
        for name, value in told.items():
            before = own.get(name, 0)
            own[name] = max(before, value) if name.endswith(_TOPS) else before + value
    cells = [
        (
            test.removeprefix("test_").replace("_", " "),
            str(runs[test]),
            ", ".join(f"{value:,} {name}" for name, value in own.items()),
        )
        for test, own in sorted(figures.items())
    ]
    _put("crashes", ("what held", "runs", "figures"), cells)


def _put(name: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _, rest = PAGE.read_text().partition(begin)
    after = rest.partition(end)[2]
    lines = [
        _circumstances(),
        "",
        *(f"| {' | '.join(row)} |" for row in (headings, ["---"] * len(headings), *rows)),
    ]
    table = "\n".join(lines)
    PAGE.write_text(f"{before}{begin}\n{table}\n{end}{after}")


def _circumstances() -> str:
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    load = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"
    versions = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    return (
        f"Measured on {day}: {platform.system()}, {os.cpu_count()} processors, {load}, {versions}."
    )


if __name__ == "__main__":
    write_crashes(Path(sys.argv[1]).read_text().splitlines())
