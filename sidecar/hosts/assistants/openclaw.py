"""OpenClaw; its plugin is in `openclaw.js`."""

from sidecar.hosts.assistant import Assistant, Fields, File, ServerEntry, first_text

_PLUGIN: dict[str, object] = {"enabled": True, "hooks": {"allowConversationAccess": True}}


class OpenClaw(Assistant):
    """A gateway that runs assistants and loads plugins; a conversation is one of several under a key."""

    name = "openclaw"
    label = "OpenClaw"
    client_names = ("openclaw",)
    files = (
        File(
            user=("~/.openclaw/extensions/threadline/package.json",),
            template="openclaw.package.json",
        ),
        File(
            user=("~/.openclaw/extensions/threadline/openclaw.plugin.json",),
            template="openclaw.plugin.json",
        ),
        File(user=("~/.openclaw/extensions/threadline/index.js",), template="openclaw.js"),
        File(
            user=("~/.openclaw/openclaw.json",),
            plugin={("plugins", "entries", "threadline"): _PLUGIN},
            server=ServerEntry("mcp", "servers", host="openclaw"),
            syntax="json5",
        ),
    )
    signs = ("~/.openclaw",)
    programs = ("openclaw",)
    notes = ("Restart the gateway; if your settings have plugins.allow, add threadline to it.",)
    events = {
        "session_start": "session.start",
        "before_prompt_build": "prompt",
        "after_tool_call": "tool",
        "agent_end": "turn.end",
        "before_compaction": "compact.before",
        "after_compaction": "compact.after",
        "session_end": "session.end",
    }
    answered_events = ("prompt",)

    def session_key(self, fields: Fields) -> str:
        """Return the conversation's id, which is unique only below its key."""
        both = [first_text(fields, (name,)) for name in ("sessionKey", "sessionId")]
        return "/".join(filter(None, both))

    def answer(self, text: str, event: str) -> dict[str, object]:
        """Return the answer that gives the host a text."""
        del event
        return {"prependContext": text}


ASSISTANT = OpenClaw()
