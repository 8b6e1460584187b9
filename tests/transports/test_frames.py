"""Frames are found whatever the stream does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.transports.lsp import frames
from sidecar.transports.lsp.frames import BadFrame, Frames


def frame(body: bytes, header: str = "Content-Length: {}\r\n\r\n") -> bytes:
    return header.format(len(body)).encode() + body


def read(*chunks: bytes) -> list[bytes | None]:
    """Feed chunks; give the bodies, and None for what was no frame."""
    parser = Frames()
    found = [piece for chunk in chunks for piece in parser.feed(chunk)]
    return [None if isinstance(piece, BadFrame) else piece for piece in found]


@given(st.lists(st.binary(max_size=200), max_size=8), st.data())
def test_any_cut_of_the_stream_gives_the_same_frames(
    bodies: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(frame(body) for body in bodies)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    chunks = [stream[i:j] for i, j in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert read(*chunks) == bodies


@pytest.mark.parametrize(
    "header",
    [
        "content-length: {}\r\n\r\n",
        "Content-Length:{}\r\n\r\n",
        "CONTENT-LENGTH:\t{} \r\n\r\n",
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: {}\r\n\r\n",
        "Content-Length: {}\r\nContent-Type: x\r\n\r\n",
    ],
)
def test_headers_are_read_as_people_write_them(header: str) -> None:
    assert read(frame(b"{}", header)) == [b"{}"]


@pytest.mark.parametrize(
    "noise",
    [
        b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"Content-Length: 100000000000000\r\n\r\n",
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: abc\r\n\r\n",
        b"X-Header: 1\r\n\r\n",
        b"\r\n\r\n",
        b"x" * (frames.HEADER_LIMIT + 100),
        b"\0" * 50_000,
        b"Content-Length: 12\n\n" + b"y" * frames.HEADER_LIMIT,
    ],
)
def test_a_good_frame_after_noise_is_found(noise: bytes) -> None:
    found = read(noise + frame(b'{"good":1}'))
    assert found[-1] == b'{"good":1}'
    assert set(found[:-1]) == {None}


def test_a_body_over_the_limit_is_passed_over_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "BODY_LIMIT", 100)
    huge = frame(b"Content-Length: 1\r\n\r\nz" * 50)
    assert read(huge + frame(b"next")) == [None, b"next"]
    assert read(*(bytes([byte]) for byte in huge + frame(b"next"))) == [None, b"next"]


@given(st.binary(max_size=2000))
def test_no_bytes_break_it(noise: bytes) -> None:
    parser = Frames()
    list(parser.feed(noise))
    list(parser.feed(frame(b"{}") * 3))
