"""The events of each agent that we listen to: those that tell us something, for each starts a process.

None is among them that a host would wait for before it lets anything happen.
"""

from msgspec import Struct


class Hook(Struct, frozen=True):
    """An event we listen to."""

    event: str
    matcher: str | None = None
    is_async: bool = False
    """Whether the host goes on without waiting."""


CLAUDE = (
    Hook("SessionStart"),
    Hook("UserPromptSubmit"),
    Hook("PostToolUse", "Write|Edit|MultiEdit|NotebookEdit", is_async=True),
    Hook("PreCompact"),
    Hook("PostCompact"),
    Hook("Stop"),
    Hook("SessionEnd"),
)
CURSOR = (
    Hook("sessionStart"),
    Hook("sessionEnd"),
    Hook("beforeSubmitPrompt"),
    Hook("afterFileEdit"),
    Hook("subagentStop"),
    Hook("afterAgentResponse"),
    Hook("preCompact"),
)
COPILOT = tuple(
    Hook(event)
    for event in (
        "sessionStart",
        "sessionEnd",
        "userPromptSubmitted",
        "postToolUse",
        "agentStop",
        "preCompact",
    )
)
DEVIN = (
    Hook("SessionStart", ""),
    Hook("UserPromptSubmit", ""),
    Hook("PostToolUse", "^(edit|write|apply_patch|notebook_edit)$"),
    Hook("PostCompaction", ""),
    Hook("Stop", ""),
    Hook("SessionEnd", ""),
)
CODEX = (
    Hook("SessionStart"),
    Hook("UserPromptSubmit"),
    Hook("PostToolUse", "apply_patch|Edit|Write"),
    Hook("Stop"),
)
CASCADE = (Hook("pre_user_prompt"), Hook("post_write_code"), Hook("post_cascade_response"))
ANTIGRAVITY = (Hook("PreInvocation"), Hook("PostToolUse", ""))
