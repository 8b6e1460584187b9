"""Giving: every injection leaves a receipt of what was given, why, and what was left out."""

import msgspec

from protocol.contexts import (
    ContextItem,
    Receipt,
    ReceiptList,
    ReceiptsParams,
    Replay,
)
from protocol.memories import Memory
from sidecar.domain import privacy
from sidecar.domain.context import items, modes
from sidecar.domain.continuity import conversations
from sidecar.domain.hashing import blake2b
from sidecar.services.context import wording
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault

_REMEMBERED = (*modes.SECTIONS, "queryResults")
"""Sections that tell memories."""
_SIZE = 10
"""Bytes of a receipt's name, which is a hash of what was given to whom: the same again is the same receipt."""


def name(*parts: bytes) -> str:
    """Name what was given."""
    digest = blake2b(digest_size=_SIZE)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def keep(vault: Vault, receipt: Receipt) -> list[Op]:
    """Say how to write a receipt down; one that is there already counts once more."""
    known = vault.receipts.get(receipt.receipt_id)
    if known is not None:
        receipt = msgspec.structs.replace(
            known, times=known.times + receipt.times, last_given_at=receipt.last_given_at
        )
    return [vault.receipts.put(receipt.receipt_id, receipt)]


def list_receipts(vault: Vault, params: ReceiptsParams) -> ReceiptList:
    """List receipts, newest first, and replay them where that is asked for."""
    if params.session_key is not None:
        known = conversations.known_as(params.session_key)
        params = msgspec.structs.replace(params, session_key=known)
    found = [one for one in vault.receipts.all() if _fits(one, params)]
    found.sort(key=lambda one: (one.last_given_at, one.receipt_id), reverse=True)
    shown = [_clean(one) for one in found[: params.limit]]
    replays = [_replay(vault, one) for one in shown] if params.replay else []
    return ReceiptList(receipts=tuple(shown), total=len(found), replays=tuple(replays))


def _fits(receipt: Receipt, params: ReceiptsParams) -> bool:
    return (
        params.receipt_id in {None, receipt.receipt_id}
        and params.session_key in {None, receipt.session_key}
        and params.agent_id in {None, receipt.agent_id}
    )


def _clean(receipt: Receipt) -> Receipt:
    return msgspec.structs.replace(receipt, query=privacy.clean(receipt.query))


def _replay(vault: Vault, receipt: Receipt) -> Replay:
    """Show the memories that were given in the words they have now."""
    ids = [one.id for one in receipt.items if one.section in _REMEMBERED]
    memories = [key for key in ids if key not in vault.tasks]
    found = vault.memories.some(memories)
    there = {key: one for key, one in found.items() if one.status != "forgotten"}
    named = [*(one.id for one in receipt.items), *(one.id for one in receipt.left_out)]
    return Replay(
        receipt_id=receipt.receipt_id,
        items=tuple(_shown(one) for one in there.values()),
        changed=tuple(key for key, one in there.items() if one.updated_at > receipt.given_at),
        forgotten=tuple(key for key in memories if key not in there),
        words=wording.find(vault, list(dict.fromkeys(named))),
    )


def _shown(memory: Memory) -> ContextItem:
    return items.from_memory(privacy.clean_memory(memory))
