"""Tidying: what nobody can use any more goes: messages that vanished, links and needs that lead nowhere."""

from collections.abc import Callable, Iterator

from sidecar.services import linking, messaging, planning
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault

Find = Callable[[Vault], Iterator[Op]]


def tidy(vault: Vault) -> int:
    """Remove messages that vanished long ago, and needs that lead nowhere; tell how many records changed.

    Links that lead nowhere are not shown; they go when something is forgotten, so that no start waits for that.
    """
    return sum(_do(vault, find) for find in (messaging.sweep, planning.mend))


def drop_dangling(vault: Vault) -> int:
    """Remove what leads nowhere; tell how many records changed."""
    return sum(_do(vault, find) for find in (planning.mend, linking.mend))


def _do(vault: Vault, find: Find) -> int:
    if not any(find(vault)):
        return 0
    with vault.transaction():
        ops = list(find(vault))
        if ops:
            vault.write(ops)
    return len(ops)
