"""Windsurf and its assistant, Cascade."""

from sidecar.hosts.assistant import Assistant, File, Hook, HookEntries, RulesFile, ServerEntry

_RULES = ".windsurf/rules/threadline.md"
_NOTE = (
    "Cascade takes no text from hooks. In a project (--project) what it should know is kept in "
    f"{_RULES}, renewed as conversations begin; let git ignore that file if nobody else should read it."
)


class Windsurf(Assistant):
    """An editor made from VS Code; its assistant accepts no text from hooks and reads a rules file instead."""

    name = "windsurf"
    label = "Windsurf"
    title = "Windsurf (Cascade)"
    client_names = ("windsurf",)
    spellings = ("cascade",)
    is_editor = True
    limit = 6_000
    files = (
        File(
            user=("~/.codeium/windsurf/hooks.json",),
            project=("./.windsurf/hooks.json",),
            hooks=HookEntries(
                "windsurf",
                (
                    Hook("pre_user_prompt"),
                    Hook("post_write_code"),
                    Hook("post_cascade_response"),
                ),
                style="cascade",
            ),
        ),
        File(user=("~/.codeium/windsurf/mcp_config.json",), server=ServerEntry()),
        File(project=(f"./{_RULES}",), is_rules=True),
    )
    signs = ("~/.codeium/windsurf",)
    programs = ("windsurf",)
    notes = (_NOTE,)
    rules = RulesFile(_RULES, limit, "trigger: always_on", is_living=True)
    events = {
        "pre_user_prompt": "prompt",
        "post_write_code": "tool",
        "post_cascade_response": "turn.end",
        "post_cascade_response_with_transcript": "turn.end",
    }
    edit_events = ("post_write_code",)
    answered_events = ()


ASSISTANT = Windsurf()
