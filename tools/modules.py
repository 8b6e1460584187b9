"""Write `docs/modules.md`: every module with its first docstring line, and how large the code is.

`python tools/modules.py` writes the file; a test regenerates it and compares.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "modules.md"
PACKAGES = ("sidecar", "protocol")


def page() -> str:
    """Return the whole page."""
    lines = ["# Modules", "", "Written by `tools/modules.py` from the modules' docstrings.", ""]
    for package in PACKAGES:
        modules = sorted(
            path for path in (ROOT / package).rglob("*.py") if path.name != "__init__.py"
        )
        lines += [f"`{package}/` has {len(modules)} modules.", ""]
        for folder in sorted({path.parent for path in modules}):
            lines += [f"## {folder.relative_to(ROOT).as_posix()}", ""]
            lines += [
                f"- `{path.name}`: {summary(path)}" for path in modules if path.parent == folder
            ]
            lines.append("")
    return "\n".join(lines)


def summary(path: Path) -> str:
    """Return the first line of a module's docstring."""
    doc = ast.get_docstring(ast.parse(path.read_text())) or ""
    return doc.partition("\n")[0]


def size() -> tuple[int, int]:
    """Return the modules and lines of the product."""
    texts = [path.read_text() for path in (ROOT / "sidecar").rglob("*.py")]
    return sum(bool(text) for text in texts), sum(len(text.splitlines()) for text in texts)


if __name__ == "__main__":
    PAGE.write_text(page() + "\n")
    modules, lines = size()
    print(f"sidecar/: {modules} modules, {lines} lines")  # for whoever runs it
