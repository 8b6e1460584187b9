"""Schemas: what tools take, read from the protocol's own description and as short as a model needs it."""

import functools
import importlib.resources
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

Schema = dict[str, Any]

_REFERENCE = "#/components/schemas/"
_UNSAID = {
    *("title", "description", "default", "minLength", "maxLength", "minItems", "maxItems"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "pattern", "format"),
    "additionalProperties",
}
"""What a model reads with every tool and hardly ever needs: a value that is refused is named, with its limit."""


def taken(method: str, hidden: Collection[str] = ()) -> Schema:
    """Describe the arguments of a method, without those that are not the caller's to choose."""
    params = {one["name"]: one for one in _rows()[method]["params"] if one["name"] not in hidden}
    properties = {name: _brief(one["schema"]) for name, one in params.items()}
    return objects(properties, [name for name, one in params.items() if one["required"]])


def objects(properties: Schema, required: Collection[str] = ()) -> Schema:
    """Describe an object with these properties and no others."""
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": list(required)} if required else {})


def record(name: str) -> Schema:
    """Describe a record that is taken."""
    found: Schema = _brief({"$ref": _REFERENCE + name})
    return found


def explain(properties: Schema, words: Mapping[str, str]) -> Schema:
    """Return what some properties mean whose names do not."""
    return {
        name: {**schema, "description": words[name]} if name in words else schema
        for name, schema in properties.items()
    }


def names(method: str) -> frozenset[str]:
    """Return the arguments of a method."""
    return frozenset(one["name"] for one in _rows()[method]["params"])


@functools.cache
def _protocol() -> Schema:
    path = importlib.resources.files("protocol") / "schema.json"
    found: Schema = msgspec.json.decode(path.read_bytes())
    return found


@functools.cache
def _rows() -> dict[str, Schema]:
    return {method["name"]: method for method in _protocol()["methods"]}


def _brief(node: Any) -> Any:  # noqa: ANN401  # whatever JSON holds
    """Shorten a schema to its types, choices and names.

    What is referred to takes the place of the reference, which not all clients follow; that something may be null is
    not said, because it can be left out.
    """
    if isinstance(node, list):
        return [_brief(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    if (reference := node.get("$ref")) is not None:
        return _brief(_protocol()["components"]["schemas"][reference.removeprefix(_REFERENCE)])
    brief = {
        key: {name: _brief(inner) for name, inner in value.items()}
        if key == "properties"
        else _brief(value)
        for key, value in node.items()
        if key not in _UNSAID
    }
    choices = [choice for choice in brief.pop("anyOf", []) if choice != {"type": "null"}]
    if len(choices) == 1:
        return {**brief, **choices[0]}
    return brief | ({"anyOf": choices} if choices else {})
