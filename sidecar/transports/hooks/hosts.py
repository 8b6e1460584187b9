"""Hosts: which program is calling, and what it can be told when."""

import os
from _collections_abc import Mapping

UNKNOWN = "unknown"
NAMES = {
    "claude": "claude-code",
    "claude-code": "claude-code",
    "cursor": "cursor",
    "windsurf": "windsurf",
    "devin": "devin",
    "copilot": "copilot",
    "copilot-cli": "copilot",
    "vscode": "vscode",
    "vscode-local": "vscode",
    "opencode": "opencode",
    "openclaw": "openclaw",
    "codex": "codex",
    "antigravity": "antigravity",
}
"""What hosts are called on the command line, and by us."""
_SHARED = {"claude-code", "copilot", "vscode", UNKNOWN}
"""Names in files that several hosts read: there the environment knows better than the command line."""
_MUTE = {"windsurf"}
"""Hosts that can be told nothing; some read a file instead."""
_TOLD_AT_PROMPTS_ALONE = {"antigravity", "openclaw"}
_TOLD_AFTER_COMPACTION = {"claude-code", "opencode"}
"""Hosts with an event right after a compaction, or within it, at which they listen."""
_FORGOTTEN = {
    "copilot": {"session.start"},
    "opencode": {"session.start", "prompt", "compact.before"},
}
"""What hosts were told in answer to these, they do not have any more when a conversation is resumed."""
_FIELDS = {
    "cursor": ("cursor_version",),
    "windsurf": ("agent_action_name", "trajectory_id"),
    "antigravity": ("conversationId", "workspacePaths"),
    "openclaw": ("hook", "event", "ctx"),
}
"""What only one host sends."""
_ROOTS = {
    "cursor": "CURSOR_PROJECT_DIR",
    "devin": "DEVIN_PROJECT_DIR",
    "copilot": "COPILOT_PROJECT_DIR",
    "claude-code": "CLAUDE_PROJECT_DIR",
}


def recognise(
    said: str, message: Mapping[str, object], environment: Mapping[str, str]
) -> tuple[str, bool]:
    """Name the host that calls: by its message, its environment, or the command line; tell whether that is sure.

    One hook file is read by several hosts, and one started within another inherits its environment.
    """
    named = NAMES.get(said.lower(), UNKNOWN)
    known = _by_message(message, environment, named)
    if known is not None:
        return known, True
    if named not in _SHARED:
        return named, True
    found = _by_environment(environment)
    return (found, True) if found else (named, False)


def listens(host: str, event: str) -> bool:
    """Tell whether a host can be told something in answer to an event."""
    if is_mute(host):
        return False
    if event == "session.start":
        return host not in _TOLD_AT_PROMPTS_ALONE
    return event == "prompt" or (event == "compact.before" and host == "opencode")


def is_mute(host: str) -> bool:
    """Tell whether a host can be told nothing, though it may read a file."""
    return host in _MUTE


def must_wait(host: str) -> bool:
    """Tell whether a host listens only at the next prompt after a compaction."""
    return host not in _MUTE | _TOLD_AFTER_COMPACTION


def forgets(host: str, event: str) -> bool:
    """Tell whether a host that resumes a conversation has lost what it was told at an event."""
    return event in _FORGOTTEN.get(host, ())


def root(host: str, message: Mapping[str, object], environment: Mapping[str, str]) -> str:
    """Name the folder that a host works in: what it tells, or where we are."""
    by_host = environment.get(_ROOTS.get(host, ""), "")
    folders = [message.get(name) for name in ("workspace_roots", "workspacePaths")]
    firsts = [one[0] for one in folders if isinstance(one, list) and one]
    named = [message.get(name) for name in ("workspaceDir", "worktree", "directory", "cwd")]
    told = [one for one in (by_host, *firsts, *named) if one and isinstance(one, str)]
    there = next(filter(os.path.isdir, told), None)
    return os.path.abspath(there or (told[0] if told else os.getcwd()))


def _by_message(
    message: Mapping[str, object], environment: Mapping[str, str], named: str
) -> str | None:
    for host, fields in _FIELDS.items():
        if all(one in message for one in fields):
            return host
    if named not in _SHARED:
        return None
    if "timestamp" in message:
        return _by_timestamp(message, environment, named)
    if _is_claude(message):
        return "claude-code"
    is_bare = "cwd" not in message and "transcript_path" not in message
    return "devin" if is_bare and "hook_event_name" in message and "session_id" in message else None


def _is_claude(message: Mapping[str, object]) -> bool:
    """Tell Claude Code by its transcript, wherever its user wants its folder to be."""
    transcript = _transcript(message)
    if ".claude/projects" in transcript:
        return True
    parts = transcript.split("/")
    lies_in_projects = len(parts) > 3 and parts[-3] == "projects"  # noqa: PLR2004  # a folder for each project
    return lies_in_projects and transcript.endswith(".jsonl") and "hook_event_name" in message


def _by_timestamp(
    message: Mapping[str, object], environment: Mapping[str, str], named: str
) -> str | None:
    """Tell apart the two hosts that say when."""
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


def _transcript(message: Mapping[str, object]) -> str:
    path = message.get("transcript_path") or message.get("transcriptPath")
    return path.replace("\\", "/") if isinstance(path, str) else ""
