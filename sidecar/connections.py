"""Connections: what connecting agents needs, put together; loaded by whoever does it."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar.adapters import configs
from sidecar.services import refreshing
from sidecar.store.homes import Home
from sidecar.store.ledgers import Ledger

if TYPE_CHECKING:
    from sidecar.services.connecting import Tools


def prepare(home: Home, folder: str | None) -> "Tools":
    """Give what connecting agents needs, for this user or for the project in a folder."""
    from sidecar.domain.connections.places import Surroundings  # noqa: PLC0415  # hooks do without
    from sidecar.services.connecting import Tools  # noqa: PLC0415  # likewise

    return Tools(
        around=Surroundings(str(Path.home()), sys.platform, os.environ, folder),
        program=configs.find_program(),
        ledger=Ledger(home.folder, home.lock),
        clock=home.ids.clock,
        look=configs.look,
        is_there=configs.is_there,
        is_program=configs.is_program,
        find_missing=configs.find_missing,
        back_up=configs.back_up,
        read_backup=configs.read_backup,
        forget_backup=configs.forget_backup,
        write=configs.write,
        delete=configs.delete,
    )


def prepare_refreshing(home: Home) -> refreshing.Tools:
    """Give what refreshing rules files needs."""
    ledger = Ledger(home.folder, home.lock)
    return refreshing.Tools(ledger.rows, configs.look, configs.write)
