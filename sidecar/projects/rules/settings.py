"""Parse user settings; report what is invalid or untrusted."""

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import FieldInfo

from protocol.settings import TRUST, Settings, Trust

_CLIENTS = {"command", "python", "trace"}
"""Settings of the same name space that are the editor's own."""
_FIELDS = {field.encode_name: field for field in msgspec.structs.fields(Settings)}

Problems = list[str]


def read(raw: object, base: Settings) -> tuple[Settings, Problems]:
    """Take over what fits of the user's own settings; tell what does not, one sentence each."""
    chosen, problems = _convert(raw, base)
    if _host(chosen.get("model_base_url", base.model_base_url)) != _host(base.model_base_url):
        # A key is meant for one host: whoever names another one has to name its key, too.
        chosen.setdefault("model_key_variable", "")
    return msgspec.structs.replace(base, **chosen), problems


def read_project(raw: object, base: Settings, own_file: str) -> tuple[Settings, Problems]:
    """Take over what a project may choose; refusals name the file in which users may choose the rest.

    A project may also turn off what its user has turned on: to record or do less harms nobody.
    """
    chosen, problems = _convert(raw, base)
    taken: dict[str, Any] = {}
    for field in (field for field in _FIELDS.values() if field.name in chosen):
        value = chosen[field.name]
        if trust(field) == "project" or value is False:
            taken[field.name] = value
        elif value != getattr(base, field.name):
            problems.append(
                f"`threadline.{field.encode_name}` is not taken from this client, because a project can choose"
                f" its settings; set it in {own_file}"
            )
    return msgspec.structs.replace(base, **taken), problems


def trust(field: FieldInfo) -> Trust:
    """Tell the trust level that is declared beside a setting."""
    schemas = (meta.extra_json_schema or {} for meta in field.type.__metadata__)
    (level,) = (schema[TRUST] for schema in schemas if TRUST in schema)
    return cast("Trust", level)


def _convert(raw: object, base: Settings) -> tuple[dict[str, Any], Problems]:
    """Return the values that fit by their field, and a sentence for each that does not."""
    # Lua cannot tell an empty table from an empty list.
    if raw is None or raw == []:
        return {}, []
    if not isinstance(raw, Mapping):
        return {}, ["`threadline` is no set of settings; the defaults are used"]
    chosen: dict[str, Any] = {}
    problems: Problems = []
    for key, value in raw.items():
        name = str(key).removeprefix("threadline.")
        field = _FIELDS.get(name)
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
    return chosen, problems


def _host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return address
