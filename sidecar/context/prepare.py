"""Preparing: what the next conversation is told is written before it begins, so that a hook only has to read it."""

from collections.abc import Callable

import msgspec

from protocol.contexts import Receipt, Recovery, RenderParams, UngivenItem
from sidecar.context import begin, receipts
from sidecar.context.scenes import Scene
from sidecar.context.start import Contexts
from sidecar.conversations.rules.conversations import Who
from sidecar.storage import prepared
from sidecar.storage.collection import Op
from sidecar.storage.derived import Preparation
from sidecar.storage.vault import Vault
from sidecar.tasks import open_tasks
from sidecar.text import characters

RECOVERY = "recovery"
_LEFT_OUT = 50
"""Items that were left out, of which a prepared receipt tells why."""


def prepare(
    contexts: Contexts, make_scene: Callable[[], Scene], params: RenderParams, home: str
) -> Preparation | None:
    """Write what a new conversation would be told, and note all that it depends on; None where HEAD moves meanwhile."""
    top = prepared.find_top(params.project or "")
    head = prepared.find_head(top)
    if head is None:
        return None
    scene = make_scene()
    vault = scene.vault
    open_tasks.complete_due(vault, scene.look)
    # In this order: what is written while this one is made has a later number.
    seq, erasures = vault.database.sequence(), vault.erasures()
    standing = prepared.standing(home, vault.project_id)
    told, is_whole = contexts.draft(scene, params)
    if prepared.find_head(top) != head:
        return None
    return Preparation(
        standing=standing,
        head=head,
        seq=seq,
        erasures=erasures,
        is_whole=is_whole,
        watched=prepared.watch(top, list(open_tasks.watched(vault))),
        items=_quoted(vault, told.receipt),
        text=characters.visible(told.text),
        receipt=msgspec.json.encode(_template(told.receipt)),
    )


def place(vault: Vault, params: RenderParams, who: Who, given: Receipt) -> list[Op]:
    """Write down that a conversation began with a prepared context; return how to keep its receipt."""
    recovered = any(item.section == RECOVERY for item in given.items)
    recovery = Recovery(
        session_key="",
        checkpoint_id=given.recovered_from,
        lineage="path",
        created_at=given.given_at,
        text="",
    )
    begin.begin(vault, params, who, recovery if recovered else None, given.given_at)
    key = params.session_key
    request = (vault.project_id, key, who.agent_id, params.host, params.occasion)
    receipt = msgspec.structs.replace(
        given,
        receipt_id=receipts.name(msgspec.json.encode(request), given.receipt_id.encode()),
        project_id=vault.project_id,
        session_key=key,
        agent_id=who.agent_id,
        occasion=params.occasion,
    )
    known = vault.receipts.get(receipt.receipt_id)
    if known is not None and known.last_given_at == receipt.given_at:
        return []
    ids = [item.id for item in receipt.items if item.id in vault.memories]
    return [*receipts.keep(vault, receipt), *(begin.given(vault, key, ids) if key else [])]


def _quoted(vault: Vault, receipt: Receipt) -> dict[str, list[str]]:
    ids = [item.id for item in receipt.items]
    ids += [receipt.recovered_from] if receipt.recovered_from else []
    return {name: list(getattr(vault, name).some(ids)) for name in prepared.TOLD}


def _template(receipt: Receipt) -> Receipt:
    """Leave out what is known only once it is given, and who is named by it: it waits in the inbox of all projects."""
    left_out: tuple[UngivenItem, ...] = receipt.left_out[:_LEFT_OUT]
    return msgspec.structs.replace(receipt, project_id="", left_out=left_out)
