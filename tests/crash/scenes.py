"""What is played while files fail: each scene prepares a folder, acts in it, and is judged by what is there after.

`act` acknowledges what a caller would be told is stored. `verify` sees that all of that is there once and nothing is
half there, then acts again without a fault and returns what a person would see, which must be what it always is.
"""

import contextlib
import os
import re
import select
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from protocol.checkpoints import CheckpointMemory, CheckpointParams, EndParams, TrackParams
from protocol.errors import StorageFailedError, ThreadlineError
from protocol.events import NewEvent
from protocol.methods import SessionParams
from protocol.projects import Project
from protocol.settings import Settings
from protocol.turns import IngestTurnParams
from sidecar.app import now
from sidecar.capture import record
from sidecar.capture.rules.sessions import Rule
from sidecar.conversations import checkpoints, finish, turns
from sidecar.conversations.later import Buffer
from sidecar.conversations.participants import Tools
from sidecar.conversations.rules import signals
from sidecar.memory import jobs, pipeline
from sidecar.storage import snapshots, spool
from sidecar.storage.database import Database
from sidecar.storage.home import Home
from sidecar.storage.ulids import Ids
from sidecar.storage.vault import NAME, Vault
from sidecar.transports import entry
from sidecar.upkeep import export, maintenance, purge
from tests.conversations.test_checkpoints import WHO, idle
from tests.conversations.test_checkpoints import tools as test_checkpoints_tools
from tests.conversations.test_turns import DECISION
from tests.crash.accounts import (
    AGREE,
    account,
    check_copies,
    commit,
    fill,
    moment,
    opened,
    something,
)
from tests.memory.test_pipeline import silent, tools
from tests.memory.test_remember import WORDS
from tests.support import NOON, holding

BEFORE = 8
"""Events that are there before anything happens."""
PROJECT = "0123456789abcdef0123"
PHRASE = "unforgettable heron"
LIMIT_OF_TRIES = 60


@dataclass
class Stage:
    """Where a scene plays."""

    folder: Path
    acknowledge: Callable[[str], None]
    disarm: Callable[[], None]
    """Let nothing fail any more."""
    acknowledged: list[str]
    """By the run that is verified."""

    @property
    def vault_folder(self) -> Path:
        return self.folder / "vault"

    def vault(self) -> Vault:
        return opened(self.vault_folder)


class Scene:
    """A vault with a few events, to which nothing happens."""

    def prepare(self, stage: Stage) -> Any:
        stage.folder.mkdir(parents=True)
        return fill(stage.vault_folder, BEFORE)

    def act(self, stage: Stage) -> Any:
        raise NotImplementedError

    def verify(self, stage: Stage) -> Any:
        raise NotImplementedError

    def _see(self, vault: Vault, stage: Stage, *, first: int = BEFORE) -> None:
        """See that every event that was there before or was acknowledged is there once."""
        keys = account(vault)
        promised = [str(something(number).idempotency_key) for number in range(first)]
        promised += [key for key in stage.acknowledged if ":" in key]
        assert {key: keys[key] for key in promised if keys[key] != 1} == {}
        assert not keys or max(keys.values()) == 1


class Opening(Scene):
    """A home, a project and its vault are made."""

    def prepare(self, stage: Stage) -> Any:
        stage.folder.mkdir(parents=True)

    def act(self, stage: Stage) -> Any:
        home = home_of(stage)
        home.put(project())
        stage.acknowledge("put")
        home.vault(PROJECT).cache.put("name", [1, 2])
        home.close()
        stage.acknowledge("closed")

    def verify(self, stage: Stage) -> Any:
        if stage.acknowledged:
            with contextlib.closing(home_of(stage)) as home:
                assert home.projects() == [project()]
                assert home.vault(PROJECT).projects.all() == [project()]
        self.act(Stage(stage.folder, _untold, stage.disarm, []))
        with contextlib.closing(home_of(stage)) as home:
            account(home.vault(PROJECT))
            return [found.name for found in home.projects()]


class Ingesting(Scene):
    """Events come one by one, in a batch, and from the inbox."""

    batch = (20, 21, 22)

    def act(self, stage: Stage) -> Any:
        vault = stage.vault()
        line = record.Waiting(source="t", recorded_at=NOON, events=(something(30, moment(30)),))
        vault.defer(msgspec.json.encode(line))
        stage.acknowledge("commit:30" if something(30).kind == "commit" else "save:30")
        for number in range(BEFORE, BEFORE + 6):
            record.ingest(vault, [something(number, moment(number))], "test")
            stage.acknowledge(str(something(number).idempotency_key))
        record.ingest(vault, [something(each, moment(each)) for each in self.batch], "test")
        for number in self.batch:
            stage.acknowledge(str(something(number).idempotency_key))
        vault.close()

    def verify(self, stage: Stage) -> Any:
        vault = stage.vault()
        record.drain(vault)
        self._see(vault, stage)
        keys = account(vault)
        assert sum(keys[str(something(each).idempotency_key)] for each in self.batch) in {0, 3}
        vault.close()
        self.act(Stage(stage.folder, _untold, stage.disarm, []))
        vault = stage.vault()
        maintenance.maintain(vault, Settings())
        return sorted(account(vault).items())


class Enduring(Scene):
    """Events come while operations fail; the same process goes on, and is killed at the end."""

    def act(self, stage: Stage) -> Any:
        self.go_on(stage)
        os.kill(os.getpid(), 9)

    def go_on(self, stage: Stage) -> None:
        vault = stage.vault()
        for number in range(BEFORE, LIMIT_OF_TRIES):
            if number == LIMIT_OF_TRIES - 3:
                stage.disarm()
            key = str(something(number).idempotency_key)
            try:
                record.ingest(vault, [something(number, moment(number))], "test")
            except ThreadlineError as error:
                kind = "unknown" if "unknown" in str(error) else "refused"
                stage.acknowledge(f"{kind}|{key}|{int(error.code)}|{error}")
            else:
                stage.acknowledge(key)

    def verify(self, stage: Stage) -> Any:
        vault = stage.vault()
        told = [line for line in stage.acknowledged if "|" not in line]
        self._see(vault, Stage(stage.folder, _untold, stage.disarm, told))
        keys = account(vault)
        refusals = [line.split("|") for line in stage.acknowledged if line.startswith("refused|")]
        assert {key: keys[key] for _, key, _, _ in refusals if keys[key]} == {}
        last = [str(something(number).idempotency_key) for number in range(LIMIT_OF_TRIES)[-3:]]
        assert told[-3:] == last
        vault.close()
        return None


class Counting(Enduring):
    """The same, and whoever wants to know how many operations that are is told."""

    def act(self, stage: Stage) -> Any:
        self.go_on(stage)


class Enriching(Scene):
    """A session becomes memory."""

    events = (
        commit(
            1, "Use advisory locks instead of Redis because we run no Redis.\n\nTODO: document."
        ),
        commit(2, "It must never hold a lock over a network call."),
        NewEvent(kind="capture", text="We will keep the jobs table small, so finished jobs go."),
    )

    def prepare(self, stage: Stage) -> Any:
        vault = stage.vault()
        record.ingest(vault, self.events, "test")
        vault.close()

    def act(self, stage: Stage) -> Any:
        vault = stage.vault()
        job = pipeline.start(vault, None, tools(), silent)
        if job.status != "completed":
            raise StorageFailedError(str(job.error))
        for memory in vault.memories.all():
            stage.acknowledge(memory.memory_id)
        vault.close()

    def verify(self, stage: Stage) -> Any:
        vault = stage.vault()
        account(vault)
        missing = [key for key in stage.acknowledged if vault.memories.get(key) is None]
        assert missing == []
        jobs.mend(vault)
        failed = [job for job in vault.jobs.all() if job.status == "failed"]
        assert all(re.search("interrupted|cannot", str(job.error)) for job in failed)
        (session,) = vault.sessions.timeline()
        job = pipeline.start(vault, session.session_id, tools(), silent)
        assert (job.status, len(vault.jobs), vault.batches.all()) == ("completed", 1, [])
        account(vault)
        return sorted((memory.type, memory.content) for memory in vault.memories.all())


class Compacting(Scene):
    """Closed sessions are compressed."""

    def prepare(self, stage: Stage) -> Any:
        fill(stage.vault_folder, 24)
        vault = stage.vault()
        record.expire(vault)
        vault.close()

    def act(self, stage: Stage) -> Any:
        vault = stage.vault()
        for session in vault.sessions.timeline():
            if session.status == "closed":
                maintenance.compact(vault, SessionParams(session_id=session.session_id))
            stage.acknowledge(session.session_id)
        vault.close()

    def verify(self, stage: Stage) -> Any:
        vault = stage.vault()
        self._see(vault, stage, first=24)
        for session in vault.sessions.timeline():
            is_packed = session.status == "compacted"
            assert is_packed or session.session_id not in stage.acknowledged
            rows = vault.database.rows(
                'SELECT 1 FROM events WHERE "sessionId" = ?', [session.session_id]
            )
            assert bool(rows) is not is_packed
        vault.close()
        self.act(Stage(stage.folder, _untold, stage.disarm, []))
        vault = stage.vault()
        self._see(vault, stage, first=24)
        return [session.status for session in vault.sessions.timeline()]


class Forgetting(Scene):
    """A phrase leaves every file."""

    def prepare(self, stage: Stage) -> Any:
        fill(stage.vault_folder, BEFORE)
        vault = stage.vault()
        record.ingest(vault, [commit(50, f"Hear the {PHRASE} sing", at=moment(50))], "test")
        vault.snapshot()
        vault.cache.put("name", ["nothing"])
        vault.close()
        (stage.folder / "logs").mkdir()

    def act(self, stage: Stage) -> Any:
        vault = stage.vault()
        report = purge.forget_phrase(vault, PHRASE, stage.folder / "logs")
        if report.verified:
            stage.acknowledge("forgotten")
        vault.close()

    def verify(self, stage: Stage) -> Any:
        if stage.acknowledged:
            left = holding(stage.vault_folder, b"heron")
            assert left == [], left
        vault = stage.vault()
        self._see(vault, stage)
        check_copies(stage.vault_folder)
        vault.close()
        self.act(Stage(stage.folder, _untold, stage.disarm, []))
        left = holding(stage.vault_folder, b"heron")
        assert left == [], left
        vault = stage.vault()
        self._see(vault, stage)
        return len(account(vault))


class Importing(Scene):
    """A file that was exported comes in."""

    def prepare(self, stage: Stage) -> Any:
        source = stage.folder.with_name(f"{stage.folder.name}.source")
        source.mkdir(parents=True, exist_ok=True)
        fill(source / "vault", 24)
        vault = opened(source / "vault")
        record.expire(vault)
        (first, *_) = vault.sessions.timeline()
        maintenance.compact(vault, SessionParams(session_id=first.session_id))
        lines = b"\n".join(export.export(vault, project()))
        vault.close()
        stage.folder.mkdir(parents=True)
        stage.folder.with_name(f"{stage.folder.name}.jsonl").write_bytes(lines)

    def act(self, stage: Stage) -> Any:
        lines = stage.folder.with_name(f"{stage.folder.name}.jsonl").read_bytes().split(b"\n")
        home = home_of(stage)
        moved = export.load(home, lines, None)
        stage.acknowledge(str(moved.events))
        home.close()

    def verify(self, stage: Stage) -> Any:
        with contextlib.closing(home_of(stage)) as home:
            keys = account(home.vault(PROJECT))
            assert not stage.acknowledged or len(keys) == 24
            assert not keys or max(keys.values()) == 1
        self.act(Stage(stage.folder, _untold, stage.disarm, []))
        with contextlib.closing(home_of(stage)) as home:
            statuses = [one.status for one in home.vault(PROJECT).sessions.timeline()]
            return [sorted(account(home.vault(PROJECT)).items()), statuses]


class Copying(Scene):
    """Snapshots are taken, one after the other."""

    def act(self, stage: Stage) -> Any:
        vault = stage.vault()
        for number in range(BEFORE, BEFORE + 3):
            record.ingest(vault, [something(number, moment(number))], "test")
            stage.acknowledge(str(something(number).idempotency_key))
            vault.snapshot()
            stage.acknowledge("copied")
        vault.close()

    def verify(self, stage: Stage) -> Any:
        assert check_copies(stage.vault_folder) >= ("copied" in stage.acknowledged)
        vault = stage.vault()
        self._see(vault, stage)
        vault.close()
        self.act(Stage(stage.folder, _untold, stage.disarm, []))
        assert check_copies(stage.vault_folder) >= 1
        return sorted(path.name for path in (stage.vault_folder / snapshots.FOLDER).iterdir())


class Recovering(Scene):
    """A vault whose first page is garbage is opened."""

    def prepare(self, stage: Stage) -> Any:
        fill(stage.vault_folder, 24)
        vault = stage.vault()
        record.expire(vault)
        first, second, *_ = vault.sessions.timeline()
        maintenance.compact(vault, SessionParams(session_id=first.session_id))
        vault.snapshot()
        record.ingest(vault, [something(24, moment(24))], "test")
        maintenance.compact(vault, SessionParams(session_id=second.session_id))
        vault.close()
        with (stage.vault_folder / NAME).open("r+b") as file:
            file.write(os.urandom(100))

    def act(self, stage: Stage) -> Any:
        vault = stage.vault()
        assert vault.sessions.count_events() == 25
        stage.acknowledge("read")
        for number in (25, 26):
            record.ingest(vault, [something(number, moment(number))], "test")
            stage.acknowledge(str(something(number).idempotency_key))
        vault.close()

    def verify(self, stage: Stage) -> Any:
        vault = stage.vault()
        self._see(vault, stage, first=25)
        assert snapshots.reports(stage.vault_folder)
        assert snapshots.sources(stage.vault_folder) == []
        for number in (25, 26):
            record.ingest(vault, [something(number, moment(number))], "test")
        return sorted(account(vault).items())


class Migrating(Scene):
    """A newer version of ourselves opens the vault and adds something to every event's row."""

    def act(self, stage: Stage) -> Any:
        vault = self._newer(stage)
        assert vault.sessions.count_events() == BEFORE
        stage.acknowledge("migrated")
        record.ingest(vault, [something(BEFORE, moment(BEFORE))], "test")
        stage.acknowledge(str(something(BEFORE).idempotency_key))
        vault.close()

    def verify(self, stage: Stage) -> Any:
        vault = self._newer(stage)
        self._see(vault, stage)
        marked = vault.database.row("SELECT count(*) FROM more")[0]
        assert marked == BEFORE
        return marked

    def _newer(self, stage: Stage) -> Vault:
        vault = stage.vault()
        vault.database.version += 1

        def upgrade(database: Database, _version: int) -> None:
            database.execute("CREATE TABLE more (event TEXT PRIMARY KEY)")
            for (key,) in database.rows("SELECT id FROM events"):
                database.execute("INSERT INTO more VALUES (?)", (key,))

        vault.database.upgrade = upgrade
        return vault


class Hearing(Scene):
    """Hooks leave lines, and somebody takes them."""

    def prepare(self, stage: Stage) -> Any:
        stage.folder.mkdir(parents=True)

    def act(self, stage: Stage) -> Any:
        home = str(stage.folder)
        for number in range(4):
            spool.drop(home, f"s{number}{os.getpid()}", b"line %d" % number)
            stage.acknowledge(f"line {number}")

    def verify(self, stage: Stage) -> Any:
        lines = self._take(stage)
        assert [line for line in stage.acknowledged if lines.count(line) != 1] == []
        self.act(Stage(stage.folder, _untold, stage.disarm, []))
        assert self._take(stage) == [f"line {number}" for number in range(4)]
        return spool.is_empty(str(stage.folder))

    def _take(self, stage: Stage) -> list[str]:
        batches = spool.Batches(str(stage.folder))
        lines: list[str] = []
        for name in batches.names():
            lines += [line.decode() for _, line in batches.lines(name)]
            batches.done(name)
        batches.close()
        return [line for line in lines if line in {f"line {number}" for number in range(4)}]


SUMMARY = "Counted everything. The harbours are next."
CONTENTS = tuple(f"{word} are what {word} were" for word in ("apples", "bridges", "candles"))
PARAMS = CheckpointParams(
    memories=tuple(CheckpointMemory(content=text) for text in CONTENTS),
    session_summary=SUMMARY,
    agent_run_id="run",
)


class Checkpointing(Scene):
    """An agent saves what it knows."""

    def prepare(self, stage: Stage) -> Any:
        vault = stage.vault()
        heard(vault, "use uv", test_checkpoints_tools())
        vault.close()

    def act(self, stage: Stage) -> Any:
        vault = stage.vault()
        checkpoints.checkpoint(vault, PARAMS, WHO, test_checkpoints_tools())
        stage.acknowledge("saved")
        vault.close()

    def verify(self, stage: Stage) -> Any:
        vault = stage.vault()
        kept = len(vault.memories)
        assert kept in ({len(CONTENTS) + 1} if stage.acknowledged else {0, len(CONTENTS) + 1})
        assert len(vault.checkpoints) == (kept > 0)
        result = checkpoints.checkpoint(vault, PARAMS, WHO, test_checkpoints_tools())
        assert (result.created + result.skipped, result.failed) == (len(CONTENTS), 0)
        assert [talk.prompt_count for talk in vault.conversations.all()] == [1]
        account(vault)
        return [len(vault.checkpoints), sorted(memory.content for memory in vault.memories.all())]


class Ending(Checkpointing):
    """A conversation ends."""

    params = EndParams(session_key="run", session_summary=SUMMARY)

    def act(self, stage: Stage) -> Any:
        vault = stage.vault()
        finish.end(vault, self.params, WHO, test_checkpoints_tools())
        stage.acknowledge("ended")
        vault.close()

    def verify(self, stage: Stage) -> Any:
        vault = stage.vault()
        assert not stage.acknowledged or len(vault.checkpoints) == 1
        finish.end(vault, self.params, WHO, test_checkpoints_tools())
        account(vault)
        return [
            [saved.trigger for saved in vault.checkpoints.all()],
            [memory.content for memory in vault.memories.all()],
            [note.text for talk in vault.conversations.all() for note in talk.notes],
        ]


class Tracking(Scene):
    """A conversation is followed, prompt by prompt."""

    def act(self, stage: Stage) -> Any:
        vault = stage.vault()
        using = test_checkpoints_tools(prompt_interval=2)
        for number in range(5):
            heard(vault, f"use tool {number}", using, key=f"{number}")
            stage.acknowledge(f"use tool {number}")
        using.buffer.flush()
        vault.close()

    def verify(self, stage: Stage) -> Any:
        vault = stage.vault()
        notes = [note.text for talk in vault.conversations.all() for note in talk.notes]
        assert notes[: len(stage.acknowledged)] == stage.acknowledged
        assert len(notes) == len(set(notes))
        vault.close()
        self.act(Stage(stage.folder, _untold, stage.disarm, []))
        vault = stage.vault()
        account(vault)
        return [
            [note.text for talk in vault.conversations.all() for note in talk.notes],
            [talk.prompt_count for talk in vault.conversations.all()],
        ]


class Turning(Scene):
    """A turn of a conversation is taken in."""

    turn = IngestTurnParams(session_key="run", role="user", content=DECISION, idempotency_key="1")

    def act(self, stage: Stage) -> Any:
        vault = stage.vault()
        settings = Settings(prompt_interval=1000, time_interval_ms=86_400_000)
        hearing = Tools(
            settings=settings, hear=signals.detect, meanings=WORDS, buffer=Buffer(start=idle)
        )
        turns.take(vault, self.turn, WHO, hearing)
        stage.acknowledge("taken")
        vault.close()

    def verify(self, stage: Stage) -> Any:
        if stage.acknowledged:
            vault = stage.vault()
            assert [entry.text for entry in vault.entries.all()] == [DECISION]
            vault.close()
        self.act(Stage(stage.folder, _untold, stage.disarm, []))
        vault = stage.vault()
        account(vault)
        (talk,) = vault.conversations.all()
        said = [entry.text for entry in vault.entries.all()]
        return [said, talk.prompt_count, len(talk.notes), vault.sessions.count_events() - BEFORE]


class Commanding(Scene):
    """A user asks the command line, once in each process."""

    def act(self, stage: Stage) -> Any:
        os.chdir(stage.folder / "repository")
        os.environ["THREADLINE_HOME"] = str(stage.folder / "home")
        said = stage.folder / "said"
        kept = os.dup(1), os.dup(2)
        with said.open("wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        sys.argv = ["threadline", *stage.acknowledged]
        try:
            status = entry.main()
        except SystemExit as error:
            status = int(error.code or 0) if isinstance(error.code, int | None) else 1
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os.dup2(kept[0], 1)
            os.dup2(kept[1], 2)
        return [int(status), said.read_text(errors="replace")]

    def verify(self, stage: Stage) -> Any:
        """Read everything, do what is done at idle, and read everything again."""
        home = home_of(stage)
        vault = home.vault(stage.acknowledged[0])
        maintenance.maintain(vault, Settings())
        self._read(vault)
        maintenance.keep_safe(vault)
        events, memories = self._read(vault)
        told = [msgspec.to_builtins(done) for done in snapshots.reports(vault.folder)]
        home.close()
        return {"events": events, "memories": memories, "reports": told}

    def _read(self, vault: Vault) -> tuple[list[str], list[str]]:
        sessions = vault.sessions.timeline()
        events = [event for one in sessions for event in vault.sessions.arrivals(one.session_id)]
        return (
            sorted(str(event.idempotency_key) for event in events),
            sorted(memory.content for memory in vault.memories.all()),
        )


SCENES: dict[str, Scene] = {
    "open": Opening(),
    "ingest": Ingesting(),
    "endure": Enduring(),
    "count": Counting(),
    "enrich": Enriching(),
    "compact": Compacting(),
    "forget": Forgetting(),
    "import": Importing(),
    "snapshot": Copying(),
    "recover": Recovering(),
    "migrate": Migrating(),
    "hear": Hearing(),
    "checkpoint": Checkpointing(),
    "end": Ending(),
    "track": Tracking(),
    "turn": Turning(),
    "command": Commanding(),
}


def read_on(folder: Path, until: int, tell: int) -> None:
    """Read a vault again and again until a pipe is closed; what is read must always agree with itself."""
    vault = opened(folder / "vault")
    vault.sessions.count_events()
    os.write(tell, b".")
    before = 0
    while True:
        is_over = bool(select.select([until], [], [], 0.001)[0])
        counted, kept, *_ = vault.database.row(AGREE)
        assert counted == kept >= before, f"{counted} events counted, {kept} kept, {before} before"
        before = counted
        if is_over:
            return


def _untold(_text: str) -> None:
    """Tell nobody."""


def home_of(stage: Stage) -> Home:
    return Home(stage.folder / "home", Ids(now), Rule())


def project() -> Project:
    return Project(project_id=PROJECT, name="p", folders=("/work/p",), created_at=NOON)


def heard(vault: Vault, text: str, using: Tools, key: str | None = None) -> None:
    params = TrackParams(session_key="run", prompt=f"Decision: {text}", idempotency_key=key)
    turns.track(vault, params, WHO, using)


__all__ = ["SCENES", "Stage", "read_on", "sqlite3"]
