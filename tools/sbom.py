"""The bill of materials that the wheel carries (PEP 770): what it bundles and what it runs with, as CycloneDX.

It is made from constraints.txt, so that building needs nothing more and the same commit gives the same bytes.
"""

import json
import tomllib
from pathlib import Path

from tools import pin

ROOT = Path(__file__).resolve().parent.parent
FILE = "threadline.cdx.json"
_BUNDLED = ("preact",)
"""Packages of npm that are part of the pages in the wheel."""

Data = dict[str, object]


def write(version: str) -> str:
    """Return the bill of materials of this version as JSON."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pins = _pins()
    direct = {name for name, _ in pin.read(project["dependencies"])}
    needed = {name for name, _ in pin.close(pin.read(project["dependencies"]))} & pins.keys()
    packages = {name: _reference("pypi", name, pins[name]) for name in sorted(needed)}
    bundled = [_reference("npm", name, release) for name, release in _bundled().items()]
    own = _reference("pypi", "threadline", version)
    graph = [{"ref": own, "dependsOn": sorted([packages[name] for name in direct] + bundled)}]
    graph += [
        {"ref": reference, "dependsOn": _needs(name, packages)}
        for name, reference in packages.items()
    ]
    document: Data = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                **_component(own, "application"),
                "licenses": [{"license": {"id": "MIT"}}],
            }
        },
        "components": [_component(reference) for reference in [*packages.values(), *bundled]],
        "dependencies": graph + [{"ref": reference, "dependsOn": []} for reference in bundled],
    }
    return json.dumps(document, indent=2) + "\n"


def _pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").split()
    pairs = (line.partition("==") for line in lines)
    return {pin.normalise(name): version for name, _, version in pairs}


def _bundled() -> dict[str, str]:
    manifest = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text("utf-8"))
    return {name: manifest["devDependencies"][name] for name in _BUNDLED}


def _needs(name: str, packages: dict[str, str]) -> list[str]:
    return sorted(
        {packages[need] for need, _ in pin.needs((name, "")) if need in packages and need != name}
    )


def _reference(kind: str, name: str, version: str) -> str:
    return f"pkg:{kind}/{name}@{version}"


def _component(reference: str, kind: str = "library") -> Data:
    name, _, version = reference.partition("/")[2].partition("@")
    return {
        "type": kind,
        "bom-ref": reference,
        "name": name,
        "version": version,
        "purl": reference,
    }
