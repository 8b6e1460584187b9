"""Parse source files in a child process that can be killed."""

import contextlib
import os
import struct
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec

from sidecar.code import git
from sidecar.memory.rules.drift import Symbol

if TYPE_CHECKING:
    from subprocess import Popen


SECONDS = 2
"""Of the processor's time, for one file."""
_PATIENCE = 20.0
"""Seconds for one file, whatever else the machine does; also for the child to start."""
_IDLE = 10.0
"""Seconds after which a child that nobody asks is ended."""
_MOST, _RESTING = 5, 600
"""Files of one folder that may cost a child its life, and seconds after which its files are tried again."""
_CODE = "from sidecar.code import parsing; parsing.serve()"
_LENGTH = struct.Struct(">I")
_READY = b"."


class TooCostlyError(Exception):
    """A file that cannot be parsed within its limits; says why."""


class _Child:
    """A process that parses one file after another."""

    def __init__(self) -> None:
        import subprocess  # noqa: PLC0415  # who parses nothing need not wait for it

        self._process: Popen[bytes] = subprocess.Popen(  # noqa: S603  # the words are ours
            [sys.executable, "-P", "-c", _CODE],
            cwd=os.sep,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        git.limit(self._process.pid)
        self._answer: bytes | None = None
        self._exchange(self._start)

    def find(self, path: str, source: bytes) -> tuple[Symbol, ...]:
        """Parse a file in the child; a TooCostlyError ends the child."""
        request = msgspec.msgpack.encode((path, source))
        self._exchange(lambda: self._ask(request))
        if self._answer is None:
            raise TooCostlyError(f"takes more than {SECONDS} s to parse, or crashes the parser")
        return msgspec.msgpack.decode(self._answer, type=tuple[Symbol, ...])

    def close(self) -> None:
        """End the child."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _exchange(self, talk: Callable[[], None]) -> None:
        """Exchange one message with the child; a blocked pipe can only be left by ending the child."""
        self._answer = None
        talker = threading.Thread(target=talk, daemon=True)
        talker.start()
        talker.join(_PATIENCE)
        if talker.is_alive():
            self._process.kill()
            talker.join()

    def _start(self) -> None:
        if self._process.stdout is not None:
            self._process.stdout.read(len(_READY))

    def _ask(self, request: bytes) -> None:
        if self._process.stdin is None or self._process.stdout is None:
            return
        with contextlib.suppress(OSError):
            _write(self._process.stdin, request)
            self._answer = _read(self._process.stdout)


class Parser:
    """The parser of this process, with one child that is started when needed; thread-safe."""

    def __init__(self) -> None:
        """Start without a child."""
        self._mutex = threading.Lock()
        self._child: _Child | None = None
        self._used_at = 0.0
        self._costly: dict[Path, list[float]] = {}

    def find(self, path: str, source: bytes, root: Path) -> tuple[Symbol, ...]:
        """Return the symbols of a file; raises TooCostlyError."""
        with self._mutex:
            recent = [at for at in self._costly.get(root, ()) if time.monotonic() - at < _RESTING]
            if len(recent) >= _MOST:
                raise TooCostlyError(f"not parsed: {_MOST} other files took too long")
            if self._child is None:
                self._child = _Child()
                threading.Thread(target=self._wait_for_silence, daemon=True).start()
            try:
                return self._child.find(path, source)
            except TooCostlyError:
                self._costly[root] = [*recent, time.monotonic()]
                self._close()
                raise
            finally:
                self._used_at = time.monotonic()

    def _wait_for_silence(self) -> None:
        """End the child after a time without requests."""
        child = self._child
        while True:
            time.sleep(max(0.1, self._used_at + _IDLE - time.monotonic()))
            with self._mutex:
                if self._child is not child:
                    return
                if time.monotonic() - self._used_at >= _IDLE:
                    self._close()
                    return

    def _close(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None


parser = Parser()


def serve() -> None:
    """Run the child: parse what arrives on standard input, until it ends."""
    from sidecar.code import symbols  # noqa: PLC0415  # it asks for this module

    source, answers = sys.stdin.buffer, sys.stdout.buffer
    answers.write(_READY)
    answers.flush()
    while (request := _read(source)) is not None:
        path, content = msgspec.msgpack.decode(request, type=tuple[str, bytes])
        _arm(SECONDS)
        found = symbols.parse(path, content)
        _arm(0)
        _write(answers, msgspec.msgpack.encode(found))


def _arm(seconds: int) -> None:
    """Limit this process to so much processor time; 0 removes the limit."""
    if sys.platform != "win32":
        import signal  # noqa: PLC0415  # needed here only

        signal.setitimer(signal.ITIMER_PROF, seconds)


def _write(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(_LENGTH.pack(len(data)) + data)
    pipe.flush()


def _read(pipe: IO[bytes]) -> bytes | None:
    """Return one message, or None at the end."""
    length = pipe.read(_LENGTH.size)
    if len(length) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(length)
    data = pipe.read(size)
    return data if len(data) == size else None
