"""A process that stores events and says which it was told are stored; tests kill, stop and multiply it.

usage: writer.py FOLDER NAME [--events N] [--talk] [--replace]
"""

import argparse
import itertools
import sys
import time
from pathlib import Path

from protocol.checkpoints import TrackParams
from protocol.turns import IngestTurnParams
from sidecar.capture import record
from sidecar.conversations import turns
from tests.conversations.test_checkpoints import WHO
from tests.crash.accounts import moment, opened
from tests.support import save


def say(text: str) -> None:
    """Tell the test."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Store events one by one, each acknowledged on standard output after it is stored."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("name")
    parser.add_argument("--events", type=int, default=10**9)
    parser.add_argument("--hold", action="store_true", help="hold a transaction open")
    parser.add_argument(
        "--follow", action="store_true", help="store one event for each line of input"
    )
    parser.add_argument("--talk", action="store_true", help="take in turns and activities")
    options = parser.parse_args()
    if options.talk:
        talk(options.folder)
    vault = opened(options.folder)
    if options.hold:
        with vault.transaction():
            say("held")
            time.sleep(600)
    orders = sys.stdin if options.follow else range(options.events)
    for number, _ in enumerate(orders):
        key = f"{options.name}/{number}"
        began = time.perf_counter()
        event = save(key, at=moment(number), key=key)
        (placed,) = record.ingest(vault, [event], options.name)
        say(f"{key} {placed.outcome} {time.perf_counter() - began:.6f}")
    vault.close()


def talk(folder: Path) -> None:
    """Take in one turn and one activity after the other."""
    from tests.crash.test_turns import do, real_tools, told  # noqa: PLC0415  # only who talks needs it

    vault, tools = opened(folder), real_tools()
    for number in itertools.count():
        turn = IngestTurnParams(
            session_key="run", role="user", content=told(number), idempotency_key=f"{number}"
        )
        turns.take(vault, turn, WHO, tools)
        done = TrackParams(session_key="run", activities=(do(number),))
        turns.track(vault, done, WHO, tools)
        say(f"{number}")


if __name__ == "__main__":
    main()
