"""A process that takes in turns of a conversation and says which are kept; tests kill it.

usage: talker.py FOLDER
"""

import itertools
import sys
from pathlib import Path

from protocol.checkpoints import TrackParams
from protocol.turns import IngestTurnParams
from sidecar.app import now
from sidecar.domain.sessions import Rule
from sidecar.services.continuity import tracking, turning
from sidecar.store.ids import Ids
from sidecar.store.vaults import open_vault
from tests.crash.test_turns import do, real_tools, say
from tests.services.test_continuity import WHO


def main() -> None:
    """Take in one turn and one activity after the other, each acknowledged on standard output."""
    vault = open_vault(Path(sys.argv[1]), "p", Ids(now), Rule())
    tools = real_tools()
    for number in itertools.count():
        turn = IngestTurnParams(
            session_key="run", role="user", content=say(number), idempotency_key=f"{number}"
        )
        turning.take(vault, turn, WHO, tools)
        done = TrackParams(session_key="run", activities=(do(number),))
        tracking.track(vault, done, WHO, tools)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
