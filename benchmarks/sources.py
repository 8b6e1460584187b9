"""Invented source files in three languages, each function in two layouts."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec


class Function(msgspec.Struct, frozen=True):
    """A function that caps a number; the number is its meaning."""

    name: str
    number: int
    is_spread: bool = False
    """Laid out over more lines, with a comment."""


@dataclass(frozen=True, slots=True)
class Language:
    """How a file and a function look."""

    ending: str
    heading: str
    tight: str
    spread: str

    def write(self, functions: Sequence[Function]) -> str:
        """Write a file."""
        return "\n\n".join([self.heading, *map(self._write, functions)]) + "\n"

    def _write(self, function: Function) -> str:
        template = self.spread if function.is_spread else self.tight
        return template.replace("NAME", function.name).replace("NUMBER", str(function.number))


PYTHON = Language(
    "py",
    '"""A module."""\n\nimport os',
    "def NAME(value: int, step: int = NUMBER) -> int:\n    total = value * step\n    if total > NUMBER:\n        total = os.getpid() - NUMBER\n    return min(total, NUMBER)\n",
    "# NAME is laid out anew.\ndef NAME(\n    value: int,\n    step: int = NUMBER,\n) -> int:\n    total = (value * step)\n    # Not too much.\n    if total > NUMBER:\n\n        total = os.getpid() - NUMBER\n    return min(\n        total,\n        NUMBER,\n    )\n",
)
TYPESCRIPT = Language(
    "ts",
    'import { pid } from "process";',
    "export function NAME(value: number, step = NUMBER): number {\n  let total = value * step;\n  if (total > NUMBER) {\n    total = pid - NUMBER;\n  }\n  return Math.min(total, NUMBER);\n}\n",
    "/** NAME is laid out anew. */\nexport function NAME(\n    value: number,\n    step = NUMBER,\n): number\n{\n    let total = value * step\n    // Not too much.\n    if (total > NUMBER) { total = pid - NUMBER }\n    return Math.min(\n        total,\n        NUMBER,\n    )\n}\n",
)
GO = Language(
    "go",
    'package part\n\nimport "os"',
    "func NAME(value int, step int) int {\n\ttotal := value * step * NUMBER\n\tif total > NUMBER {\n\t\ttotal = os.Getpid() - NUMBER\n\t}\n\treturn min(total, NUMBER)\n}\n",
    "// NAME is laid out anew.\nfunc NAME(\n\tvalue int,\n\tstep int,\n) int {\n\ttotal := value * step * NUMBER\n\n\t// Not too much.\n\tif total > NUMBER {\n\t\ttotal = os.Getpid() - NUMBER\n\t}\n\treturn min(\n\t\ttotal,\n\t\tNUMBER,\n\t)\n}\n",
)
LANGUAGES = (PYTHON, TYPESCRIPT, GO)
