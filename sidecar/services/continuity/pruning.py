"""Pruning: what is too old or too much of conversations goes, so that they stay small for ever."""

from collections.abc import Iterator
from datetime import timedelta

from protocol.contexts import Receipt
from protocol.settings import Settings
from sidecar.domain.continuity import checkpoints, conversations
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault

RECEIPTS = 1_000
_LONGER = 4
"""How many times longer than checkpoints receipts are kept: they say what memory was worth."""


def prune(vault: Vault, settings: Settings) -> int:
    """Drop checkpoints, receipts and old conversations' words that need not be kept; tell how many."""
    if not any(_ops(vault, settings)):
        return 0
    with vault.transaction():
        ops = list(_ops(vault, settings))
        if ops:
            vault.write(ops)
    return len(ops)


def _ops(vault: Vault, settings: Settings) -> Iterator[Op]:
    now = vault.clock()
    for identifier in checkpoints.surplus(vault.checkpoints.all(), settings, now):
        yield vault.checkpoints.drop(identifier)
    for identifier in _receipts(vault, settings):
        yield vault.receipts.drop(identifier)
    oldest = now - timedelta(days=settings.retention_days)
    for talk in vault.conversations.all():
        faded = conversations.faded(talk)
        if talk.last_seen_at < oldest and faded != talk:
            yield vault.conversations.put(talk.session_key, faded)


def _receipts(vault: Vault, settings: Settings) -> list[str]:
    oldest = vault.clock() - timedelta(days=settings.retention_days * _LONGER)
    kept = sorted(vault.receipts.all(), key=_age, reverse=True)
    return [
        one.receipt_id
        for place, one in enumerate(kept)
        if place >= RECEIPTS or one.last_given_at < oldest
    ]


def _age(receipt: Receipt) -> tuple[object, str]:
    return receipt.last_given_at, receipt.receipt_id
