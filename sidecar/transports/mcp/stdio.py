"""Newline-delimited JSON-RPC on standard input and output."""

import asyncio
import json
import logging
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from sidecar.text import characters

LONGEST = 32 * 1024 * 1024
"""Bytes that a line may have."""
_CHUNK = 1 << 16

_log = logging.getLogger(__name__)

Messages = MemoryObjectReceiveStream[SessionMessage | Exception]
Answers = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def streams(source: int, output: int) -> AsyncIterator[tuple[Messages, Answers]]:
    """Return what comes in and what goes out, until the other end closes."""
    heard, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    answers, said = anyio.create_memory_object_stream[SessionMessage](0)
    complaints = answers.clone()
    async with anyio.create_task_group() as group:
        group.start_soon(_hear, source, heard, complaints)
        group.start_soon(_say, output, said)
        yield messages, answers
        group.cancel_scope.cancel()


def cut(chunks: Iterator[bytes]) -> Iterator[bytes | None]:
    """Cut a stream of bytes into lines; None stands for one that is too long."""
    kept, is_skipping = bytearray(), False
    for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            is_long = is_skipping or len(kept) + len(piece) > LONGEST
            yield None if is_long else bytes(kept) + piece
            kept.clear()
            is_skipping = False
        is_skipping = is_skipping or len(kept) + len(rest) > LONGEST
        if is_skipping:
            kept.clear()
        else:
            kept += rest
    if kept or is_skipping:
        yield None if is_skipping else bytes(kept)


def read(line: bytes | None) -> SessionMessage | types.JSONRPCError | None:
    """Read a message; where there is none, give what to answer, or None where nothing can be."""
    if line is None:
        return _complaint(None, types.PARSE_ERROR, f"a line of more than {LONGEST:,} bytes")
    if not line.strip():
        return None
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except (ValidationError, ValueError, RecursionError):
        return _refusal(line)
    is_doubtful = isinstance(message, types.JSONRPCNotification) and b'"id"' in line
    return (_refusal(line) if is_doubtful else None) or SessionMessage(message)


def _refusal(line: bytes) -> types.JSONRPCError | None:
    """Refuse what has an id, whatever else is wrong with it: somebody waits for an answer."""
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        return _complaint(None, types.PARSE_ERROR, f"not JSON: {error}")
    if isinstance(found, dict) and "id" not in found:
        return None
    identifier = found.get("id") if isinstance(found, dict) else None
    name = identifier if isinstance(identifier, str | int) else None
    return _complaint(name, types.INVALID_REQUEST, "not a request as JSON-RPC 2.0 knows it")


def _complaint(identifier: str | int | None, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(
        jsonrpc="2.0", id=identifier, error=types.ErrorData(code=code, message=message)
    )


async def _hear(
    source: int, heard: MemoryObjectSendStream[SessionMessage | Exception], complaints: Answers
) -> None:
    """Hand on one message after the other; the next is read when this one was taken."""
    loop, over = asyncio.get_running_loop(), asyncio.Event()

    async def take(line: bytes | None) -> None:
        message = read(line)
        if isinstance(message, types.JSONRPCError):
            await complaints.send(SessionMessage(message))
        elif message is not None:
            await heard.send(message)

    def run() -> None:
        try:
            for line in cut(_chunks(source)):
                asyncio.run_coroutine_threadsafe(take(line), loop).result()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError) as error:
            _log.debug("reading has ended: %s", error)
        finally:
            loop.call_soon_threadsafe(over.set)

    threading.Thread(target=run, name="messages", daemon=True).start()
    async with heard, complaints:
        await over.wait()


def _chunks(source: int) -> Iterator[bytes]:
    while data := os.read(source, _CHUNK):
        yield data


async def _say(output: int, said: MemoryObjectReceiveStream[SessionMessage]) -> None:
    """Write what is said, whole lines, one after the other: the only way out, so that nothing hidden leaves by any other."""
    limiter = anyio.CapacityLimiter(1)
    async with said:
        async for one in said:
            data = one.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
            await anyio.to_thread.run_sync(
                _write,
                output,
                characters.visible_message(data) + b"\n",
                abandon_on_cancel=True,
                limiter=limiter,
            )


def _write(output: int, data: bytes) -> None:
    while data:
        data = data[os.write(output, data) :]
