"""Settings as users write them: what is wrong is named, and the default used."""

from collections.abc import Mapping
from typing import Any

import msgspec

from protocol.settings import Settings

_CLIENTS = {"command", "python", "trace"}
"""Settings of the same name space that are the editor's own."""


def read(raw: object, base: Settings) -> tuple[Settings, list[str]]:
    """Take over what fits from a mapping of settings; tell what does not, one sentence each."""
    # Lua cannot tell an empty table from an empty list.
    if raw is None or raw == []:
        return base, []
    if not isinstance(raw, Mapping):
        return base, ["`threadline` is no set of settings; the defaults are used"]
    chosen: dict[str, Any] = {}
    problems: list[str] = []
    fields = {field.encode_name: field for field in msgspec.structs.fields(Settings)}
    for key, value in raw.items():
        name = str(key).removeprefix("threadline.")
        field = fields.get(name)
        if field is None:
            if name not in _CLIENTS:
                problems.append(f"`threadline.{name}` is not a setting")
        elif value is not None:
            try:
                chosen[field.name] = msgspec.convert(value, field.type)
            except msgspec.ValidationError as error:
                problems.append(
                    f"`threadline.{name}`: {error}; {getattr(base, field.name)!r} is used instead"
                )
    return msgspec.structs.replace(base, **chosen), problems
