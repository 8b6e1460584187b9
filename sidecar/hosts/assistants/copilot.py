"""GitHub Copilot in a terminal."""

from sidecar.hosts.assistant import (
    Assistant,
    Fields,
    File,
    Hook,
    HookEntries,
    ServerEntry,
    Turn,
    first_text,
    make_turn,
)

HOOKS_FILE = File(
    user=("{COPILOT_HOME:~/.copilot}/hooks/threadline.json",),
    project=("./.github/hooks/threadline.json",),
    members={"version": 1},
    hooks=HookEntries(
        "copilot",
        (
            Hook("sessionStart"),
            Hook("sessionEnd"),
            Hook("userPromptSubmitted"),
            Hook("postToolUse"),
            Hook("agentStop"),
            Hook("preCompact"),
        ),
        style="shells",
    ),
)
SHARED_SERVER_FILE = File(project=("./.mcp.json",), server=ServerEntry(before={"type": "stdio"}))
"""Claude Code, Copilot and VS Code's agent host read the same file in a project."""


class Copilot(Assistant):
    """Copilot CLI."""

    name = "copilot"
    label = "Copilot"
    title = "Copilot CLI"
    client_names = ("copilot",)
    spellings = ("copilot-cli", "github-copilot", "github-copilot-cli")
    files = (
        HOOKS_FILE,
        File(
            user=("{COPILOT_HOME:~/.copilot}/mcp-config.json",),
            server=ServerEntry(before={"type": "local"}, after={"tools": ["*"]}),
        ),
        SHARED_SERVER_FILE,
    )
    signs = ("{COPILOT_HOME:~/.copilot}",)
    programs = ("copilot",)
    root_variable = "COPILOT_PROJECT_DIR"
    forgotten_events = ("session.start",)
    is_read_from_transcript = True
    transcripts = ("~/.copilot/session-state",)

    def read_turn(self, line: Fields) -> Turn | None:
        """Return what a line of a transcript says; subagents have an id."""
        data = line.get("data")
        if not isinstance(data, dict) or data.get("parentToolCallId") or line.get("agentId"):
            return None
        speakers = {"user.message": "user", "assistant.message": "assistant"}
        speaker = speakers.get(str(line.get("type")))
        return make_turn(speaker, first_text(data, ("content",), None))

    def read_summary(self, line: Fields) -> str | None:
        """Return the summary of a compaction."""
        data = line.get("data")
        is_summary = line.get("type") == "session.compaction_complete" and not line.get("agentId")
        if not is_summary or not isinstance(data, dict) or data.get("success") is False:
            return None
        return first_text(data, ("summaryContent",), None)


ASSISTANT = Copilot()
