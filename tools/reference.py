"""Write `docs/reference/`: the commands, settings and methods, from the code that defines them.

`python -m tools.reference` writes the pages; a test compares them.
"""

import argparse
import ast
import inspect
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from protocol.methods import METHODS
from protocol.settings import TRUST, Settings
from sidecar.transports.cli import parser

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"


def pages() -> dict[str, str]:
    """Return each page by its file name."""
    return {
        "commands.md": "\n".join(commands()),
        "settings.md": "\n".join(settings()),
        "methods.md": "\n".join(methods()),
    }


def commands() -> Iterator[str]:
    """Describe every command and its options."""
    yield from (
        "# Commands",
        "",
        "All commands work on the project of the folder you are in; `--project PATH` names another, `--json` prints JSON.",
        "",
    )
    for name, command in parser.table(parser.build()).items():
        yield from (f"## {name}", "", (command.description or "").strip().partition("\n\n")[0], "")
        rows = [*_options(command)]
        if rows:
            yield from ("| | |", "|---|---|", *rows, "")


def _options(command: argparse.ArgumentParser) -> Iterator[str]:
    for action in command._actions:  # noqa: SLF001  # argparse has no other way to list them
        if action.dest in {"help", "json", "project"} or action.help == argparse.SUPPRESS:
            continue
        name = ", ".join(action.option_strings) or str(action.metavar or action.dest)
        text = action.help or ""
        if action.choices and not action.metavar:
            text += f" ({', '.join(map(str, action.choices))})"
        yield f"| `{name}` | {_cell(text.strip())} |"


def settings() -> Iterator[str]:
    """Describe every setting."""
    yield from (
        "# Settings",
        "",
        "`threadline.*` in your editor, or the same names in `settings.json` in `THREADLINE_HOME`. Who may choose a setting",
        "depends on what it can do: a *project* setting may come from anywhere; a *user* or *machine* setting only from",
        "`settings.json` or from your own user settings in VS Code. Turning something off is always accepted.",
        "",
        "| setting | default | who | |",
        "|---|---|---|---|",
    )
    found: dict[str, Any] = msgspec.json.schema(Settings)["$defs"]["Settings"]["properties"]
    texts = _docstrings()
    for (name, schema), field in zip(found.items(), msgspec.structs.fields(Settings), strict=True):
        default = msgspec.json.encode(schema.get("default")).decode()
        yield f"| `{name}` | `{default}` | {schema[TRUST]} | {_cell(texts[field.name])} |"
    yield ""


def _docstrings() -> dict[str, str]:
    """Return what stands below each setting in the source."""
    body: list[Any] = ast.parse(inspect.getsource(Settings)).body[0].body  # type: ignore[attr-defined]
    pairs = [pair for pair in itertools.pairwise(body) if isinstance(pair[0], ast.AnnAssign)]
    return {ast.unparse(field.target): ast.literal_eval(text.value) for field, text in pairs}


def methods() -> Iterator[str]:
    """Describe every method."""
    yield from (
        "# Methods",
        "",
        "The same methods over LSP, `threadline call`, the dashboard and MCP. `protocol/schema.json` (OpenRPC) has their",
        "parameters and results.",
        "",
        "| method | |",
        "|---|---|",
    )
    for method in METHODS:
        yield f"| `{method.name}` | {_cell(method.doc)} |"
    yield ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> None:
    """Write the pages."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
