"""Listing: checkpoints as people and clients read them."""

from protocol.checkpoints import CheckpointList, ListCheckpointsParams
from sidecar.domain.continuity import checkpoints, conversations
from sidecar.storage.vault import Vault


def list_checkpoints(vault: Vault, params: ListCheckpointsParams) -> CheckpointList:
    """List checkpoints of a project or of one conversation, newest first."""
    if params.session_key is None:
        found = vault.checkpoints.all()
    else:
        key = conversations.known_as(params.session_key)
        found = vault.checkpoints.find("sessionKey", key)
    shown = checkpoints.by_age(found)[: params.limit]
    return CheckpointList(checkpoints=tuple(map(checkpoints.cleaned, shown)), total=len(found))
