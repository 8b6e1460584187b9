"""Hashes: numbers in the place of words, so that what is kept beside the memories repeats nothing of them."""

import functools

import msgspec

from sidecar.domain.hashing import blake2b

_SIZE = 8


@functools.lru_cache(maxsize=65_536)
def of(text: str) -> int:
    """Give the number of a text: the same in every process, and hardly ever that of another text."""
    return _number(text.encode("utf-8", "surrogatepass"))


def of_kind(kind: str, text: str) -> int:
    """Give the number of a text that means something else in another place: a tag, a folder, a name."""
    return of(f"{kind}\0{text}")


def of_all(value: object) -> int:
    """Give the number of a record with everything in it."""
    return _number(msgspec.msgpack.encode(value))


def _number(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=_SIZE).digest(), "little")
