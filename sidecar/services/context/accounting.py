"""Accounting: what would be given now and what not, each item in its own words."""

from protocol.contexts import Account, RenderParams
from sidecar.services.context import wording
from sidecar.services.context.scenes import Scene
from sidecar.services.context.starting import Contexts


def account(contexts: Contexts, scene: Scene, params: RenderParams) -> Account:
    """Tell what is given, why, what is not, and what all of it says."""
    rendered, told = contexts.render(scene, params), contexts.tell(scene, params)
    receipt = told.receipt
    named = [*(one.id for one in receipt.items), *(one.id for one in receipt.left_out)]
    words = wording.find(scene.vault, list(dict.fromkeys(named)))
    if recovery := told.context.recovery or None:
        key = recovery.checkpoint_id or "recovery"
        words[key] = wording.say(f"Conversation {recovery.session_key}", recovery.text)
    return Account(rendered=rendered, receipt=receipt, words=words)
