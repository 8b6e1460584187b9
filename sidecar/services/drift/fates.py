"""Fates: what became of the commits that memories come from, as their sessions recorded it."""

from collections.abc import Collection

from protocol.memories import Memory
from sidecar.domain.drift import verdicts
from sidecar.domain.drift.verdicts import Fates
from sidecar.services.drift import drifting
from sidecar.services.drift.codebases import Code
from sidecar.storage.vault import Vault


def elsewhere(vault: Vault, memories: Collection[Memory], code: Code | None) -> set[str]:
    """Name the memories that belong to branches which are not part of the current one."""
    if code is None:
        return set()
    with code.held() as head:
        if head is None:
            return set()
        return drifting.elsewhere(memories, code, find(vault, memories, code))


def find(vault: Vault, memories: Collection[Memory], code: Code) -> Fates:
    """Tell which commits were written anew or dropped; only sessions with a commit that HEAD lacks are read."""
    commits = {one.memory_id: verdicts.commits(one, Fates()) for one in memories}
    with code.held():
        here = code.ages({sha for shas in commits.values() for sha in shas})
    astray = {
        one.session_id
        for one in memories
        if one.session_id and any(sha not in here for sha in commits[one.memory_id])
    }
    became: dict[str, str] = {}
    dropped: set[str] = set()
    for session_id in sorted(astray):
        for event in vault.sessions.events(session_id):
            if event.commit is not None:
                became |= dict.fromkeys(event.commit.replaces, event.commit.sha)
                dropped |= {event.commit.sha} if event.commit.dropped else set()
    return Fates(became=became, dropped=frozenset(dropped))
