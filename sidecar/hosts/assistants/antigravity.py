"""Antigravity."""

from sidecar.hosts.assistant import Assistant, File, Hook, HookEntries, ServerEntry


class Antigravity(Assistant):
    """Google's editor, made from VS Code, and its assistant; it can be told something only with a prompt."""

    name = "antigravity"
    label = "Antigravity"
    client_names = ("antigravity",)
    is_editor = True
    files = (
        File(
            user=("~/.gemini/config/hooks.json",),
            project=("./.agents/hooks.json",),
            hooks=HookEntries(
                "antigravity",
                (Hook("PreInvocation"), Hook("PostToolUse", "")),
                on_windows="cmd",
                style="named",
                path=("threadline",),
            ),
        ),
        File(
            user=("~/.gemini/config/mcp_config.json",),
            project=("./.agents/mcp_config.json",),
            server=ServerEntry(),
        ),
    )
    signs = ("~/.gemini/config", "~/.gemini/antigravity")
    programs = ("antigravity", "agy")
    events = {
        "PreInvocation": "prompt",
        "PostToolUse": "tool",
        "Stop": "turn.end",
    }
    answered_events = ("prompt",)
    plain_answers = {
        "PreInvocation": b"{}",
        "PostInvocation": b"{}",
        "PostToolUse": b"{}",
        "SessionStart": b"{}",
        "Stop": b'{"decision": ""}',
    }

    def answer(self, text: str, event: str) -> dict[str, object]:
        """Return the answer that gives the host a text."""
        del event
        return {"injectSteps": [{"ephemeralMessage": text}]}


ASSISTANT = Antigravity()
