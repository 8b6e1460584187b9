"""Documents: what a project wants its agents to know."""

from collections.abc import Iterable

from protocol.documents import KNOWN, SOUL, Document
from sidecar.domain import documents, privacy
from sidecar.domain.enrichment.wording import clipped
from sidecar.store.vaults import Vault

_NAME = 80
"""Letters of a project's name that a sentence can bear."""


def find(vault: Vault, names: Iterable[str]) -> list[Document]:
    """Read documents in the order they were asked for, each once; what nobody has written is left out.

    There is always a soul: ours, version 0, while the project has none of its own.
    """
    found = [vault.documents.get(name) or _ours(vault, name) for name in dict.fromkeys(names)]
    return [privacy.clean_record(one) for one in found if one is not None]


def available(vault: Vault) -> list[str]:
    """Name the documents that can be read: those that every vault understands, then the others."""
    written = {privacy.clean(name) for name in vault.documents.by_id()} | {SOUL}
    return [name for name in KNOWN if name in written] + sorted(written.difference(KNOWN))


def introduction(project_name: str) -> str:
    """Tell an agent that is here for the first time how to use this memory."""
    return documents.introduction(clipped(" ".join(privacy.clean(project_name).split()), _NAME))


def _ours(vault: Vault, name: str) -> Document | None:
    if name != SOUL:
        return None
    now = vault.clock()
    return Document(
        name=SOUL,
        project_id=vault.project_id,
        content=documents.SOUL,
        version=0,
        created_at=now,
        updated_at=now,
    )
