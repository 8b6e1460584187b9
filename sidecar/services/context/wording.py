"""Wording: what the items of a receipt say, given or not, as far as it is still known."""

from collections.abc import Sequence

from protocol.contexts import ItemWords
from protocol.memories import Memory
from sidecar.domain import privacy
from sidecar.domain.context import clipping, items
from sidecar.services import documents
from sidecar.storage.vault import Vault

_TITLE, _TEXT = 200, 1_000
_HEADING = "#"


def find(vault: Vault, ids: Sequence[str]) -> dict[str, ItemWords]:
    """Find the words of items by their ids; what is forgotten has none."""
    others = {
        **{key: say(one.title, one.description) for key, one in vault.tasks.some(ids).items()},
        **{
            key: say(one.subject or one.content, one.content, one.sender_id)
            for key, one in vault.messages.some(ids).items()
        },
        **{
            key: say(f"Conversation {one.session_key}", one.digest, one.harness)
            for key, one in vault.checkpoints.some(ids).items()
        },
        **{
            key: _memory(one)
            for key, one in vault.memories.some(ids).items()
            if one.status != "forgotten"
        },
    }
    rest = [key for key in ids if key not in others]
    told = {one.name: say(one.name, one.content) for one in documents.find(vault, rest)}
    return {key: words for key in ids if (words := others.get(key) or told.get(key))}


def say(title: str, text: str, origin: str = "") -> ItemWords:
    """Word something that is no memory; a heading above its text is no part of it."""
    said = _short(privacy.clean(title))
    whole = privacy.clean(text).strip()
    if whole.startswith(_HEADING):
        whole = whole.partition("\n")[2].strip()
    more = clipping.clip_lines(whole, _TEXT)[0]
    return ItemWords(title=said, text="" if more == said else more, origin=origin)


def _memory(memory: Memory) -> ItemWords:
    clean = privacy.clean_memory(memory)
    return ItemWords(
        title=_short(clean.title),
        text=clipping.clip_lines(items.says(clean), _TEXT)[0],
        type=clean.type,
        origin=items.origin(clean),
        occurred_at=clean.occurred_at,
        feedback=clean.feedback,
        pinned=clean.pinned,
    )


def _short(text: str) -> str:
    return clipping.clip(text, _TITLE)[0]
