"""Which host runs a hook, and in which folder.

One hook file is read by several hosts, and a host started within another inherits its environment. So the message
decides first, then the environment, then the name on the command line.
"""

import os
from _collections_abc import Mapping

from sidecar.hosts import assistant
from sidecar.hosts.assistant import UNKNOWN, Assistant, Fields

_ALIASES = {"claude": "claude-code", "copilot-cli": "copilot", "vscode-local": "vscode"}
"""Other names that older configuration files use."""
_SHARED = {"claude-code", "copilot", "vscode", UNKNOWN}
"""Names in files that several hosts read: there the environment knows better than the command line."""
_MARKS = {
    "cursor": ("cursor_version",),
    "windsurf": ("agent_action_name", "trajectory_id"),
    "antigravity": ("conversationId", "workspacePaths"),
    "openclaw": ("hook", "event", "ctx"),
}
"""Fields that only one host sends, of those that may run another's hooks."""


def find_named(name: str) -> Assistant:
    """Return the host that a command line names."""
    return assistant.find(_ALIASES.get(name.lower(), name.lower()))


def recognise(name: str, message: Fields, environment: Mapping[str, str]) -> tuple[Assistant, bool]:
    """Return the host that runs a hook, and whether that is certain."""
    named = find_named(name)
    host = _by_message(message, environment, named.name)
    if host is not None:
        return assistant.find(host), True
    if named.name not in _SHARED:
        return named, True
    host = _by_environment(environment)
    return (assistant.find(host), True) if host else (named, False)


def find_root(host: Assistant, fields: Fields, environment: Mapping[str, str]) -> str:
    """Return the folder that a host works in: the one it names, or the current one."""
    lists = [fields.get(name) for name in ("workspace_roots", "workspacePaths")]
    named = [
        environment.get(host.root_variable, ""),
        *(folders[0] for folders in lists if isinstance(folders, list) and folders),
        *(fields.get(name) for name in ("workspaceDir", "worktree", "directory", "cwd")),
    ]
    folders = [folder for folder in named if folder and isinstance(folder, str)]
    existing = next(filter(os.path.isdir, folders), None)
    return os.path.abspath(existing or (folders[0] if folders else os.getcwd()))


def _by_message(message: Fields, environment: Mapping[str, str], named: str) -> str | None:
    for host, fields in _MARKS.items():
        if all(field in message for field in fields):
            return host
    if named not in _SHARED:
        return None
    if "timestamp" in message:
        return _by_timestamp(message, environment, named)
    if _is_claude(message):
        return "claude-code"
    is_bare = "cwd" not in message and "transcript_path" not in message
    return "devin" if is_bare and "hook_event_name" in message and "session_id" in message else None


def _is_claude(message: Fields) -> bool:
    transcript = _transcript(message)
    if ".claude/projects" in transcript:
        return True
    parts = transcript.split("/")
    lies_in_projects = len(parts) > 3 and parts[-3] == "projects"  # noqa: PLR2004  # a folder for each project
    return lies_in_projects and transcript.endswith(".jsonl") and "hook_event_name" in message


def _by_timestamp(message: Fields, environment: Mapping[str, str], named: str) -> str | None:
    transcript = _transcript(message)
    if isinstance(message["timestamp"], int) or ".copilot/" in transcript:
        return "copilot"
    if "copilot-chat" in transcript or "hookEventName" in message:
        return "vscode"
    if environment.get("COPILOT_CLI") == "1" or named == "copilot":
        return "copilot"
    return "vscode"


def _by_environment(environment: Mapping[str, str]) -> str | None:
    if environment.get("CURSOR_VERSION") or environment.get("CURSOR_PROJECT_DIR"):
        return "cursor"
    if environment.get("DEVIN_PROJECT_DIR"):
        return "devin"
    if environment.get("COPILOT_CLI") == "1":
        return "copilot"
    return "claude-code" if environment.get("CLAUDECODE") == "1" else None


def _transcript(message: Fields) -> str:
    path = message.get("transcript_path") or message.get("transcriptPath")
    return path.replace("\\", "/") if isinstance(path, str) else ""
