"""Schemas: what tools take and give, read from the protocol's own description."""

import functools
import importlib.resources
from collections.abc import Collection
from typing import Any

import msgspec

Schema = dict[str, Any]

_REFERENCE = "#/components/schemas/"
_END = "$(?!\\n)"
"""How the protocol writes that a text ends; JSON Schema has a shorter way, which more programs understand."""
_ELSEWHERE = {"StartContext": "What session_start gives."}
"""Large records that one tool describes for all."""


def taken(method: str, hidden: Collection[str] = ()) -> Schema:
    """Describe the arguments of a method, without those that are not the caller's to choose."""
    params = {one["name"]: one for one in _rows()[method]["params"] if one["name"] not in hidden}
    properties = {name: _plain(_whole(one["schema"])) for name, one in params.items()}
    return objects(properties, [name for name, one in params.items() if one["required"]])


def objects(properties: Schema, required: Collection[str] = ()) -> Schema:
    """Describe an object with these properties and no others."""
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": list(required)} if required else {})


def record(name: str) -> Schema:
    """Describe a record that is taken."""
    found: Schema = _plain(_whole({"$ref": _REFERENCE + name}))
    return found


def given(method: str, besides: Schema) -> Schema:
    """Describe the result of a method, with what else may stand in it."""
    schema = _rows()[method]["result"]["schema"]
    found = _whole(schema, frozenset(_ELSEWHERE) - {schema["$ref"].removeprefix(_REFERENCE)})
    return {**found, "properties": {**found["properties"], **besides}}


def names(method: str) -> frozenset[str]:
    """Name the arguments of a method."""
    return frozenset(one["name"] for one in _rows()[method]["params"])


@functools.cache
def _protocol() -> Schema:
    path = importlib.resources.files("protocol") / "schema.json"
    found: Schema = msgspec.json.decode(path.read_bytes())
    return found


@functools.cache
def _rows() -> dict[str, Schema]:
    return {method["name"]: method for method in _protocol()["methods"]}


def _whole(node: Any, elsewhere: Collection[str] = ()) -> Any:  # noqa: ANN401  # whatever JSON holds
    """Put what is referred to in the place of the reference: not all clients follow one."""
    if isinstance(node, list):
        return [_whole(one, elsewhere) for one in node]
    if isinstance(node, str):
        return node.replace(_END, "$")
    if not isinstance(node, dict):
        return node
    reference = node.get("$ref")
    if reference is None:
        return {
            key: _whole(one, elsewhere)
            for key, one in node.items()
            if not (key == "title" and isinstance(one, str))
        }
    name = reference.removeprefix(_REFERENCE)
    if name in elsewhere:
        return {"type": "object", "description": _ELSEWHERE[name]}
    rest = {key: value for key, value in node.items() if key != "$ref"}
    return {**_whole(_protocol()["components"]["schemas"][name], elsewhere), **rest}


def _plain(node: Any) -> Any:  # noqa: ANN401  # likewise
    """Say that something may be left out by leaving it out: a model need not read that it may be null.

    That a text has a letter goes without saying, too.
    """
    if isinstance(node, list):
        return [_plain(one) for one in node]
    if not isinstance(node, dict):
        return node
    found = {key: _plain(value) for key, value in node.items()}
    choices = [one for one in found.get("anyOf", []) if one != {"type": "null"}]
    if "default" in found and found["default"] in (None, [], ""):
        del found["default"]
    if found.get("minLength") == 1:
        del found["minLength"]
    if len(choices) == 1:
        del found["anyOf"]
        return {**choices[0], **found}
    return found
