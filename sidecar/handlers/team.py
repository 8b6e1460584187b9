"""Handlers for teams."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from protocol.values import Record
from sidecar.storage.vault import Vault
from sidecar.upkeep import team

SERVICES: dict[str, Callable[[Vault, Any, Path], Record]] = {
    "threadline/team/init": team.init,
    "threadline/team/join": team.join,
    "threadline/team/leave": lambda vault, _params, _folder: team.leave(vault),
    "threadline/team/status": lambda vault, _params, _folder: team.status(vault),
    "threadline/team/preview": lambda vault, _params, _folder: team.preview(vault),
    "threadline/team/push": lambda vault, params, _folder: team.push(vault, params),
    "threadline/team/pull": lambda vault, _params, _folder: team.pull(vault),
    "threadline/team/key": lambda vault, params, _folder: team.keep_key(vault, params),
    "threadline/team/history": lambda vault, params, _folder: team.history(vault, params),
}
