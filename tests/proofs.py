"""Which tests say that they prove a promise: their docstring begins with its id.

`A3, A4.` claims whole promises; what follows `Part of` is claimed in part and proves nothing yet.
What is seen in a real editor or browser is claimed where its steps are listed, in `editor/`.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parent
_STEPS = re.compile(
    r"/\*\* (?P<words>(?:(?!\*/).)*)\*/\n(?:export )?const (?P<name>\w+) =", re.DOTALL
)
_CLAIM = re.compile(r"(?P<whole>[A-K]\d+(?:, [A-K]\d+)*)[.:]")


def claims() -> dict[str, set[str]]:
    """Collect the tests that claim each promise, as pytest names them below tests/."""
    found: dict[str, set[str]] = {}
    for name, docstring in (*_docstrings(), *_comments()):
        claim = _CLAIM.match(docstring)
        for promise in re.findall(r"[A-K]\d+", claim["whole"]) if claim else ():
            found.setdefault(promise, set()).add(name)
    return found


def _docstrings() -> Iterator[tuple[str, str]]:
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith(
                "test_"
            ):
                yield f"{path.relative_to(TESTS)}::{node.name}", ast.get_docstring(node) or ""


def _comments() -> Iterator[tuple[str, str]]:
    for path in sorted((*TESTS.glob("editor/*.mjs"), *TESTS.glob("editor/dashboard/*.mjs"))):
        for found in _STEPS.finditer(path.read_text()):
            yield f"{path.relative_to(TESTS)}::{found['name']}", found["words"]
