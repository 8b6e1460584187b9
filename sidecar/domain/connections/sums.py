"""Sums: what we have written, by which we know whether somebody else has changed it."""

import hashlib

LENGTH = 16
"""Letters of a sum."""


def add_up(text: str) -> str:
    """Give a text's sum; how its lines end does not matter, nor do empty ones behind the last."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").rstrip("\n")
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()[:LENGTH]
