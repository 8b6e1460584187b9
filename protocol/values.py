"""The shapes every wire record is made of."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct


class Record(Struct, frozen=True, kw_only=True, rename="camel"):
    """A value on the wire: immutable, camelCase, every field by name."""


class Params(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a caller sends: a field we do not know is refused, never ignored."""


Timestamp = Annotated[datetime, Meta(tz=True)]
"""ISO 8601 with an offset; what we send is always UTC."""

TEXT_LIMIT = 100_000

Name = Annotated[str, Meta(min_length=1, max_length=200)]
Key = Annotated[str, Meta(min_length=1, max_length=512)]
Text = Annotated[str, Meta(max_length=TEXT_LIMIT)]
Sha = Annotated[str, Meta(pattern=r"^[0-9a-f]{7,64}$(?!\n)")]
ProjectId = Annotated[str, Meta(pattern=r"^[0-9a-f]{20}$(?!\n)")]
Ulid = Annotated[str, Meta(pattern=r"^[0-7][0-9A-HJKMNP-TV-Z]{25}$(?!\n)")]
