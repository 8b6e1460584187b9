"""Ask an agent now and then to write down what it has learned; standard library only, for hooks."""

from sidecar.storage import spool
from sidecar.transports.hooks import notation

SETTING, USUAL = "rememberAfterTurns", 12
AT_STOP = "rememberAtStop"
ROOM = 9_000
"""Characters of a context beyond which nothing is added: hosts cut what is longer than 10,000."""
_STOPPED = {"claude-code", "codex", "devin"}
"""Hosts whose agent goes on when the hook at its stop says why."""
_SETTINGS_MOST = 256 * 1024


def at_prompt(home: str, talk: str) -> str:
    """Count a prompt; return the line that asks for a checkpoint once enough were counted, and count anew."""
    wanted = _turns(home)
    count = spool.count_turn(home, talk)
    if not wanted or count < wanted:
        return ""
    spool.forget_turns(home, talk)
    return _line(f"{count} prompts since this was last asked")


def after_cut(home: str, text: str) -> str:
    """Add the same line to what a conversation is told after a compaction."""
    if not text or len(text) > ROOM or not _turns(home):
        return text
    return f"{text}\n{_line('The context was just compacted')}\n"


def at_stop(home: str, talk: str, host: str, message: "dict[str, object]") -> bytes:
    """Return what makes an agent go on and write before it stops: once for a conversation, where its user chose so."""
    if (
        host not in _STOPPED
        or message.get("stop_hook_active")
        or _settings(home).get(AT_STOP) is not True
    ):
        return b""
    if not spool.claim_once(home, talk, "stopped"):
        return b""
    return notation.encode({"decision": "block", "reason": _line("The user wants this asked once")})


def _line(why: str) -> str:
    return (
        f"Threadline: {why}. The tool `context_checkpoint` keeps at most five items for later conversations"
        " (decisions with their reason, constraints, corrections, what is left to do); nothing to keep is fine."
    )


def _turns(home: str) -> int:
    chosen = _settings(home).get(SETTING, USUAL)
    return chosen if isinstance(chosen, int) and chosen >= 0 else USUAL


def _settings(home: str) -> "dict[str, object]":
    """Read the user's own settings; none where they cannot be read."""
    try:
        with open(f"{home}/settings.json", "rb") as file:
            found = notation.decode(file.read(_SETTINGS_MOST).decode())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
