"""Remove messages, links and notes that nothing refers to any more."""

from collections.abc import Callable, Iterator

from sidecar.sharing import links, messages
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault
from sidecar.tasks import plan

Find = Callable[[Vault], Iterator[Op]]


def tidy(vault: Vault) -> int:
    """Remove messages that vanished long ago, and needs that lead nowhere; tell how many records changed.

    Links that lead nowhere are not shown; they go when something is forgotten, so that no start waits for that.
    """
    return sum(_do(vault, find) for find in (messages.sweep, plan.mend))


def drop_dangling(vault: Vault) -> int:
    """Remove what leads nowhere; tell how many records changed."""
    return sum(_do(vault, find) for find in (plan.mend, links.mend))


def _do(vault: Vault, find: Find) -> int:
    if not any(find(vault)):
        return 0
    with vault.transaction():
        ops = list(find(vault))
        if ops:
            vault.write(ops)
    return len(ops)
