"""Conversions: what comes from outside is typed, from many threads at once."""

import subprocess
import sys

import pytest

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
