"""Codex."""

from sidecar.hosts.assistant import (
    Assistant,
    Fields,
    File,
    Hook,
    HookEntries,
    ServerEntry,
    Turn,
    claude_answer,
    first_text,
    make_turn,
)


class Codex(Assistant):
    """OpenAI's assistant in a terminal."""

    name = "codex"
    label = "Codex"
    client_names = ("codex",)
    spellings = ("codex-cli",)
    files = (
        File(
            user=("{CODEX_HOME:~/.codex}/hooks.json",),
            project=("./.codex/hooks.json",),
            hooks=HookEntries(
                "codex",
                (
                    Hook("SessionStart"),
                    Hook("UserPromptSubmit"),
                    Hook("PostToolUse", "apply_patch|Edit|Write"),
                    Hook("Stop"),
                ),
                on_windows="cmd",
            ),
        ),
        File(
            user=("{CODEX_HOME:~/.codex}/config.toml",),
            project=("./.codex/config.toml",),
            server=ServerEntry("mcp_servers"),
            syntax="toml",
        ),
    )
    signs = ("{CODEX_HOME:~/.codex}",)
    programs = ("codex",)
    notes = ("Codex runs a hook only after you have trusted it: /hooks shows them.",)
    plain_answers = {"Stop": b"{}"}
    transcripts = ("~/.codex/sessions",)

    def answer(self, text: str, event: str) -> dict[str, object]:
        """Return the answer that gives the host a text."""
        return claude_answer(text, event)

    def read_turn(self, line: Fields) -> Turn | None:
        """Return what a line of a transcript says."""
        payload = line.get("payload")
        if line.get("type") != "event_msg" or not isinstance(payload, dict):
            return None
        speakers = {"user_message": "user", "agent_message": "assistant"}
        speaker = speakers.get(str(payload.get("type")))
        return make_turn(speaker, first_text(payload, ("message",), None))

    def read_summary(self, line: Fields) -> str | None:
        """Return the summary of a compaction."""
        payload = line.get("payload")
        if line.get("type") != "compacted" or not isinstance(payload, dict):
            return None
        return first_text(payload, ("message",), None)


ASSISTANT = Codex()
