"""Claude Code."""

from sidecar.hosts.assistant import (
    Assistant,
    Fields,
    File,
    Hook,
    HookEntries,
    ServerEntry,
    Turn,
    claude_answer,
    make_turn,
    read_content,
)


class ClaudeCode(Assistant):
    """Anthropic's assistant in a terminal."""

    name = "claude-code"
    label = "Claude Code"
    client_names = ("claude",)
    spellings = ("claude",)
    files = (
        File(
            user=("{CLAUDE_CONFIG_DIR:~/.claude}/settings.json",),
            project=("./.claude/settings.json",),
            hooks=HookEntries(
                "claude-code",
                (
                    Hook("SessionStart"),
                    Hook("UserPromptSubmit"),
                    Hook("PostToolUse", "Write|Edit|MultiEdit|NotebookEdit", is_async=True),
                    Hook("PreCompact"),
                    Hook("PostCompact"),
                    Hook("Stop"),
                    Hook("SessionEnd"),
                ),
            ),
        ),
        File(
            user=("{CLAUDE_CONFIG_DIR:~}/.claude.json",),
            # Copilot and VS Code's agent host read the same file in a project.
            project=("./.mcp.json",),
            server=ServerEntry(before={"type": "stdio"}),
        ),
    )
    signs = ("{CLAUDE_CONFIG_DIR:~/.claude}",)
    programs = ("claude",)
    notes = ("Cursor, Devin and Copilot read Claude Code's hooks too; each is told once.",)
    root_variable = "CLAUDE_PROJECT_DIR"
    is_answered_after_compaction = True
    transcripts = ("~/.claude/projects", "{CLAUDE_CONFIG_DIR:~/.claude}/projects")

    def answer(self, text: str, event: str) -> dict[str, object]:
        """Return the answer that gives the host a text."""
        return claude_answer(text, event)

    def read_turn(self, line: Fields) -> Turn | None:
        """Return what a line of a transcript says; subagents speak on side chains."""
        if line.get("isSidechain") or line.get("isMeta") or line.get("isCompactSummary"):
            return None
        return make_turn(line.get("type"), read_content(line.get("message")))

    def read_summary(self, line: Fields) -> str | None:
        """Return the summary of a compaction."""
        is_summary = line.get("isCompactSummary") is True and not line.get("isSidechain")
        return read_content(line.get("message")) if is_summary else None


ASSISTANT = ClaudeCode()
