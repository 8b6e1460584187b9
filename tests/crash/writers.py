"""How tests start writers, each a process of its own, and hear from them."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support import ROOT


def start(folder: Path, name: str, *options: str) -> "subprocess.Popen[bytes]":
    """Start a process that writes to a vault."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.crash.writer", str(folder), name, *options],
        cwd=ROOT,
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def hear(writer: "subprocess.Popen[bytes]") -> list[str]:
    """Wait for one more line of a writer and return its words."""
    assert writer.stdout is not None
    return writer.stdout.readline().decode().split()


def order(writer: "subprocess.Popen[bytes]") -> list[str]:
    """Let a writer that follows orders store one more event."""
    assert writer.stdin is not None
    writer.stdin.write(b"\n")
    writer.stdin.flush()
    return hear(writer)


def end(writer: "subprocess.Popen[bytes]") -> list[list[str]]:
    """Wait until a writer has ended; return the words of all its remaining whole lines."""
    assert writer.stdin is not None
    assert writer.stdout is not None
    writer.stdin.close()
    with writer.stdout as stream:
        said = stream.read()
    writer.wait()
    return [line.split() for line in said.decode().split("\n")[:-1]]


def kill(writer: "subprocess.Popen[bytes]") -> list[list[str]]:
    """Kill a writer; return what it has said until then."""
    writer.kill()
    return end(writer)
