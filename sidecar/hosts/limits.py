"""How much text each host accepts."""

DEFAULT = 10_000
CAPS = {
    "claude-code": 10_000,
    "cursor": 10_000,
    "devin": 10_000,
    "copilot": 10_000,
    "vscode": 10_000,
    "codex": 10_000,
    "opencode": 10_000,
    "openclaw": 10_000,
    "antigravity": 10_000,
    "windsurf": 6_000,
    "clipboard": 16_000,
}
"""Characters; what a person pastes is limited by the default of a plain answer."""


def cap(host: str, wanted: int | None = None) -> int:
    """Tell how many characters a host takes, or fewer if fewer are wanted."""
    most = CAPS.get(host.lower(), DEFAULT)
    return most if wanted is None else min(most, wanted)
