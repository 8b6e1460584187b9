"""Agents: who was here lately, and how people call them."""

from datetime import datetime, timedelta

from protocol.contexts import AgentItem
from protocol.conversations import Agent
from sidecar.domain import privacy
from sidecar.domain.enrichment.wording import clipped
from sidecar.store.vaults import Vault

_SUMMARY = 120
"""Letters of a summary that fit one line."""
_NAMES = {
    "claudecode": "Claude Code",
    "claude": "Claude Code",
    "cursor": "Cursor",
    "windsurf": "Windsurf",
    "cascade": "Windsurf",
    "devin": "Devin",
    "copilot": "Copilot",
    "copilotcli": "Copilot",
    "githubcopilot": "Copilot",
    "githubcopilotcli": "Copilot",
    "opencode": "OpenCode",
    "codex": "Codex",
    "codexcli": "Codex",
    "antigravity": "Antigravity",
    "openclaw": "OpenClaw",
    "vscode": "VS Code",
    "visualstudiocode": "VS Code",
    "neovim": "Neovim",
    "nvim": "Neovim",
}
"""Names of programs, by how they are written without case and signs."""


def recent(
    vault: Vault, but: str, now: datetime, *, days: int = 7, limit: int = 5
) -> list[AgentItem]:
    """List the other agents that were here in the last days, the latest first."""
    since = now - timedelta(days=days)
    found = [
        agent
        for agent in vault.agents.by_id().values()
        if agent.agent_id != but and agent.last_seen_at >= since
    ]
    found.sort(key=lambda agent: (agent.last_seen_at, agent.agent_id), reverse=True)
    return [_item(privacy.clean_record(agent)) for agent in found[:limit]]


def label(agent_id: str, harness: str | None = None) -> str:
    """Say how people call an agent: by its program's proper name, or by the name it has given itself."""
    return _NAMES.get(_plain(agent_id)) or agent_id.strip() or _program(harness or "")


def _program(harness: str) -> str:
    return _NAMES.get(_plain(harness), harness.strip())


def _plain(name: str) -> str:
    return "".join(one for one in name.lower() if one.isalnum())


def _item(agent: Agent) -> AgentItem:
    return AgentItem(
        agent_id=agent.agent_id,
        label=agent.label or label(agent.agent_id, agent.harness),
        last_seen_at=agent.last_seen_at,
        last_summary=_line(agent.last_summary),
    )


def _line(summary: str | None) -> str | None:
    """Give a summary in one line."""
    return clipped(" ".join((summary or "").split()), _SUMMARY) or None
