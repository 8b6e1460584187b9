"""What several tests share."""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from protocol.events import FileChange, NewEvent
from sidecar.capture.rules.sessions import Rule
from sidecar.storage.ulids import Ids
from sidecar.storage.vault import Vault
from sidecar.text import own_words

ROOT = Path(__file__).resolve().parent.parent
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


@dataclass
class FixedClock:
    """A clock that moves only when it is told to."""

    now: datetime = NOON

    def __call__(self) -> datetime:
        return self.now

    def pass_(self, span: timedelta) -> None:
        self.now += span


def save(path: str = "src/a.py", *, at: datetime | None = None, key: str | None = None) -> NewEvent:
    return NewEvent(
        kind="save", files=(FileChange(path=path),), occurred_at=at, idempotency_key=key
    )


def holding(folder: Path, *needles: bytes) -> list[str]:
    """Name the files that hold certain bytes; another process reads them, so that no lock of ours is dropped."""
    found = [str(path) for path in folder.rglob("*") if path.is_file()]
    program = "import sys\nfor p in sys.argv[2:]:\n d = open(p, 'rb').read()\n if any(bytes.fromhex(n) in d for n in sys.argv[1].split()): print(p)"
    done = subprocess.run(
        [sys.executable, "-c", program, " ".join(one.hex() for one in needles), *found],
        capture_output=True,
        check=True,
    )
    return [Path(name).name for name in done.stdout.decode().splitlines()]


def documents(folder: Path, collection: str) -> dict[str, Any]:
    """Read a collection's documents from the file, as anybody could."""
    path = folder / "vault.sqlite"
    if not path.exists():
        return {}
    with contextlib.closing(sqlite3.connect(path)) as connection:
        if not connection.execute(
            "SELECT 1 FROM sqlite_schema WHERE name = ?", (collection,)
        ).fetchone():
            return {}
        rows = connection.execute(f'SELECT id, body FROM "{collection}"').fetchall()
    return {identifier: json.loads(body) for identifier, body in rows}


def reopen(vault: Vault) -> Vault:
    """Open the same vault as another process would."""
    return Vault(vault.folder, vault.project_id, Ids(vault.clock), Rule())


@dataclass(frozen=True)
class Repository:
    """A real git repository."""

    path: Path
    environment: dict[str, str] = field(default_factory=dict)

    @classmethod
    def create(cls, path: Path) -> "Repository":
        path.mkdir(parents=True)
        repository = cls(path)
        repository.git("init", "--quiet")
        return repository

    def git(self, *arguments: str | bytes, at: datetime | None = None, **options: str) -> str:
        environment = dict(os.environ)
        if at is not None:
            stamp = f"{int(at.timestamp())} +0000"
            environment |= {"GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env=environment | options,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout.decode(errors="replace").strip()

    def write(self, name: str, content: str = "content\n") -> None:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)

    def commit(self, subject: str, *, at: datetime | None = None, name: str = "a.txt") -> str:
        self.write(name, f"{subject}\n")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", subject, at=at)
        return self.git("rev-parse", "HEAD")

    def write_history(self, count: int) -> None:
        """Make many commits at once, an hour apart and long ago; more of them go on where fewer ended."""
        lines = []
        for number in range(count):
            moment = int((NOON + (number - 10_000) * HOUR).timestamp())
            stamp, text = f"Ada <ada@example.org> {moment} +0000", f"number {number}"
            lines.append(f"commit refs/heads/many\nauthor {stamp}\ncommitter {stamp}\n")
            lines.append(f"data {len(text)}\n{text}\n")
            lines.append(f"M 644 inline {number % 50}.txt\ndata {len(text)}\n{text}\n\n")
        subprocess.run(
            ["git", "fast-import", "--quiet"],
            cwd=self.path,
            input="".join(lines).encode(),
            check=True,
        )
        self.git("reset", "--hard", "--quiet", "many")


def threadline(
    *arguments: str, cwd: Path, stdin: bytes = b"", **environment: str
) -> "subprocess.CompletedProcess[bytes]":
    """Run the command line as a user does."""
    return subprocess.run(
        [
            sys.executable,
            "-c",
            "from sidecar.transports.entry import main; raise SystemExit(main())",
            *arguments,
        ],
        cwd=cwd,
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)} | environment,
        input=stdin,
        capture_output=True,
        check=False,
        timeout=120,
    )


def enclose(text: str) -> str:
    """Put a text between our marks, as an assistant is given it; marks within it lose their power."""
    harmless = text.replace(own_words.NAME, own_words.NAME.replace(":", " "))
    return f"{own_words.BEGIN}\n{harmless}\n{own_words.END}"
