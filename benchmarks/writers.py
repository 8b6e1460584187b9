"""One of several processes that write into the same vault and note what was acknowledged.

`python -m benchmarks.writers VAULT NAME COUNT COPY_EVERY`: 0 never copies.
"""

import os
import sys
from pathlib import Path

from benchmarks import stores
from sidecar.capture import record
from sidecar.storage import database
from sidecar.storage.vault import Vault

_PATIENCE = 60.0
_TENTH = 10
"""Every so many writes are documents; the others are events."""


def main() -> None:
    """Write from the first number to the last, also what an earlier run of that name has written."""
    folder, name = Path(sys.argv[1]), sys.argv[2]
    count, copy_every = int(sys.argv[3]), int(sys.argv[4])
    vault = stores.open_store(folder)
    database.PATIENCE = _PATIENCE
    descriptor = os.open(acknowledged(folder, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for number in range(count):
        _write(vault, name, number)
        os.write(descriptor, f"{name}:{number}\n".encode())
        if copy_every and number % copy_every == 0:
            vault.snapshot()
            vault.database.checkpoint()
    vault.close()


def acknowledged(folder: Path, name: str) -> Path:
    """Name the file in which a writer notes what it may rely on."""
    return folder.parent / f"{name}.acknowledged"


def _write(vault: Vault, name: str, number: int) -> None:
    if number % _TENTH:
        record.ingest(vault, [stores.save(number, name)], stores.SOURCE)
    else:
        vault.write([stores.put_document(vault, f"{name}:{number}")])


if __name__ == "__main__":
    main()
