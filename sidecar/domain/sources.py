"""Sources: who saw an event."""

_EDITORS = {
    "cursor": "cursor",
    "windsurf": "windsurf",
    "devin": "devin",
    "antigravity": "antigravity",
    "kiro": "kiro",
    "visual studio code": "vscode",
    "vscode": "vscode",
    "vscodium": "vscode",
    "code-server": "vscode",
    "code - oss": "vscode",
    "neovim": "neovim",
}
"""What editors call themselves, forks before what they are forks of."""


def editor(name: str) -> str:
    """Name the source of an editor's events, by the editor's name for itself; `lsp` for any other."""
    lowered = name.lower()
    return next((source for part, source in _EDITORS.items() if part in lowered), "lsp")


def is_vscode(source: str) -> bool:
    """Tell whether a source is VS Code or made from it."""
    return source in _EDITORS.values() and source != "neovim"


_PROGRAMS = {
    "claude": "claude-code",
    "copilot": "copilot",
    "opencode": "opencode",
    "openclaw": "openclaw",
    "codex": "codex",
    "gemini": "gemini-cli",
    **_EDITORS,
}
"""What programs call themselves as clients of tools."""


def program(name: str) -> str:
    """Name the program that an agent runs in, by what it calls itself; `mcp` where it says nothing."""
    lowered = " ".join(name.lower().split())
    known = (source for part, source in _PROGRAMS.items() if part in lowered)
    return next(known, lowered[:200] or "mcp")
