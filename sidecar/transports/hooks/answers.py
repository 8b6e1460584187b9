"""Answers: what a host is told, in the form that it understands."""

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


def tell(text: str, host: str, event: str, *, is_sure: bool) -> bytes:
    """Tell a host something in its own form, with nothing hidden in it; in all forms at once where it may be one of several."""
    from sidecar.domain.rendering import characters  # noqa: PLC0415  # few events are answered

    text = characters.visible(text)
    nested = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
    if not is_sure:
        return _written({"additionalContext": text, "additional_context": text, **nested})
    if host in _NESTED:
        return _written(nested)
    if host == "cursor":
        go_on = {"continue": True} if event == "beforeSubmitPrompt" else {}
        # Hooks in the form of Claude Code are run by Cursor, too, and read in that form.
        borrowed = nested if event[:1].isupper() else {}
        return _written({**go_on, "additional_context": text, **borrowed})
    if host == "antigravity":
        return _written({"injectSteps": [{"ephemeralMessage": text}]})
    return _written({"prependContext" if host == "openclaw" else "additionalContext": text})


def _written(answer: object) -> bytes:
    import json  # noqa: PLC0415  # few events are answered

    return json.dumps(answer).encode()
