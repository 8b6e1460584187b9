"""Answers: what a host is told, in the form that it understands."""

from sidecar.transports.hooks import notation

_PLAIN = {
    ("codex", "Stop"): b"{}",
    ("antigravity", "PreInvocation"): b"{}",
    ("antigravity", "PostInvocation"): b"{}",
    ("antigravity", "PostToolUse"): b"{}",
    ("antigravity", "SessionStart"): b"{}",
    ("antigravity", "Stop"): b'{"decision": ""}',
    ("cursor", "beforeSubmitPrompt"): b'{"continue": true}',
    ("cursor", "workspaceOpen"): b'{"pluginPaths": []}',
}
"""What hosts want to hear though there is nothing to say; to all others silence is right."""
_NESTED = {"claude-code", "devin", "vscode", "codex"}


def plain(host: str, event: str) -> bytes:
    """Say nothing in a host's own way."""
    return _PLAIN.get((host, event), b"")


def tell(text: str, host: str, event: str, *, is_sure: bool, is_clean: bool = False) -> bytes:
    """Tell a host something in its own form, with nothing hidden in it; in all forms at once where it may be one of several."""
    if not is_clean:
        from sidecar.text import characters  # noqa: PLC0415  # few events are answered

        text = characters.visible(text)
    nested: dict[str, object] = {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": text}
    }
    if not is_sure:
        return notation.encode({"additionalContext": text, "additional_context": text, **nested})
    if host in _NESTED:
        return notation.encode(nested)
    if host == "cursor":
        go_on = {"continue": True} if event == "beforeSubmitPrompt" else {}
        # Hooks in the form of Claude Code are run by Cursor, too, and read in that form.
        borrowed = nested if event[:1].isupper() else {}
        return notation.encode({**go_on, "additional_context": text, **borrowed})
    if host == "antigravity":
        return notation.encode({"injectSteps": [{"ephemeralMessage": text}]})
    return notation.encode({"prependContext" if host == "openclaw" else "additionalContext": text})
