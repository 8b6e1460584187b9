"""Tools: what is needed to follow conversations and to keep what is said in them."""

from collections.abc import Callable
from datetime import datetime

from msgspec import Struct

from protocol.settings import Settings
from sidecar.domain.continuity.turns import Signal
from sidecar.services.continuity.buffers import Buffer
from sidecar.services.meanings import Meanings

Hear = Callable[[str, datetime], Signal]
"""Finds what must not be lost in what a user said, and how much that is worth."""


class Tools(Struct, frozen=True, kw_only=True):
    """Chosen by whoever puts the product together; the settings are those of the moment."""

    settings: Settings
    hear: Hear
    meanings: Meanings
    buffer: Buffer
