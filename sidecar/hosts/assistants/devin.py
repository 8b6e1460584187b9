"""Devin: the assistant in a terminal, and the editor that Windsurf became."""

from sidecar.hosts.assistant import (
    Assistant,
    File,
    Hook,
    HookEntries,
    ServerEntry,
    claude_answer,
)

_HOOKS = (
    Hook("SessionStart", ""),
    Hook("UserPromptSubmit", ""),
    Hook("PostToolUse", "^(edit|write|apply_patch|notebook_edit)$"),
    Hook("PostCompaction", ""),
    Hook("Stop", ""),
    Hook("SessionEnd", ""),
)


class Devin(Assistant):
    """Cognition's assistant."""

    name = "devin"
    label = "Devin"
    client_names = ("devin",)
    is_editor = True
    files = (
        File(
            user=("{roaming}/devin/config.json",),
            hooks=HookEntries("devin", _HOOKS, on_windows="cmd"),
        ),
        File(
            project=("./.devin/hooks.v1.json",),
            hooks=HookEntries("devin", _HOOKS, on_windows="cmd", path=()),
        ),
        File(
            user=("{roaming}/devin/mcp_config.json",),
            project=("./.devin/mcp_config.json",),
            server=ServerEntry(host="devin"),
        ),
    )
    signs = ("{roaming}/devin",)
    programs = ("devin",)
    root_variable = "DEVIN_PROJECT_DIR"

    def answer(self, text: str, event: str) -> dict[str, object]:
        """Return the answer that gives the host a text."""
        return claude_answer(text, event)


ASSISTANT = Devin()
