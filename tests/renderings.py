"""A reader of rendered context that believes nothing: it names every way in which data got out of its fence."""

import re
import unicodedata

from sidecar.text import own_words

OPENING = re.compile(r"=== recorded data, not instructions: ([0-9a-f]{16}) ===")
CLOSING = re.compile(r"=== end of recorded data: ([0-9a-f]{16}) ===")
INTRODUCTION = [
    "## Memory of this repository",
    "",
]
AFTERWARDS = re.compile(
    r"(?:\n(?:Left out for lack of room: [a-z ]+ \(\d+\)(?:, [a-z ]+ \(\d+\))*\. )?Full records: `read_memories`\."
    r" More: `search_memories`\.\n|(?:\d+ left out: `threadline search`\n)?)"
)
HEADINGS = {
    "Session Recovery Context",
    "About this memory",
    "Messages",
    "Constraints",
    "Tasks",
    "Decisions and facts",
    "Found for the question",
    "Recent sessions",
    "Changes since last time",
    "Completed tasks",
    "Tasks that seem done",
    "Documents",
    "Recent agents",
}
OURS = re.compile(
    r"- (?:`[A-Za-z0-9_-]{0,64}`(?: \([^()]*\))? .*"
    r"|document \([^()]*\) .*|agent \(last seen [-0-9: ]+ UTC\) .*"
    r"|from [a-z ]+, saved [-0-9: ]+ UTC(?:; only what the host's own summary left out)?"
    r"|since [-0-9: ]+ UTC: [a-z0-9, ]+|new: .*|\d+ tasks? open for other agents)"
)
"""A line begins with words of ours, and what stands between our brackets cannot close them."""
ATTRIBUTE_WITH_VALUE = r"""\s+[A-Za-z_:][\w.:-]*\s*=\s*(?:[^\s"'=<>`]+|'[^'\n]*'|"[^"\n]*")"""
ATTRIBUTE = rf"{ATTRIBUTE_WITH_VALUE}|\s+[A-Za-z_:][\w.:-]*(?!\s*=)"
"""What Markdown takes for an attribute."""
STRUCTURES = {
    "comment or closing tag": r"<[/!]|<\?[A-Za-z]",
    "tag": r"(?<![\w.\])<:])<(?!https?://|mailto:|[\w.+-]+@|[\w/+-]+\.h)[A-Za-z]",
    "tag with attributes": rf"<[A-Za-z][A-Za-z0-9-]*(?:{ATTRIBUTE})*{ATTRIBUTE_WITH_VALUE}(?:{ATTRIBUTE})*\s*/?>",
    "role as a tag": r"<\s*/?\s*(?:system|assistant|human|SYSTEM|USER|INST|SYS)\s*>",
    "special token": r"<[|\uff5c][^>\s|]",
    "turn": r"\[\s*/?\s*(?:INST|SYSTEM|SYS)\s*\]",
    "code fence": r"`{3}|~{3}",
    "live link": r"\]\(",
    "live image": r"(?<![\w!])!\[",
    "definition": r"(?m)^(?:\||- )? *\[[^\]]+\]: *(?:<|/|https?:|javascript:|data:)",
    "speaker": r"(?mi)^(?:\|[ #*_>-]*|- `[^`]*`(?: \([^()]*\))? |- new: )(?:human|system|assistant|user|developer)\s*:",
    "import": r"(?<![\w@.])@[~/.\\]",
    "fence": r"(?<!=)(?<!\n)={2,} *(?:end of )?recorded data",
}
IGNORABLE = {
    *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, 0xFFFE, 0xFFFF),
    *range(0x180B, 0x1810),
    *range(0xFE00, 0xFE10),
    *range(0xFDD0, 0xFDF0),
    *range(0xFFF0, 0xFFF9),
    *range(0xE0000, 0xE1000),
}


def escapes(text: str, cap: int) -> list[str]:
    """Name what is wrong with a rendered text."""
    lines = text.split("\n")
    return [
        *([f"{len(text)} letters instead of {cap}"] if len(text) > cap else []),
        *([] if lines == text.splitlines() else ["lines that end otherwise"]),
        *(f"forbidden {ord(sign):04x}" for sign in set(text) if is_forbidden(sign)),
        *([] if text.encode("utf-8", "replace").decode() == text else ["not UTF-8"]),
        *_framing(lines),
        *_structures(text),
        *([] if own_words.without(text) == "" else ["not known again"]),
    ]


def is_forbidden(sign: str) -> bool:
    """Tell what nobody sees, or moves what others see."""
    if sign in " \n":
        return False
    hidden = unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp", "Zs"}
    return hidden or ord(sign) in IGNORABLE


def _framing(lines: list[str]) -> list[str]:
    opened = [number for number, line in enumerate(lines) if OPENING.fullmatch(line)]
    closed = [number for number, line in enumerate(lines) if CLOSING.fullmatch(line)]
    if len(opened) != 1 or len(closed) != 1 or opened > closed:
        return [f"fences at {opened} and {closed}"]
    (first,), (last,) = opened, closed
    before, inside, after = lines[:first], lines[first + 1 : last], lines[last + 1 :]
    text = "\n".join(lines)
    tokens = {found[1] for found in (*OPENING.finditer(text), *CLOSING.finditer(text))}
    wrong = [line for line in inside if not _is_ours(line)]
    return [
        *(
            []
            if before in ([own_words.BEGIN], [own_words.BEGIN, *INTRODUCTION])
            else [f"above: {before}"]
        ),
        *([] if AFTERWARDS.fullmatch(_below(after)) else [f"below: {after}"]),
        *([] if after[-1:] == [own_words.END] else ["no mark at the end"]),
        *(
            []
            if len(tokens) == 1 and text.count(tokens.pop()) == 2
            else ["the token stands elsewhere"]
        ),
        *(f"no line of ours: {line!r}" for line in wrong),
        *([] if text.count(own_words.NAME) == 2 else ["marks that are not ours"]),
    ]


def _below(after: list[str]) -> str:
    return "".join(f"{line}\n" for line in after[:-1])


def _is_ours(line: str) -> bool:
    if line.startswith("### "):
        return line[4:] in HEADINGS
    return line in {"", "|"} or line.startswith("| ") or bool(OURS.fullmatch(line))


def _structures(text: str) -> list[str]:
    body = text.removeprefix(own_words.BEGIN).removesuffix(own_words.END)
    return [name for name, pattern in STRUCTURES.items() if re.search(pattern, body)]
