"""What Threadline has to know about an assistant; each file in `assistants/` describes one.

A capturing hook loads this module and the file of its own host, so both import nothing that Python itself has not
loaded: no `re`, no `typing`, no msgspec. What is needed only by `threadline connect` is plain data here and is turned
into file contents by `contents.py`.
"""

import os
import sys
from _collections_abc import Iterable, Mapping

SIGN = "Written by `threadline connect`"
"""Stands in every file that is ours as a whole."""
UNKNOWN = "unknown"
LIMIT = 10_000
"""Characters that a host accepts unless its file says otherwise."""

Fields = Mapping[str, object]
Places = tuple[str, ...]
"""Paths as `locations.resolve` reads them; the first that exists is used, otherwise the last."""
Turn = tuple[str, str]
"""A speaker (`user` or `assistant`) and the text."""


class Hook:
    """An event that Threadline subscribes to; `matcher` limits it to some tools."""

    def __init__(self, event: str, matcher: str | None = None, *, is_async: bool = False) -> None:
        self.event, self.matcher, self.is_async = event, matcher, is_async


class HookEntries:
    """Our hooks in a configuration file.

    `on_windows` is the shell that runs the commands there. `style` is the shape of an entry: `grouped` (Claude Code's), `flat`
    (Cursor's), `shells` (Copilot's), `cascade` (Windsurf's) or `named` (all events under our name).
    """

    def __init__(
        self,
        agent: str,
        events: tuple[Hook, ...],
        *,
        on_windows: str = "bash",
        style: str = "grouped",
        path: Places = ("hooks",),
    ) -> None:
        self.agent, self.events, self.path = agent, events, path
        self.on_windows, self.style = on_windows, style


class ServerEntry:
    """Our MCP server in a configuration file, below `path`.

    `host` names the assistant to our server where it cannot be known by what it calls itself. That must not be done in
    a file that others read too: those of Claude Code, Cursor and Cascade are imported by many.
    """

    def __init__(
        self,
        *path: str,
        before: Mapping[str, object] | None = None,
        after: Mapping[str, object] | None = None,
        host: str = "",
        is_one_list: bool = False,
    ) -> None:
        self.path, self.host, self.is_one_list = path or ("mcpServers",), host, is_one_list
        self.before, self.after = before or {}, after or {}


class File:
    """A file that `threadline connect` changes or creates.

    It holds hooks, a server, a plugin's settings and members that the host requires, or is made from a `template`
    beside the assistant's file. `is_rules` marks the assistant's rules file.
    """

    def __init__(  # noqa: PLR0913  # the columns of a table
        self,
        *,
        user: Places = (),
        project: Places = (),
        hooks: HookEntries | None = None,
        server: ServerEntry | None = None,
        plugin: Mapping[Places, dict[str, object]] | None = None,
        members: Mapping[str, object] | None = None,
        template: str = "",
        is_rules: bool = False,
        syntax: str = "json",
    ) -> None:
        self.user, self.project, self.syntax = user, project, syntax
        self.hooks, self.server, self.plugin = hooks, server, plugin or {}
        self.members, self.template, self.is_rules = members or {}, template, is_rules


class RulesFile:
    """A file in a project that the assistant loads by itself.

    `is_living` says that the assistant can be told nothing otherwise, so that hooks renew the file.
    """

    def __init__(self, path: str, limit: int, front: str, *, is_living: bool = False) -> None:
        self.path, self.limit, self.front, self.is_living = path, limit, front, is_living


class Assistant:
    """The facts about one assistant, and what most assistants have in common."""

    name = UNKNOWN
    label = "Unknown"
    """Its name for people."""
    title = ""
    """How `connect` calls it, where that differs from the label."""
    client_names: Places = ()
    """Parts of what the program calls itself as a client of MCP or LSP, in lower case."""
    spellings: Places = ()
    """Other names that agents sign with."""
    is_editor = False
    """Whether it is VS Code or made from it."""
    limit = LIMIT
    files: tuple[File, ...] = ()
    signs: Places = ()
    """Folders and files that exist where it is installed."""
    programs: Places = ()
    notes: Places = ()
    """What users should know after connecting it."""
    rules: RulesFile | None = None

    events: Mapping[str, str] = {
        "SessionStart": "session.start",
        "UserPromptSubmit": "prompt",
        "userPromptSubmitted": "prompt",
        "PostToolUse": "tool",
        "PreCompact": "compact.before",
        "PostCompact": "compact.after",
        "PostCompaction": "compact.after",
        "Stop": "turn.end",
        "agentStop": "turn.end",
        "SessionEnd": "session.end",
    }
    """What its events mean to us; case and punctuation do not matter. Claude Code's names are used by many."""
    edit_events: Places = ()
    """Events that name edited files at the top of the message."""
    session_fields: Places = (
        *("conversation_id", "conversationId", "trajectory_id", "sessionID", "sessionId"),
        "session_id",
    )
    """Fields of a message that may hold the conversation's id, best first."""
    nested_fields: Places = ("tool_info", "input", "event", "ctx", "info", "toolCall")
    """Parts of a message that hold further fields."""
    root_variable = ""
    """Environment variable with the folder the host works in."""
    answered_events: Places = ("session.start", "prompt")
    """Events in whose answer the host accepts text."""
    is_answered_after_compaction = False
    """Whether one of them follows a compaction, so that nothing has to wait for the next prompt."""
    forgotten_events: Places = ()
    """Events whose answers are lost when the host resumes a conversation."""
    is_read_from_transcript = False
    """Whether its turns end without a response, which then stands in the transcript."""
    plain_answers: Mapping[str, bytes] = {}
    """What it expects when there is nothing to say; otherwise nothing is written."""

    transcripts: Places = ()
    """Folders of its conversations as JSON Lines; empty where it has none that we may read."""

    def answer(self, text: str, event: str) -> dict[str, object]:
        """Return the answer that gives the host a text."""
        del event
        return {"additionalContext": text}

    def session_key(self, fields: Fields) -> str:
        """Return the conversation's id, or nothing."""
        return first_text(fields, self.session_fields, 10_000)

    def read_turn(self, line: Fields) -> Turn | None:
        """Return what a line of a transcript says, or None."""
        del line
        return None

    def read_summary(self, line: Fields) -> str | None:
        """Return the summary of a compaction that a line of a transcript holds, or None."""
        del line
        return None


def find(name: str) -> Assistant:
    """Return the assistant of this name, or one without a file of its own that is called `unknown`."""
    module = f"{__package__}.assistants.{name.replace('-', '_')}"
    if module not in sys.modules:
        if not name.replace("-", "_").isidentifier():
            return Assistant()
        try:
            __import__(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            return Assistant()
    found = getattr(sys.modules[module], "ASSISTANT", None)
    return found if isinstance(found, Assistant) else Assistant()


def names() -> list[str]:
    """Return the names of all assistants, in the order of the alphabet."""
    from sidecar.hosts import assistants  # noqa: PLC0415  # a capturing hook does without the list

    files = [file for folder in assistants.__path__ for file in os.listdir(folder)]
    modules = [file.removesuffix(".py") for file in files if file.endswith(".py")]
    return sorted(module.replace("_", "-") for module in modules if not module.startswith("_"))


def find_all() -> list[Assistant]:
    """Return all assistants, in the order of their names."""
    return [find(name) for name in names()]


def cap(host: str, wanted: int | None = None) -> int:
    """Return how many characters a host accepts, or fewer if fewer are wanted.

    What a person pastes (`clipboard`) is limited by the default of a plain answer.
    """
    most = 16_000 if host.lower() == "clipboard" else find(host.lower()).limit
    return most if wanted is None else min(most, wanted)


def claude_answer(text: str, event: str) -> dict[str, object]:
    """Return an answer in the form of Claude Code, which several hosts have adopted."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def first_text(fields: Fields, names: Iterable[str], most: int | None = 1000) -> str:
    """Return the first of some fields that is a text, shortened and without lone surrogates."""
    for name in names:
        text = fields.get(name)
        if text and isinstance(text, str):
            return replace_surrogates(text if most is None else text[:most])
    return ""


def replace_surrogates(text: str) -> str:
    """Return a text that can be encoded."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def read_content(message: object) -> str | None:
    """Return the text of a transcript's message: its content, or those of its blocks that are text."""
    if not isinstance(message, dict):
        return None
    content = message.get("content")
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    blocks = [block for block in content if isinstance(block, dict) and block.get("type") == "text"]
    return "\n".join(filter(None, (first_text(block, ("text",), None) for block in blocks))) or None


def make_turn(speaker: object, text: str | None) -> Turn | None:
    """Return a turn, or None where nothing was said or neither the user nor the assistant said it."""
    return (str(speaker), text) if text and speaker in ("user", "assistant") else None
