"""A rich store: several projects with all that is kept, in every kind of file; and ways to damage a file."""

import json
import os
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from protocol.events import NewEvent
from protocol.methods import SessionParams
from protocol.settings import Settings
from sidecar.app import Application, now
from sidecar.capture import record
from sidecar.capture.rules.sessions import Rule
from sidecar.storage import spool
from sidecar.storage.home import Home
from sidecar.storage.ulids import Ids
from sidecar.upkeep import maintenance
from tests.crash.accounts import moment, something
from tests.memory.test_remember import write
from tests.support import Repository, save

DEFERRED = "00000000000000000000000009.batch.jsonl"
"""The name of what a test damages."""
EVENTS, MEMORIES = 120, 40


def make(folder: Path, *, is_hot: bool) -> None:
    """Fill a home for a real repository; both are made below a folder."""
    repository = Repository.create(folder / "repository")
    repository.commit("begin")
    home = Home(folder / "home", Ids(now), Rule())
    application = Application(home, here=repository.path, source="test")
    vault = home.vault(application.project(str(repository.path)).project_id)
    record.ingest(vault, [something(n, moment(n)) for n in range(EVENTS)], "test")
    maintenance.maintain(vault, Settings())
    for session in list(vault.sessions.timeline())[:4]:
        maintenance.compact(vault, SessionParams(session_id=session.session_id))
    for number in range(MEMORIES):
        write(vault, f"Fact number {number} is about harbours and {number * 7} bridges")
    application.call("threadline/capture/pause", {"project": str(repository.path)})
    application.call("threadline/capture/resume", {"project": str(repository.path)})
    vault.cache.put("name", list(range(2000)))
    vault.snapshot()
    home.fence_key()
    write(vault, "This came after the snapshot")
    line = record.Waiting(
        source="t",
        recorded_at=now(),
        events=(save("late.py", key="late"), NewEvent(kind="capture", text="w")),
    )
    vault.defer(msgspec.json.encode(line))
    (batch,) = (vault.folder / "inbox").glob("*.batch.jsonl")
    batch.rename(batch.with_name(DEFERRED))
    (home.folder / "settings.json").write_text(json.dumps({"promptInterval": 9}))
    spool.drop(str(home.folder), "signature", b'{"what": "nothing anybody knows"}')
    home.note_seen(vault)
    if not is_hot:
        home.close()
    # Otherwise the files are left as a killed process leaves them, so that there is a WAL.
    os._exit(0)


def copy(source: Path, target: Path) -> Path:
    """Give a test a store of its own."""
    shutil.copytree(source, target, symlinks=True)
    return target


def files_of(home: Path) -> list[Path]:
    """Name every file of a home, relative to it."""
    return sorted(path.relative_to(home) for path in home.rglob("*") if path.is_file())


def _truncate(path: Path, chance: random.Random) -> None:
    os.truncate(path, chance.randrange(path.stat().st_size or 1))


def _empty(path: Path, _chance: random.Random) -> None:
    os.truncate(path, 0)


def _flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def _overwrite(path: Path, chance: random.Random, fill: Callable[[int], bytes]) -> None:
    data = bytearray(path.read_bytes())
    size = min(4096, len(data))
    start = chance.randrange(max(1, len(data) // 4096)) * 4096
    data[start : start + size] = fill(len(data[start : start + size]))
    path.write_bytes(data)


def _zero(path: Path, chance: random.Random) -> None:
    _overwrite(path, chance, bytes)


def _garble(path: Path, chance: random.Random) -> None:
    _overwrite(path, chance, chance.randbytes)


def _begin_with_garbage(path: Path, chance: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(chance.randbytes(min(100, len(data))) + data[100:])


def _replace(path: Path, chance: random.Random) -> None:
    path.write_bytes(chance.randbytes(5000))


def _append(path: Path, chance: random.Random) -> None:
    with path.open("ab") as file:
        file.write(chance.randbytes(5000))


def _delete(path: Path, _chance: random.Random) -> None:
    path.unlink()


def _directory(path: Path, _chance: random.Random) -> None:
    path.unlink()
    path.mkdir()


def _link(path: Path, _chance: random.Random) -> None:
    path.rename(path.with_name(f"{path.name}.elsewhere"))
    path.symlink_to(path.with_name(f"{path.name}.elsewhere"))


def _dangling(path: Path, _chance: random.Random) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def _pipe(path: Path, _chance: random.Random) -> None:
    path.unlink()
    os.mkfifo(path)


def _text(path: Path, _chance: random.Random) -> None:
    path.write_text("this is no file of ours\n" * 40)


DAMAGES: dict[str, Callable[[Path, random.Random], None]] = {
    "truncated": _truncate,
    "empty": _empty,
    "flipped": _flip,
    "zeroed": _zero,
    "garbled": _garble,
    "headless": _begin_with_garbage,
    "replaced": _replace,
    "longer": _append,
    "deleted": _delete,
    "directory": _directory,
    "link": _link,
    "dangling": _dangling,
    "pipe": _pipe,
    "text": _text,
}

if __name__ == "__main__":
    make(Path(sys.argv[1]), is_hot=sys.argv[2] == "hot")
