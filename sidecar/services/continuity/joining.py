"""Joining: who speaks from elsewhere in a conversation that hooks already follow is told from which one."""

from datetime import timedelta
from pathlib import PurePath

from sidecar.storage.vault import Vault

OWN = "mcp-"
"""Begins the name of a conversation that no hook follows."""
_LIVE = timedelta(minutes=30)
"""How long ago something was heard of a conversation that goes on."""


def live(vault: Vault, harness: str, folder: PurePath) -> tuple[str, ...]:
    """Name the conversations that a program's hooks follow in a folder just now."""
    now = vault.clock()
    return tuple(
        one.session_key
        for one in vault.conversations.find("projectNormalized", str(folder))
        if one.harness == harness
        and one.ended_at is None
        and now - one.last_seen_at < _LIVE
        and not one.session_key.startswith(OWN)
    )
