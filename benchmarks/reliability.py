"""The figures of the storage, written into docs/reliability.md between two marks."""

import os
import platform
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.timing import Row

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reliability.md"
_BEGIN, _END = "<!-- figures: begin -->", "<!-- figures: end -->"


def write(rows: Sequence[Row]) -> None:
    """Put a table of these rows in the place of the one before."""
    before, _, rest = PAGE.read_text().partition(_BEGIN)
    after = rest.partition(_END)[2]
    PAGE.write_text(f"{before}{_BEGIN}\n{_table(rows)}{_END}{after}")


def _table(rows: Sequence[Row]) -> str:
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    load = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"
    versions = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    lines = [
        f"Measured on {day}: {platform.system()}, {os.cpu_count()} processors, {load}, {versions}.",
        "",
        "| what | ours | baseline | ratio | gate | verdict |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = (row.what, row.ours, row.baseline, row.ratio, row.gate, row.verdict)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
