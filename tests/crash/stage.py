"""A process that plays scenes in children of its own, with faults at exact file operations.

It is started once, with `faults.c` loaded before the C library, and never opens a database itself; whatever a
request asks for happens in a fork, which is as good as a fresh process and takes a hundredth of its time.
"""

import ctypes
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from tests.crash import scenes

_library = ctypes.CDLL(None)


def main() -> None:
    """Answer one JSON line after the other: which scene, which part of it, where, and what goes wrong."""
    for line in sys.stdin:
        request = json.loads(line)
        answer = _beside_reader(request) if request.get("reader") else _play(request)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _beside_reader(request: dict[str, Any]) -> dict[str, Any]:
    """Play a scene while another process has the same vault open and goes on reading it."""
    until, ended = os.pipe()
    told, tell = os.pipe()
    reader = os.fork()
    if reader == 0:
        os.close(ended)
        status = 1
        try:
            scenes.read_on(Path(request["folder"]), until, tell)
            status = 0
        except BaseException:  # noqa: BLE001  # the test sees the status, people the reason
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(until)
    os.close(tell)
    os.read(told, 1)
    answer = _play(request)
    os.close(ended)
    os.close(told)
    answer["reader"] = os.waitstatus_to_exitcode(os.waitpid(reader, 0)[1])
    return answer


def _play(request: dict[str, Any]) -> dict[str, Any]:
    told, tell = os.pipe()
    player = os.fork()
    if player == 0:
        os.close(told)
        _perform(request, tell)
    os.close(tell)
    with os.fdopen(told, "rb") as stream:
        # What was not told to its end was not told.
        lines = stream.read().split(b"\n")[:-1]
    status = os.waitstatus_to_exitcode(os.waitpid(player, 0)[1])
    answer: dict[str, Any] = {"status": status, "acknowledged": [], "result": None, "operations": 0}
    for line in lines:
        kind, value = json.loads(line)
        if kind == "acknowledged":
            answer[kind].append(value)
        else:
            answer[kind] = value
    return answer


def _perform(request: dict[str, Any], pipe: int) -> None:
    def tell(kind: str, value: object) -> None:
        os.write(pipe, json.dumps([kind, value]).encode() + b"\n")

    def acknowledge(text: str) -> None:
        tell("acknowledged", text)
        _library.faults_note(text.encode())

    status = 1
    fault = request.get("fault")
    try:
        folder = Path(request["folder"])
        if request.get("record"):
            _library.faults_record(os.open(request["record"], os.O_WRONLY | os.O_CREAT, 0o600))
        if fault:
            _library.faults_arm(os.fsencode(f"{folder}/"), *fault)
        stage = scenes.Stage(
            folder, acknowledge, _library.faults_disarm, request.get("given") or []
        )
        result = getattr(scenes.SCENES[request["scene"]], request["part"])(stage)
        tell("operations", _library.faults_count())
        _library.faults_disarm()
        tell("result", result)
        status = 0
    except BaseException:  # noqa: BLE001  # likewise
        _library.faults_disarm()
        tell("error", traceback.format_exc())
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
