"""Starting: what a host's conversation is told, by the application itself."""

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from protocol.contexts import Occasion, RenderParams
from sidecar.app import Application, open_application
from sidecar.context.rules.rendering import NOTHING_YET
from sidecar.conversations import spooled
from sidecar.storage import spool
from sidecar.storage.prepared import find_top
from sidecar.transports.hooks import calls, hosts, observing, reminding, rules
from sidecar.transports.hooks.observing import FORGOTTEN, Observation

_DRAINING = 0.6
"""Seconds for placing what was overheard before; the rest is placed later."""


class Start:
    """Tells a conversation what it should know; what is noted of that waits until the host has its answer."""

    def __init__(self, home: str, seen: Observation, environment: Mapping[str, str]) -> None:
        """Open the application where the host works, and ask it."""
        logging.getLogger().addHandler(_Log(home))
        self._home = home
        self._talk = observing.digest(f"{seen['host']}:{seen['sessionKey']}")
        self._has_key = bool(seen["sessionKey"])
        self._is_cut = seen["told"] == "compact"
        self._is_kept = not hosts.forgets(str(seen["host"]), str(seen["event"]))
        self._app = _open(seen, environment)
        self._place = os.path.realpath(str(seen["root"])), str(seen["host"])
        if not self._is_cut:
            self._app.overhear(_DRAINING, _until(seen))
        # Draining takes the oldest first and may not come to an end in time; what is left is read as it lies there.
        self._unplaced = spooled.read(home, _until(seen))
        host = str(seen["host"])
        self.text = self._post(seen) if host in rules.PLACES else self._greet(seen)
        if self._is_cut:
            self.text = reminding.after_cut(home, self.text)

    def _greet(self, seen: Observation, most: int | None = None) -> str:
        is_lost = seen["told"] == FORGOTTEN
        params = _params(seen, most)
        text = self._app.greet(params, is_lost=is_lost, unplaced=self._unplaced).text
        # Who goes on was told already that there is nothing to tell.
        return "" if seen["told"] == "resume" and text == NOTHING_YET else text

    def _post(self, seen: Observation) -> str:
        """Write it into the file that a host reads, if its user has connected it there; then nothing is left to tell."""
        from sidecar.handlers import connections  # noqa: PLC0415  # few hosts need it
        from sidecar.hosts import rules_writer  # noqa: PLC0415  # likewise

        tools = connections.prepare_refreshing(self._app.home)
        sight = rules_writer.find(tools, str(seen["host"]), find_top(str(seen["root"])))
        if sight is not None:
            rules_writer.refresh_all(tools, sight, self._greet(seen, rules_writer.ROOM))
        return ""

    def finish(self) -> None:
        """Write down what was given, and that it is to be prepared the next time."""
        if self._place[1] not in rules.PLACES:
            self._app.vault(self._app.project(self._place[0])).prepared.want(*self._place)
        self._app.close()
        if self._has_key:
            spool.keep_promise(self._home, self._talk, is_kept=self._is_kept, is_cut=self._is_cut)


def _open(seen: Observation, environment: Mapping[str, str]) -> Application:
    return open_application(
        here=Path(str(seen["root"])), source=str(seen["host"]), environment=environment
    )


def _until(seen: Observation) -> str:
    """Name what is no news to a conversation: what was just said in it, all of it where it begins only now.

    Some hosts tell of the first prompt at the same time as of the start.
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
    """Writes what the application complains about into the hooks' own log."""

    def __init__(self, home: str) -> None:
        super().__init__(logging.WARNING)
        self._home = home

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        calls.complain(self._home, record.name, error or OSError(record.getMessage()))
