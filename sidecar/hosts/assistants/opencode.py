"""OpenCode; its plugin is in `opencode.js`."""

from sidecar.hosts.assistant import Assistant, File, ServerEntry


class OpenCode(Assistant):
    """An assistant in a terminal that loads plugins."""

    name = "opencode"
    label = "OpenCode"
    client_names = ("opencode",)
    files = (
        File(
            user=("{config}/opencode/plugins/threadline.js",),
            project=("./.opencode/plugins/threadline.js",),
            template="opencode.js",
        ),
        File(
            user=("{config}/opencode/opencode.jsonc", "{config}/opencode/opencode.json"),
            project=("./opencode.jsonc", "./opencode.json"),
            members={"$schema": "https://opencode.ai/config.json"},
            server=ServerEntry(
                "mcp", before={"type": "local"}, after={"enabled": True}, is_one_list=True
            ),
        ),
    )
    signs = ("{config}/opencode",)
    programs = ("opencode",)
    events = {
        "session.created": "session.start",
        "chat.message": "prompt",
        "tool.execute.after": "tool",
        "file.edited": "tool",
        "experimental.session.compacting": "compact.before",
        "session.compacted": "compact.after",
        "session.idle": "turn.end",
        "session.deleted": "session.end",
    }
    edit_events = ("file.edited",)
    session_fields = (*Assistant.session_fields, "id")
    answered_events = ("session.start", "prompt", "compact.before")
    is_answered_after_compaction = True
    forgotten_events = ("session.start", "prompt", "compact.before")


ASSISTANT = OpenCode()
