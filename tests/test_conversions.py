"""Conversions: what comes from outside is typed, from many threads at once."""

import subprocess
import sys

import pytest

from protocol.conversions import convert
from protocol.errors import InvalidParamsError
from protocol.methods import METHODS

_RACE = """
import sys, threading, types
import msgspec
from protocol import conversions

KIND = '''
class Inner(msgspec.Struct):
    at: "str"
    counts: "dict[str, int]"
class Outer(msgspec.Struct):
    inner: "dict[str, Inner]"
    last: "str"
'''

def make(number):
    module = types.ModuleType(f"kinds{number}")
    sys.modules[module.__name__] = module
    module.msgspec = msgspec
    exec(KIND, module.__dict__)
    return module.Outer

def read():
    for kind in kinds:
        together.wait()
        msgspec.convert({"last": "x", "inner": {"a": {"at": "x", "counts": {"b": 1}}}}, kind)

sys.setswitchinterval(1e-6)
kinds = [make(number) for number in range(40)]
together = threading.Barrier(4)
if "prepared" in sys.argv:
    conversions.prepare()
threads = [threading.Thread(target=read) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("done")
"""


@pytest.mark.slow
def test_threads_that_read_new_kinds_at_once_do_not_end_the_process() -> None:
    command = [sys.executable, "-c", _RACE, "prepared"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (0, "done\n"), ended.stderr


BY_NAME = {method.name: method for method in METHODS}


@pytest.mark.parametrize(
    ("method", "params", "said"),
    [
        (
            "messages/send",
            {"subject": "é" * 201},
            "`subject` has 201 characters, and 200 is the most",
        ),
        ("messages/send", {"content": ""}, "`content` is empty"),
        ("messages/send", {"priority": 9}, "`priority` is 9, and 5 is the most"),
        ("messages/send", {"priority": 0}, "`priority` is 0, and 1 is the least"),
        (
            "messages/send",
            {"expiresInDays": -0.5},
            "`expiresInDays` is -0.5, and it must be more than 0",
        ),
        ("messages/send", {"priority": "high"}, "Expected `int`, got `str` - at `$.priority`"),
        (
            "tasks/create",
            {"tasks": [{"title": "x"}] * 201},
            "`tasks` has 201 items, and 200 is the most",
        ),
        (
            "tasks/create",
            {"tasks": [{"title": "x", "status": "doing"}]},
            "`tasks[0].status` is “doing”; it can be backlog, blocked, done, in_progress, todo",
        ),
        (
            "tasks/list",
            {"statuses": ["todo", "x" * 999]},
            f"`statuses[1]` is “{'x' * 60}”; it can be backlog, blocked, done, in_progress, todo",
        ),
        (
            "tasks/update",
            {"taskId": "abc"},
            "`taskId` is no id: those have 26 letters and digits, such as 01J9ZK3Q4W5X6Y7Z8A9B0C1D2E",
        ),
        *(
            (
                "documents/write",
                {"name": name, "content": "x"},
                "`name` is no name: those have letters, digits, _, and after the first also blanks, dots, dashes",
            )
            for name in ("a/b", "", "-x", "two\nlines")
        ),
        (
            "documents/write",
            {"name": "x" * 101, "content": "x"},
            "`name` has 101 characters, and 100 is the most",
        ),
        ("tasks/update", {}, "Object missing required field `taskId`"),
    ],
)
def test_what_is_wrong_is_said_with_the_value_and_the_way_out(
    method: str, params: dict[str, object], said: str
) -> None:
    """Part of H4."""
    given = {"targetId": "b", "content": "x"} | params if method == "messages/send" else params
    with pytest.raises(InvalidParamsError) as refusal:
        convert(BY_NAME[f"threadline/{method}"], given)
    assert str(refusal.value) == f"threadline/{method}: {said}"
