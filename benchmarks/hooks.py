"""What a hook costs the host that runs it: the processor's time beside that of Python alone."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from statistics import quantiles

from benchmarks.timing import Duel, Row, judge
from protocol.contexts import RenderParams
from protocol.memories import Memory, MemoryType
from sidecar.app import now, open_application
from sidecar.store.overheard import VARIABLE
from sidecar.store.vaults import Vault

_ROUNDS = 15
_STARTS = 15
_GATE = 2.2
_SIZE = 10_000
_ENTRY = "from sidecar.transports.entry import main; raise SystemExit(main())"
_PROMPT = "Why does the refresh fail after an hour? Look at the session first, and tell me number"
_ROOT = Path(__file__).resolve().parent.parent

Fields = dict[str, object]


def hook(folder: Path) -> Iterator[Row]:
    environment = _environment(folder)
    numbers = count()
    _run(_message("SessionStart", folder, "warm"), environment, folder)
    tool: Fields = {"tool_name": "Write", "tool_input": {}}
    kinds: dict[str, tuple[str, Fields]] = {
        "a prompt": ("UserPromptSubmit", {}),
        "an edit": ("PostToolUse", tool),
        "the end of a turn": ("Stop", {}),
    }
    for what, (event, fields) in kinds.items():
        yield judge(
            Duel(
                f"hook: {what}, beside `python -c pass` (processor's time)",
                partial(_capture, folder, environment, (event, fields, numbers)),
                partial(_cpu, ["-c", "pass"], b"", environment, folder),
                _ROUNDS,
                _GATE,
            )
        )
    yield _starts(folder)


def _capture(
    folder: Path, environment: dict[str, str], said: tuple[str, Fields, "count[int]"]
) -> float:
    event, fields, numbers = said
    number = next(numbers)
    texts: Fields = {
        "prompt": f"{_PROMPT} {number}.",
        "last_assistant_message": f"Done, number {number}.",
        **fields,
    }
    if "tool_input" in fields:
        texts["tool_input"] = {"file_path": str(folder / f"{number}.py")}
    data = _message(event, folder, "warm", **texts)
    return _cpu(["-c", _ENTRY, "hook", "claude-code"], data, environment, folder)


def _starts(folder: Path) -> Row:
    """Time how long a host waits at the start of a conversation; a figure, not a gate."""
    environment = _environment(folder) | {VARIABLE: str(folder / "large")}
    _fill(folder, environment)
    seconds = []
    for number in range(_STARTS):
        began = time.perf_counter()
        _run(_message("SessionStart", folder, f"s{number}"), environment, folder)
        seconds.append(time.perf_counter() - began)
    cuts = quantiles(seconds, n=20)
    return Row(
        what=f"hook: start of a conversation, {_SIZE:,} memories (p95; p50 beside it)",
        ours=f"{cuts[-1] * 1000:.0f} ms",
        baseline=f"{cuts[9] * 1000:.0f} ms",
        ratio="",
        gate="",
        verdict="",
    )


def _fill(folder: Path, environment: dict[str, str]) -> None:
    """Invent memories of a repository, each of them another."""
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    chance = Random("hooks")
    app = open_application(here=folder, source="benchmark", environment=environment)
    vault = app.vault(app.project(None))
    with vault.lock.held():
        made = [_memory(vault, number, chance) for number in range(_SIZE)]
        vault.journal.append([vault.memories.put(one.memory_id, one) for one in made])
    # What a search stands on is written down by the first who needs it.
    app.greet(RenderParams(project=str(folder), host="claude-code", preview=True))
    app.close()


def _memory(vault: Vault, number: int, chance: Random) -> Memory:
    words = " ".join(f"word{int(chance.paretovariate(0.6)) % 5000}" for _ in range(20))
    moment = now() - timedelta(hours=number)
    kinds: tuple[MemoryType, ...] = ("fact", "decision", "constraint", "task", "episodic")
    return Memory(
        memory_id=vault.ids.next(),
        project_id=vault.project_id,
        type=kinds[number % len(kinds)],
        title=f"{words[:60]} {number}",
        content=words,
        importance=1 + number % 5,
        files=(f"sidecar/services/module_{number % 300}.py",),
        occurred_at=moment,
        created_at=moment,
        updated_at=moment,
    )


def _message(event: str, folder: Path, session: str, **fields: object) -> bytes:
    transcript = f"/home/dev/.claude/projects/-home-dev/{session}.jsonl"
    known = {"session_id": session, "transcript_path": transcript, "cwd": str(folder)}
    return json.dumps({**known, "hook_event_name": event, **fields}).encode()


def _run(data: bytes, environment: dict[str, str], folder: Path) -> None:
    command = [sys.executable, "-c", _ENTRY, "hook", "claude-code"]
    subprocess.run(
        command, input=data, env=environment, cwd=folder, check=True, capture_output=True
    )


def _cpu(words: list[str], data: bytes, environment: dict[str, str], folder: Path) -> float:
    """Tell how much of the processor's time a process took, from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *words],
        input=data,
        env=environment,
        cwd=folder,
        check=True,
        capture_output=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _environment(folder: Path) -> dict[str, str]:
    """Give users' conditions: compiled modules are kept, as they are wherever a package is installed."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return kept | {
        VARIABLE: str(folder / "home"),
        "PYTHONPATH": str(_ROOT),
        "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
    }
