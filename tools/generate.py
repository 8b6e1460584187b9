"""Write protocol/schema.json (OpenRPC), the TypeScript types, every manifest and the bill of materials.

python tools/generate.py            write them all
python tools/generate.py --check    fail if one of them is not what the protocol says
"""

import ast
import importlib
import inspect
import itertools
import json
import pkgutil
import re
import sys
from pathlib import Path
from typing import Any

import msgspec

import protocol
from protocol.answers import Failure
from protocol.errors import Code
from protocol.methods import METHODS, NOTIFICATIONS, QUESTIONS
from protocol.settings import Settings
from protocol.versions import VERSION
from sidecar.hosts import assistant
from tools import manifests, sbom

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "protocol" / "schema.json"
EXTENSION = ROOT / "editors" / "vscode" / "package.json"
LABELS = ROOT / "editors" / "vscode" / "shared" / "hosts.generated.ts"
TYPESCRIPT = ROOT / "editors" / "vscode" / "shared" / "protocol.generated.ts"
REFERENCE = "#/components/schemas/"

Schema = dict[str, Any]


def main() -> int:
    """Write the files, or check them; the exit code says whether they were fresh."""
    schema = openrpc()
    files = {SCHEMA: json.dumps(schema, indent=2) + "\n", TYPESCRIPT: typescript(schema)}
    files[LABELS] = labels()
    files |= {ROOT / name: text for name, text in manifests.write(VERSION).items()}
    files |= {ROOT / sbom.FILE: sbom.write(VERSION), EXTENSION: extension(VERSION)}
    stale = [path for path, text in files.items() if _read(path) != text]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is stale; run `make generate`", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[path], "utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


def _read(path: Path) -> str | None:
    return path.read_text("utf-8") if path.exists() else None


def extension(version: str) -> str:
    """Return the extension's manifest with our version."""
    text = EXTENSION.read_text("utf-8")
    return re.sub(
        r'^  "version": ".*",$', f'  "version": "{version}",', text, count=1, flags=re.MULTILINE
    )


def openrpc() -> Schema:
    """Describe every method, record and error code."""
    types = [kind for one in (*METHODS, *QUESTIONS) for kind in (one.params, one.result)]
    types += [notification.params for notification in NOTIFICATIONS]
    _, components = msgspec.json.schema_components(
        [*types, Settings, Failure], ref_template=REFERENCE + "{name}"
    )
    if doubled := [name for name in components if "." in name]:
        # msgspec then puts the module before the name, which is no name in TypeScript.
        raise NameError(f"two records have the same name: {', '.join(doubled)}; rename one")
    for name, documentation in field_docs().items():
        for field, sentence in documentation.items():
            components.get(name, {}).get("properties", {}).get(field, {})["description"] = sentence
    return {
        "openrpc": "1.3.2",
        "info": {"title": "Threadline", "version": VERSION},
        "methods": [
            {
                "name": method.name,
                "summary": method.doc,
                "paramStructure": "by-name",
                "params": _params(components[method.params.__name__]),
                "result": {"name": "result", "schema": _reference(method.result)},
                "x-params": _reference(method.params),
                "x-long": method.is_long,
            }
            for method in METHODS
        ],
        "x-notifications": [
            {
                "name": notification.name,
                "summary": notification.doc,
                "x-params": _reference(notification.params),
            }
            for notification in NOTIFICATIONS
        ],
        "x-questions": [
            {
                "name": question.name,
                "summary": question.doc,
                "x-params": _reference(question.params),
                "result": {"name": "result", "schema": _reference(question.result)},
            }
            for question in QUESTIONS
        ],
        "components": {
            "schemas": components,
            "errors": {code.name: {"code": code.value, "message": code.name} for code in Code},
        },
    }


def field_docs() -> dict[str, dict[str, str]]:
    """Collect the sentence under each field of each record, inherited ones too, as named on the wire."""
    own: dict[str, dict[str, str]] = {}
    records: list[type] = []
    for found in pkgutil.iter_modules(protocol.__path__, "protocol."):
        module = importlib.import_module(found.name)
        records += [kind for _, kind in inspect.getmembers(module, inspect.isclass)]
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.ClassDef):
                own[node.name] = _documented(node.body)
    return {
        record.__name__: {
            field: sentence
            for base in reversed(record.__mro__)
            for field, sentence in own.get(base.__name__, {}).items()
        }
        for record in records
    }


def _documented(body: list[ast.stmt]) -> dict[str, str]:
    sentences: dict[str, str] = {}
    for field, below in itertools.pairwise(body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                value=ast.Constant(value=str(text))
            ):
                sentences[_camel(name)] = text
    return sentences


def _params(schema: Schema) -> list[Schema]:
    required = schema.get("required", [])
    return [
        {"name": name, "required": name in required, "schema": value}
        for name, value in schema["properties"].items()
    ]


def _reference(kind: type) -> Schema:
    return {"$ref": REFERENCE + kind.__name__}


def typescript(schema: Schema) -> str:
    """Write the same as TypeScript: an interface each, a map of methods, the error codes."""
    parts = ["// Generated by tools/generate.py from protocol/; do not edit."]
    for name, component in sorted(schema["components"]["schemas"].items()):
        parts.append(_comment(component.get("description"), "") + _interface(name, component))
    parts.append(_requests("Methods", schema["methods"]))
    parts.append(_requests("Questions", schema["x-questions"]))
    rows = [
        f"  /** {notification['summary']} */\n"
        f'  "{notification["name"]}": {_type(notification["x-params"])};'
        for notification in schema["x-notifications"]
    ]
    parts.append("export interface Notifications {\n" + "\n".join(rows) + "\n}")
    codes = [
        f"  {name}: {error['code']}," for name, error in schema["components"]["errors"].items()
    ]
    parts.append("export const ErrorCode = {\n" + "\n".join(codes) + "\n} as const;")
    return "\n\n".join(parts) + "\n"


def _requests(name: str, methods: list[Schema]) -> str:
    rows = [
        f"  /** {method['summary']} */\n"
        f'  "{method["name"]}": {{ params: {_type(method["x-params"])}; result: {_type(method["result"]["schema"])} }};'
        for method in methods
    ]
    return f"export interface {name} {{\n" + "\n".join(rows) + "\n}"


def _interface(name: str, schema: Schema) -> str:
    fields = [
        _comment(value.get("description"), "  ")
        + f"  {field}{'' if _is_present(field, schema) else '?'}: {_type(value)};"
        for field, value in schema.get("properties", {}).items()
    ]
    return f"export interface {name} {{\n" + "\n".join(fields) + "\n}"


def _is_present(field: str, schema: Schema) -> bool:
    """Tell what need not be asked for: a caller may leave defaults out, we never do."""
    is_ours = schema.get("additionalProperties") is not False
    return field in schema.get("required", []) or (
        is_ours and "default" in schema["properties"][field]
    )


def _type(schema: Schema) -> str:
    match schema:
        case {"$ref": str(reference)}:
            return reference.removeprefix(REFERENCE)
        case {"anyOf": list(options)}:
            return " | ".join(_type(option) for option in options)
        case {"enum": list(values)}:
            return " | ".join(json.dumps(value) for value in values)
        case {"type": "array", "items": dict(items)}:
            return f"({_type(items)})[]" if "|" in _type(items) else f"{_type(items)}[]"
        case {"type": "object", "additionalProperties": dict(values)}:
            return f"Record<string, {_type(values)}>"
        case {"type": "integer" | "number" | "string" | "boolean" | "null" as simple}:
            return "number" if simple == "integer" else str(simple)
    raise NotImplementedError(f"no TypeScript for {schema}")


def _comment(text: str | None, indent: str) -> str:
    return f"{indent}/** {' '.join(text.split())} */\n" if text else ""


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def labels() -> str:
    """Return the names that the extension shows for assistants."""
    hosts = assistant.find_all()
    rows = "\n".join(f"  {_key(host.name)}: {json.dumps(host.label)}," for host in hosts)
    return (
        "// Generated by tools/generate.py from sidecar/hosts/assistants/; do not edit.\n\n"
        "/** The names of assistants for people. */\n"
        f"export const HOST_LABELS: Readonly<Record<string, string>> = {{\n{rows}\n}};\n"
    )


if __name__ == "__main__":
    sys.exit(main())
