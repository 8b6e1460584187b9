"""Valuing: what memory was worth to the conversations that were given it."""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta

from protocol.contexts import ContextItem, Stats, StatsParams, Worth
from protocol.conversations import Conversation
from sidecar.domain import privacy
from sidecar.domain.context import items
from sidecar.storage.vault import Vault

_SHOWN = 5


def tell(vault: Vault, params: StatsParams) -> Stats:
    """Compare the conversations that began cold with those that were told where an earlier one stood."""
    since = vault.clock() - timedelta(days=params.days)
    lately = [one for one in vault.conversations.all() if one.last_seen_at >= since]
    return Stats(
        since=since,
        cold=_worth(one for one in lately if one.began == "cold"),
        recovered=_worth(one for one in lately if one.began == "recovered"),
        most_used=_most_used(vault, lately),
    )


def _worth(conversations: Iterable[Conversation]) -> Worth:
    every = list(conversations)
    return Worth(
        conversations=len(every),
        given=sum(len(one.given) for one in every),
        used=sum(len(one.used.keys() & set(one.given)) for one in every),
        news=sum(one.news for one in every),
        prompts=sum(one.prompt_count for one in every),
    )


def _most_used(vault: Vault, conversations: Iterable[Conversation]) -> tuple[ContextItem, ...]:
    counts: Counter[str] = Counter()
    for one in conversations:
        counts.update(one.used)
    ranked = sorted(counts, key=lambda key: (-counts[key], key))
    found = (vault.memories.get(key) for key in ranked)
    living = [one for one in found if one is not None and one.status != "forgotten"]
    return tuple(items.from_memory(privacy.clean_memory(one)) for one in living[:_SHOWN])
