"""What a host writes to standard input: read with a limit, within a time, and parsed without trust."""

import os
import select
import time

from sidecar.transports.hooks import notation

MOST = 16 * 1024 * 1024
"""Bytes of a message; a longer one is passed over. Hosts send a file that was edited several times over."""
_CHUNK = 1 << 16


def read(descriptor: int, seconds: float) -> bytes:
    """Read a message to its end, or until it is whole though its host leaves the pipe open."""
    deadline = time.monotonic() + seconds
    data = bytearray()
    while (left := deadline - time.monotonic()) > 0 and _is_ready(descriptor, left):
        chunk = os.read(descriptor, _CHUNK)
        if len(data) <= MOST:
            # What is too long is still taken, so that its writer need not wait.
            data += chunk
        if not chunk or _is_whole(data, descriptor):
            break
    return bytes(data)


def parse(data: bytes) -> dict[str, object]:
    """Parse a message, which has to be one object."""
    if len(data) > MOST:
        raise ValueError(f"a message of more than {MOST} bytes")
    message = notation.decode(data.removeprefix(b"\xef\xbb\xbf").decode())
    if not isinstance(message, dict):
        raise ValueError("no JSON object")  # noqa: TRY004  # one kind of refusal for whatever is wrong
    return message


def _is_ready(descriptor: int, seconds: float) -> bool:
    if os.name != "posix":
        return True
    return bool(select.select([descriptor], [], [], seconds)[0])


def _is_whole(data: bytearray, descriptor: int) -> bool:
    """Tell whether a message seems complete, while its host keeps silent with the pipe still open."""
    if data[-16:].rstrip()[-1:] != b"}" or _is_ready(descriptor, 0.02):
        return False
    try:
        parse(bytes(data))
    except ValueError:
        return False
    return True
