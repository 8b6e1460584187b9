"""Which commits were held against which tasks, in the deletable cache: so that a new process need not judge them again.

It holds hashes, no words, and is believed as long as the rules that have judged are those that would judge now.
"""

import os
import sys
from array import array
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from sidecar.domain.recall import hashes
from sidecar.store.caches import Cache

RULES = (
    *("endings/claims.py", "endings/judging.py", "endings/seeking.py", "endings/signs.py"),
    *("recall/hashes.py", "recall/stems.py", "recall/words.py"),
    *("enrichment/patterns.py", "enrichment/wording.py"),
    *("conditions.py", "expressions.py", "hashing.py"),
)
"""The files of the domain that say when a commit has done a task."""
_DOMAIN = Path(__file__).parent.parent / "domain"
_NUMBER = "Q"


class Judged(Struct, frozen=True, array_like=True):
    """Pairs of a task and a commit, by their hashes."""

    rules: int
    """Names the rules by which they were judged."""
    done: bytes
    undone: bytes


class Endings:
    """What was judged for one project, on the disk; whoever writes it holds the store's lock."""

    def __init__(self, path: Path) -> None:
        """Name the file."""
        self._cache = Cache(path, Judged)

    def read(self) -> dict[int, bool]:
        """Tell of pairs whether the commit has done the task, as far as it was judged by the same rules."""
        known, rules = self._cache.read(), _rules()
        if known is None or known.rules != rules:
            return {}
        return dict.fromkeys(_numbers(known.undone), False) | dict.fromkeys(
            _numbers(known.done), True
        )

    def write(self, pairs: Mapping[int, bool]) -> None:
        """Put pairs in the place of those that are there."""
        rules = _rules()
        if rules is None:
            return
        done, undone = (
            array(_NUMBER, [key for key, is_done in pairs.items() if is_done is wanted])
            for wanted in (True, False)
        )
        self._cache.write(Judged(rules, done.tobytes(), undone.tobytes()))


def _rules() -> int | None:
    """Give a number that is another one when the rules are: who upgrades gets new files. None where there are no files."""
    try:
        facts = [os.stat(f"{_DOMAIN}/{name}") for name in RULES]  # noqa: PTH116  # before each answer
    except OSError:
        return None
    stamps = [(one.st_mtime_ns, one.st_size) for one in facts]
    return hashes.of_all((str(_DOMAIN), sys.version, sys.byteorder, stamps))


def _numbers(packed: bytes) -> "array[int]":
    numbers = array(_NUMBER)
    numbers.frombytes(packed)
    return numbers
