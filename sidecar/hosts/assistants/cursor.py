"""Cursor: the editor and its command line."""

from sidecar.hosts.assistant import (
    Assistant,
    Fields,
    File,
    Hook,
    HookEntries,
    RulesFile,
    ServerEntry,
    Turn,
    claude_answer,
    make_turn,
    read_content,
)


class Cursor(Assistant):
    """An editor made from VS Code, with an assistant of its own."""

    name = "cursor"
    label = "Cursor"
    client_names = ("cursor",)
    is_editor = True
    files = (
        File(
            user=("~/.cursor/hooks.json",),
            project=("./.cursor/hooks.json",),
            members={"version": 1},
            hooks=HookEntries(
                "cursor",
                (
                    Hook("sessionStart"),
                    Hook("sessionEnd"),
                    Hook("beforeSubmitPrompt"),
                    Hook("afterFileEdit"),
                    Hook("subagentStop"),
                    Hook("afterAgentResponse"),
                    Hook("preCompact"),
                ),
                on_windows="powershell",
                style="flat",
            ),
        ),
        File(user=("~/.cursor/mcp.json",), project=("./.cursor/mcp.json",), server=ServerEntry()),
    )
    signs = ("~/.cursor",)
    programs = ("cursor", "cursor-agent")
    rules = RulesFile(
        ".cursor/rules/threadline.mdc",
        10_000,
        "description: What Threadline remembers about this repository\nalwaysApply: true",
    )
    events = {
        **Assistant.events,
        "beforeSubmitPrompt": "prompt",
        "afterFileEdit": "tool",
        "subagentStop": "tool",
        "afterAgentResponse": "turn.end",
    }
    edit_events = ("afterFileEdit", "subagentStop")
    root_variable = "CURSOR_PROJECT_DIR"
    plain_answers = {
        "beforeSubmitPrompt": b'{"continue": true}',
        "workspaceOpen": b'{"pluginPaths": []}',
    }
    transcripts = ("~/.cursor",)

    def answer(self, text: str, event: str) -> dict[str, object]:
        """Return the answer that gives the host a text.

        Hooks in the form of Claude Code are run by Cursor too, and their answers are read in that form.
        """
        go_on = {"continue": True} if event == "beforeSubmitPrompt" else {}
        borrowed = claude_answer(text, event) if event[:1].isupper() else {}
        return {**go_on, "additional_context": text, **borrowed}

    def read_turn(self, line: Fields) -> Turn | None:
        """Return what a line of a transcript says; a prompt stands between tags, among what the editor adds."""
        said = read_content(line.get("message"))
        _, tag, query = (said or "").partition("<user_query>")
        return make_turn(line.get("role"), query.partition("</user_query>")[0] if tag else said)


ASSISTANT = Cursor()
