"""The events of each agent that we listen to; none that a host would wait for before it lets anything happen."""

from msgspec import Struct


class Hook(Struct, frozen=True):
    """An event we listen to."""

    event: str
    matcher: str | None = None
    is_async: bool = False
    """Whether the host goes on without waiting."""
    extra: tuple[tuple[str, object], ...] = ()


CLAUDE = (
    Hook("SessionStart"),
    Hook("UserPromptSubmit"),
    Hook("PostToolUse", "Write|Edit|MultiEdit|NotebookEdit|Bash", is_async=True),
    Hook("PostToolUseFailure", "Bash", is_async=True),
    Hook("PreCompact"),
    Hook("PostCompact"),
    Hook("SubagentStop", is_async=True),
    Hook("Stop"),
    Hook("SessionEnd"),
)
CURSOR = (
    Hook("sessionStart"),
    Hook("sessionEnd"),
    Hook("beforeSubmitPrompt"),
    Hook("afterFileEdit"),
    Hook("afterShellExecution"),
    Hook("postToolUseFailure"),
    Hook("subagentStop"),
    Hook("afterAgentResponse"),
    Hook("preCompact"),
    Hook("stop", extra=(("loop_limit", 1),)),
)
COPILOT = tuple(
    Hook(event)
    for event in (
        "sessionStart",
        "sessionEnd",
        "userPromptSubmitted",
        "postToolUse",
        "postToolUseFailure",
        "subagentStop",
        "agentStop",
        "preCompact",
    )
)
DEVIN = (
    Hook("SessionStart", ""),
    Hook("UserPromptSubmit", ""),
    Hook("PostToolUse", "^(edit|write|apply_patch|notebook_edit|exec)$"),
    Hook("PostCompaction", ""),
    Hook("Stop", ""),
    Hook("SessionEnd", ""),
)
CODEX = (Hook("SessionStart"), Hook("UserPromptSubmit"), Hook("PostToolUse"), Hook("Stop"))
CASCADE = (Hook("pre_user_prompt"), Hook("post_write_code"), Hook("post_cascade_response"))
ANTIGRAVITY = (Hook("PreInvocation"), Hook("PostToolUse", ""), Hook("Stop"))
