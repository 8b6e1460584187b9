"""A process that stores events and says which it was told are stored; tests kill it.

usage: writer.py HOME NAME [--events N] [--rewrite] [--session-every N]
"""

import argparse
import sys
from datetime import timedelta
from pathlib import Path

from sidecar.app import now
from sidecar.domain.sessions import Rule
from sidecar.services import recording
from sidecar.store.ids import Ids
from sidecar.store.vaults import open_vault
from tests.support import save


def main() -> None:
    """Store events one by one, each acknowledged on standard output after it is stored."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("name")
    parser.add_argument("--events", type=int, default=10**9)
    parser.add_argument("--rewrite", action="store_true")
    parser.add_argument("--session-every", type=int, default=7)
    options = parser.parse_args()
    vault = open_vault(options.folder, "p", Ids(now), Rule())
    recording.drain(vault)
    start = now() - timedelta(days=3000)
    for number in range(options.events):
        moment = start + timedelta(hours=5 * (number // options.session_every), seconds=number)
        key = f"{options.name}/{number}"
        (placed,) = recording.ingest(vault, [save(key, at=moment, key=key)], options.name)
        sys.stdout.write(f"{key} {placed.outcome}\n")
        sys.stdout.flush()
        if options.rewrite and number % 5 == 0:
            with vault.lock.held():
                vault.journal.rewrite()


if __name__ == "__main__":
    main()
