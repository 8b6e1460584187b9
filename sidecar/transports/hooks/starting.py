"""Build the context of a conversation with the application itself."""

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from protocol.contexts import Occasion, RenderParams
from sidecar.app import Application, open_application
from sidecar.context.rules.rendering import NOTHING_YET
from sidecar.conversations import spooled
from sidecar.hosts import assistant
from sidecar.storage import spool
from sidecar.storage.prepared import find_top
from sidecar.transports.hooks import calls, observing, reminding
from sidecar.transports.hooks.observing import FORGOTTEN, Observation

_DRAINING = 0.6
"""Seconds for draining the spool first; the rest is drained later."""


class Start:
    """The context of a conversation; receipts are written after the host has its answer."""

    def __init__(self, home: str, seen: Observation, environment: Mapping[str, str]) -> None:
        """Open the application in the host's folder, and build the context."""
        logging.getLogger().addHandler(_Log(home))
        self._home = home
        self._talk = observing.digest(f"{seen['host']}:{seen['sessionKey']}")
        self._has_key = bool(seen["sessionKey"])
        self._is_cut = seen["told"] == "compact"
        host = assistant.find(str(seen["host"]))
        self._is_kept = seen["event"] not in host.forgotten_events
        self._has_rules = host.rules is not None and host.rules.is_living
        self._app = _open(seen, environment)
        self._place = os.path.realpath(str(seen["root"])), str(seen["host"])
        if not self._is_cut:
            self._app.hearing.place(_DRAINING, _until(seen))
        # Draining takes the oldest first and may not come to an end in time; what is left is read as it lies there.
        self._unplaced = spooled.read(home, _until(seen))
        self.text = self._post(seen) if self._has_rules else self._greet(seen)
        if self._is_cut:
            self.text = reminding.after_cut(home, self.text)

    def _greet(self, seen: Observation, most: int | None = None) -> str:
        is_lost = seen["told"] == FORGOTTEN
        params = _params(seen, most)
        text = self._app.dialogue.greet(params, is_lost=is_lost, unplaced=self._unplaced).text
        # A resumed conversation was told already that nothing is known.
        return "" if seen["told"] == "resume" and text == NOTHING_YET else text

    def _post(self, seen: Observation) -> str:
        """Write the context into the host's rules file, if its user has connected it there; the answer stays empty."""
        from sidecar.hosts import rules_files, rules_writer  # noqa: PLC0415  # few hosts need it
        from sidecar.storage.ledgers import Ledger  # noqa: PLC0415  # likewise

        rows = Ledger(self._app.home.folder, self._app.home.lock).rows()
        host = str(seen["host"])
        sight = rules_writer.find(rows, host, find_top(str(seen["root"])))
        if sight is not None:
            rules_writer.renew(host, sight, self._greet(seen, rules_files.rules_room(host)))
        return ""

    def finish(self) -> None:
        """Store what was given, and that this folder's context is to be prepared from now on."""
        if not self._has_rules:
            self._app.vault(self._app.project(self._place[0])).prepared.want(*self._place)
        self._app.close()
        if self._has_key:
            spool.keep_promise(self._home, self._talk, is_kept=self._is_kept, is_cut=self._is_cut)


def _open(seen: Observation, environment: Mapping[str, str]) -> Application:
    return open_application(
        here=Path(str(seen["root"])), source=str(seen["host"]), environment=environment
    )


def _until(seen: Observation) -> str:
    """Return the key prefix of what is no news to a conversation: its last prompt, or all of it where it begins.

    Some hosts send the first prompt at the same time as the start.
    """
    return observing.talk(seen) if seen["told"] == "startup" else observing.key(seen)


def _params(seen: Observation, most: int | None) -> RenderParams:
    host = str(seen["host"])
    return RenderParams(
        project=str(seen["root"]),
        host=host,
        harness=host,
        session_key=str(seen["sessionKey"]) or None,
        occasion="resume" if seen["told"] == FORGOTTEN else cast("Occasion", seen["told"]),
        max_chars=most,
        transcript_path=cast("Any", seen["transcriptPath"]) or None,
    )


class _Log(logging.Handler):
    """Writes the application's warnings into the hooks' own log."""

    def __init__(self, home: str) -> None:
        super().__init__(logging.WARNING)
        self._home = home

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        calls.complain(self._home, record.name, error or OSError(record.getMessage()))
