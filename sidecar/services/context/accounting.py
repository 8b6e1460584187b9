"""Accounting: what would be given now and what not, each item in its own words."""

import msgspec

from protocol.contexts import Account, Receipt, RenderParams, UngivenItem
from sidecar.domain.recall.catalogues import REFUSED
from sidecar.services.context import selecting, wording
from sidecar.services.context.scenes import Scene
from sidecar.services.context.starting import Contexts
from sidecar.storage.vault import Vault

_WRONG = 50
"""Memories somebody called wrong that are named at the most."""


def account(contexts: Contexts, scene: Scene, params: RenderParams) -> Account:
    """Tell what is given, why, what is not, and what all of it says."""
    rendered, told = contexts.render(scene, params), contexts.tell(scene, params)
    receipt = _completed(scene.vault, told.receipt)
    named = [*(one.id for one in receipt.items), *(one.id for one in receipt.left_out)]
    words = wording.find(scene.vault, list(dict.fromkeys(named)))
    if recovery := told.context.recovery or None:
        key = recovery.checkpoint_id or "recovery"
        words[key] = wording.say(f"Conversation {recovery.session_key}", recovery.text)
    return Account(rendered=rendered, receipt=receipt, words=words)


def _completed(vault: Vault, receipt: Receipt) -> Receipt:
    """Name also what somebody called wrong, the latest first: it does not even come into question."""
    named = {*(one.id for one in receipt.items), *(one.id for one in receipt.left_out)}
    told = vault.memories.glimpses(vault.memories.ids(), "type", "status", "feedback")
    wrong = [
        UngivenItem(id=key, section=selecting.section(kind), reason="wrong")
        for key, (kind, status, feedback) in told.items()
        if key not in named and status == "active" and (feedback or 0.0) <= REFUSED
    ]
    wrong.sort(key=lambda one: one.id, reverse=True)
    return msgspec.structs.replace(receipt, left_out=(*receipt.left_out, *wrong[:_WRONG]))
