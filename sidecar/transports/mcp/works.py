"""Works: how far a call is, told in numbers that only grow, and whether anyone still wants it."""

import asyncio
import threading

from mcp.server.session import ServerSession

from protocol.errors import CancelledError
from protocol.jobs import STAGES


class Work:
    """A call that a client waits for; it may be told from any thread how far it is."""

    def __init__(self, session: ServerSession) -> None:
        """Work for the client of this session."""
        self.over = threading.Event()
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._told: float | None = None
        self._total = 0

    def tell(self, done: int, total: int, stage: str = "") -> None:
        """Say how much is done, of all or of one stage; raise CancelledError once nobody wants it."""
        if self.over.is_set():
            raise CancelledError("nobody waits for it any more")
        reached, self._total = _reached(done, total, stage)
        if self._told is None or reached > self._told:
            self._told = reached
            report = self._session.report_progress(reached, self._total, stage or None)
            asyncio.run_coroutine_threadsafe(report, self._loop)

    async def finish(self) -> None:
        """Tell that all is done, whether or not the last of it was worth a word."""
        if self._told is not None and self._told < self._total:
            self._told = self._total
            await self._session.report_progress(self._total, self._total)


def _reached(done: int, total: int, stage: str) -> tuple[float, int]:
    """Say how much is done, and of how much: of all stages where there are some."""
    if stage not in STAGES:
        return done, total
    return STAGES.index(stage) + (min(done / total, 1.0) if total else 0.0), len(STAGES)
