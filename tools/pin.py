"""Write the pins of what runs: the lines of constraints.txt that an installation for use needs."""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parent.parent
_NEED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?")
_EXTRA = re.compile(r";.*\bextra\s*==\s*['\"]([^'\"]+)")

_Need = tuple[str, str]
"""A package, and one of its extras; an empty one for the package alone."""


def main() -> None:
    """Write them to the file that is named."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = {name for name, _ in close(read(project["dependencies"]))}
    pins = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    kept = [pin for pin in pins if normalise(pin.partition("==")[0]) in needed]
    Path(sys.argv[1]).write_text("\n".join([*kept, ""]), "utf-8")


def close(packages: Iterable[_Need]) -> set[_Need]:
    """Give these packages and all that they need, on whichever system."""
    found: set[_Need] = set()
    waiting = [*packages]
    while waiting:
        need = waiting.pop()
        if need not in found:
            found.add(need)
            waiting.extend(needs(need))
    return found


def normalise(name: str) -> str:
    """Spell a package as the index does."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def needs(need: _Need) -> Iterator[_Need]:
    """Give what a package needs by itself, on whichever system."""
    name, extra = need
    try:
        requirements = metadata.requires(name) or []
    except metadata.PackageNotFoundError:  # needed on other systems only
        return
    yield from read(line for line in requirements if _extra(line) in {"", extra})


def _extra(requirement: str) -> str:
    found = _EXTRA.search(requirement)
    return found[1] if found else ""


def read(requirements: Iterable[str]) -> Iterator[_Need]:
    """Give the packages and extras that requirements name."""
    for requirement in requirements:
        found = _NEED.match(requirement)
        if found:
            yield normalise(found[1]), ""
            yield from ((normalise(found[1]), one.strip()) for one in (found[2] or "").split(","))


if __name__ == "__main__":
    main()
