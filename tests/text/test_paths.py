"""Paths survive as text, byte for byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.text import paths


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"src/a.py", "src/a.py"),
        ("größe.txt".encode(), "größe.txt"),
        (b"caf\xe9.txt", r"caf\xe9.txt"),
        (rb"caf\xe9.txt", r"caf\x5cxe9.txt"),
        (rb"dir\name", r"dir\name"),
        (b"new\nline", "new\nline"),
    ],
)
def test_a_path_reads_well(raw: bytes, text: str) -> None:
    """Part of B3."""
    assert paths.read(raw) == text
    assert paths.write(text) == raw


@given(
    st.one_of(
        st.binary(),
        st.lists(st.sampled_from([b"\\", b"x", b"5", b"c", b"\xe9", b"a"])).map(b"".join),
    )
)
def test_any_bytes_come_back(raw: bytes) -> None:
    """Part of B3."""
    assert paths.write(paths.read(raw)) == raw
    paths.read(raw).encode()
