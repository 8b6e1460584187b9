"""Our own rules as a reader of events; an event that they cannot read is left alone after three tries."""

import logging
from collections.abc import Sequence

from protocol.jobs import ProviderName
from sidecar.domain.drafts import Reading
from sidecar.domain.enrichment import composing
from sidecar.domain.enrichment.merging import Found
from sidecar.services.enrichment.enrich import TRIES
from sidecar.services.enrichment.stages import Begin, Count, Read

_log = logging.getLogger(__name__)


class Rules:
    """Reads without a model, a key or a network; the same events give the same drafts."""

    name: ProviderName = "rules"

    def read(self, session_id: str, readings: Sequence[Reading], tell: Count, begin: Begin) -> Read:
        """Read one event after the other, then put together what they say."""
        found: list[Found] = []
        parked: list[str] = []
        for number, reading in enumerate(readings):
            tell(number, len(readings))
            begin([reading.event.event_id])
            one = _read(reading)
            if one is None:
                parked.append(reading.event.event_id)
            else:
                found.append(one)
        drafts = composing.compose_findings(session_id, found)
        tell(len(readings), len(readings))
        return Read(drafts=drafts, parked=tuple(parked))


def _read(reading: Reading) -> Found | None:
    for _ in range(TRIES):
        try:
            return composing.findings(reading)
        except Exception:  # noqa: BLE001  # the boundary of an event: the others are read all the same
            _log.exception("event %s could not be read", reading.event.event_id)
    return None
