"""Narrating: an agent's own account of where it stands, kept word by word, and a host's before it cuts."""

from datetime import datetime

from protocol.checkpoints import Checkpoint, Digested, DigestParams
from protocol.conversations import Conversation
from protocol.values import TEXT_LIMIT
from sidecar.domain import echoes, privacy
from sidecar.domain.continuity import checkpoints, conversations, naming
from sidecar.domain.continuity.conversations import Who
from sidecar.services.continuity import meeting, observing
from sidecar.services.continuity.tools import Tools
from sidecar.storage.vault import Vault


def digest(vault: Vault, params: DigestParams, who: Who, tools: Tools) -> Digested:
    """Keep a narrative, or all that is known before a compaction; on the disk when this returns."""
    settings = tools.settings
    if not settings.continuity_enabled:
        return Digested(checkpoint=None)
    # What was searched a moment ago belongs to where it stands.
    tools.buffer.flush()
    who = meeting.leader(vault, params.session_key, who, (params.agent_id, params.harness))
    words = privacy.clean(echoes.without(params.digest))[:TEXT_LIMIT]
    with vault.transaction():
        now = meeting.moment(vault, params.occurred_at)
        met = meeting.meet(vault, params.session_key, who, now)
        talk = conversations.seen(met.conversation, now)
        told = _told(vault, talk, (params, words), now)
        known = _repeated(vault, talk, params, told)
        if known is not None:
            return Digested(checkpoint=checkpoints.cleaned(known))
        made = observing.make(talk, params.trigger, told, now=now)
        is_own = params.trigger != "pre_compaction" and words.strip()
        agent = conversations.summed_up(met.agent, naming.headline(words)) if is_own else met.agent
        ops = observing.save(vault, made, talk, settings)
        vault.write([*ops, vault.agents.put(agent.agent_id, agent)])
        return Digested(checkpoint=checkpoints.cleaned(made))


def _told(vault: Vault, talk: Conversation, said: tuple[DigestParams, str], now: datetime) -> str:
    """Give what is kept: the agent's words as they are, what was observed where there are none."""
    params, words = said
    if params.trigger != "pre_compaction" and words.strip():
        return words
    return checkpoints.before_compaction(observing.describe(vault, talk, now), words)


def _repeated(
    vault: Vault, talk: Conversation, params: DigestParams, told: str
) -> Checkpoint | None:
    """Find the checkpoint that says the very same already: the last one, with no prompt since."""
    mine = checkpoints.by_age(vault.checkpoints.find("sessionKey", talk.session_key))
    last = mine[0] if mine else None
    same = last and (last.trigger, last.digest, last.prompt_count)
    return last if same == (params.trigger, told, talk.prompt_count) else None
