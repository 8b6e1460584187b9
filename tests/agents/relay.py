"""Stands between an MCP client and its server and writes down what both say: relay.py RECORD COMMAND..."""

import subprocess
import sys
import threading
from typing import IO


def pass_on(source: IO[bytes], target: IO[bytes], record: IO[bytes], mark: bytes) -> None:
    """Hand on one line after the other."""
    for line in source:
        record.write(mark + line)
        target.write(line)
        target.flush()


def main(record: str, *command: str) -> int:
    """Relay until the server ends."""
    with (
        open(record, "ab", buffering=0) as file,  # noqa: PTH123  # unbuffered: a client may kill us
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        there = (sys.stdin.buffer, server.stdin, file, b"> ")

        def ask() -> None:
            pass_on(*there)
            there[1].close()

        threading.Thread(target=ask, daemon=True).start()
        pass_on(server.stdout, sys.stdout.buffer, file, b"< ")
        return server.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
