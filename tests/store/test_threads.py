"""One vault serves many threads."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from protocol.methods import ListSessionsParams
from sidecar.services import browsing, recording
from sidecar.store.vaults import Vault
from tests.support import HOUR, NOON, save


@pytest.mark.slow
def test_threads_write_and_read_one_vault_at_once(vault: Vault) -> None:
    """H1."""

    def write(worker: int) -> None:
        for number in range(40):
            moment = NOON - (worker * 40 + number) * 5 * HOUR
            recording.ingest(vault, [save(at=moment, key=f"{worker}/{number}")], f"w{worker}")

    def read(_: int) -> None:
        for _ in range(20):
            for session in browsing.list_sessions(vault, ListSessionsParams(limit=50)).sessions:
                assert session.message_count == len(vault.sessions.events(session.session_id))

    with ThreadPoolExecutor(6) as pool:
        for future in [
            *(pool.submit(write, n) for n in range(4)),
            *(pool.submit(read, n) for n in range(2)),
        ]:
            future.result()
    page = browsing.list_sessions(vault, ListSessionsParams(limit=1000))
    assert page.total == 160
    keys = Counter(
        e.idempotency_key for s in page.sessions for e in vault.sessions.events(s.session_id)
    )
    assert len(keys) == 160
    assert set(keys.values()) == {1}
