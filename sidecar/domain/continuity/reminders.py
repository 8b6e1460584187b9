"""Reminders: an agent that works for long is asked to save what it knows."""

_AT = {
    10: "You have used this memory ten times since the last checkpoint. If something was decided, call "
    "context_checkpoint.",
    25: "25 calls since the last checkpoint. Save decisions, constraints and a short summary with "
    "context_checkpoint before your context is cut.",
    50: "50 calls since the last checkpoint: whatever is not saved is lost when your context is cut. Call "
    "context_checkpoint now.",
}


def remind(calls: int) -> str | None:
    """Give what to say after so many calls without a checkpoint; mostly nothing."""
    return _AT.get(calls)
