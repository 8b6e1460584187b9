"""One of several processes that write into the same vault and note what was acknowledged.

`python -m benchmarks.writers VAULT NAME COUNT REWRITE_EVERY`: 0 never rewrites.
"""

import os
import sys
from pathlib import Path

from benchmarks import stores
from sidecar.services import recording
from sidecar.store.vaults import Vault

RECORDS = "records"
"""The table of the vault's own journal that takes every tenth write; the others are events."""
_TENTH = 10


def main() -> None:
    """Write from the first number to the last, also what an earlier run of that name has written."""
    folder, name = Path(sys.argv[1]), sys.argv[2]
    count, rewrite_every = int(sys.argv[3]), int(sys.argv[4])
    vault = stores.open_store(folder)
    descriptor = os.open(acknowledged(folder, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for number in range(count):
        _write(vault, name, number)
        os.write(descriptor, f"{name}:{number}\n".encode())
        if rewrite_every and number % rewrite_every == 0:
            with vault.lock.held():
                vault.journal.rewrite()
    vault.close()


def acknowledged(folder: Path, name: str) -> Path:
    """Name the file in which a writer notes what it may rely on."""
    return folder.parent / f"{name}.acknowledged"


def _write(vault: Vault, name: str, number: int) -> None:
    if number % _TENTH:
        recording.ingest(vault, [stores.save(number, name)], stores.SOURCE)
    else:
        with vault.lock.held():
            vault.journal.append([(RECORDS, f"{name}:{number}", {"number": number})])


if __name__ == "__main__":
    main()
