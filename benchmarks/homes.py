"""A home with one project of the size that years of work give it; what is in it is invented."""

import itertools
import os
import random
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from benchmarks import vocabulary
from benchmarks.sources import PYTHON, Function
from protocol.checkpoints import Checkpoint
from protocol.conversations import Conversation
from protocol.documents import Document
from protocol.events import Event
from protocol.memories import Evidence, Memory, MemoryType
from protocol.messages import Message
from protocol.tasks import Task
from sidecar.app import Application, now, open_application
from sidecar.code.codebase import Codebase
from sidecar.memory import drift
from sidecar.memory.rules.drafts import Draft
from sidecar.memory.rules.drift import Look
from sidecar.storage import ulids
from sidecar.storage.collection import Op
from sidecar.storage.spool import VARIABLE
from sidecar.storage.texts import Text
from sidecar.storage.vault import Vault

MEMORIES = 10_000
ASKED = "Why does the zeppelin mooring ledger refuse gondolas?"
_ANSWER = ("Refuse gondolas in the zeppelin mooring ledger", "They cannot be moored at night.")
AGENT = "claude-code"
_COMMITS, _PER_SESSION = 900, 3
_FILES, _FUNCTIONS = 200, 5
_DAYS = 200
_TALKS, _TASKS = 60, 12
_LATELY = 30
"""Days in which what is still to be done was written down."""
_BATCH = 1_000
_SEED = 9
_AUTHORS = ("Ada", "Grace", "Alan", "Barbara", "Edsger")
_TYPES: dict[MemoryType, int] = {
    "fact": 30,
    "decision": 16,
    "episodic": 14,
    "task": 12,
    "skill": 8,
    "constraint": 8,
    "preference": 6,
    "correction": 6,
}
"""How many in a hundred are of each type."""
_KEPT = (
    *("type", "title", "content", "rationale", "importance", "confidence"),
    *("entities", "tags", "files", "evidence", "anchors"),
)
"""What a memory has of its draft."""


def environment(folder: Path) -> dict[str, str]:
    """Say where the home is that was built in a folder."""
    return dict(os.environ) | {VARIABLE: str(folder / "home")}


def opened(folder: Path) -> Application:
    """Open the product in the home that was built in a folder."""
    here = folder / "repository"
    return open_application(here=here, source="benchmark", environment=environment(folder))


def build(folder: Path) -> Path:
    """Make a repository and its memory in a folder; tell where the repository is."""
    repository = folder / "repository"
    _build_repository(repository)
    with closing(opened(folder)) as app:
        app.call("threadline/scan", {"allAuthors": True})
        vault = app.vault(None)
        _fill(vault, repository)
    return repository


def records(number: int) -> Iterator[Text]:
    """Invent commit messages; the first one answers `ASKED`."""
    chance = random.Random(_SEED)
    for place in range(number):
        said = (vocabulary.text(chance, 8), vocabulary.text(chance, 60)) if place else _ANSWER
        sha = f"{place:040x}"
        yield Text(f"record{place}", "commit", place, "Ada", sha, "", *said, "", "")


def branch_out(folder: Path, branches: int, each: int = 4) -> None:
    """Give the repository that was built in a folder branches with a commit each, and some memories of each commit."""
    repository, stamp = folder / "repository", int(now().timestamp())
    git = ["git", "-C", str(repository)]
    head = subprocess.run([*git, "rev-parse", "main"], capture_output=True, check=True).stdout
    stream = b"".join(
        f"commit refs/heads/feature-{number}\ncommitter Ada <ada@example.org> {stamp} +0000\n"
        f"data <<END\nfeat: {number}\nEND\nfrom {head.decode().strip()}\n".encode()
        + _file(f"features/part{number}.py", _functions(number))
        for number in range(branches)
    )
    subprocess.run([*git, "fast-import", "--quiet"], input=stream, check=True)
    listing = [*git, "for-each-ref", "--format=%(objectname) %(refname:short)", "refs/heads"]
    lines = subprocess.run(listing, capture_output=True, check=True).stdout.decode().splitlines()
    tips = [line.split(" ") for line in lines if "feature-" in line]
    chance = random.Random(_SEED)
    with closing(opened(folder)) as app:
        vault = app.vault(None)
        made = [
            msgspec.structs.replace(
                _keep(vault, chance, _draft(chance, ()), _earlier(vault, chance)),
                branch=name,
                evidence=(Evidence(quote="feat", commit_sha=sha),),
            )
            for sha, name in tips
            for _ in range(each)
        ]
        vault.write([vault.memories.put(one.memory_id, one) for one in made])


def put_memory(vault: Vault, chance: random.Random) -> Op:
    """Invent a memory that an agent writes now, and say how to write it."""
    memory = _keep(vault, chance, _draft(chance, ()), vault.clock())
    return vault.memories.put(memory.memory_id, msgspec.structs.replace(memory, agent_id=AGENT))


def _build_repository(folder: Path) -> None:
    """Make a repository in which a few commits each day change functions, move files and delete them."""
    subprocess.run(["git", "init", "--quiet", "-b", "main", str(folder)], check=True)
    command = ["git", "-C", str(folder), "fast-import", "--quiet"]
    stream = b"".join(_stream(random.Random(_SEED)))
    subprocess.run(command, input=stream, check=True)
    subprocess.run(["git", "-C", str(folder), "reset", "--quiet", "--hard"], check=True)


def _stream(chance: random.Random) -> Iterator[bytes]:
    """Say it in the words of git fast-import."""
    files = {f"part{one % 20}/file{one}.py": _functions(one) for one in range(_FILES)}
    yield _commit(chance, 0)
    for path, functions in files.items():
        yield _file(path, functions)
    for number in range(1, _COMMITS):
        path = chance.choice(list(files))
        yield _commit(chance, number)
        index = chance.randrange(_FUNCTIONS)
        files[path][index] = Function(files[path][index].name, number)
        yield _file(path, files[path])
        if number % 50 == 0:
            yield f"D {path}\n".encode()
            del files[path]
        elif number % 25 == 0:
            yield f"R {path} moved/{path}\n".encode()
            files[f"moved/{path}"] = files.pop(path)


def _functions(number: int) -> list[Function]:
    return [Function(f"do_{number}_{index}", index) for index in range(_FUNCTIONS)]


def _commit(chance: random.Random, number: int) -> bytes:
    """Begin a commit; a few follow each other closely, and then there is a pause."""
    session, place = divmod(number, _PER_SESSION)
    pause = timedelta(days=_DAYS) * _PER_SESSION / _COMMITS
    at = now() - timedelta(days=_DAYS) + session * pause + place * timedelta(minutes=20)
    author = chance.choice(_AUTHORS)
    who = f"{author} <{author.lower()}@example.org> {int(at.timestamp())} +0000"
    message = f"fix: {vocabulary.text(chance, 7)}\n\n{vocabulary.sentences(chance, 3)}"
    return f"commit refs/heads/main\ncommitter {who}\ndata <<END\n{message}\nEND\n".encode()


def _file(path: str, functions: list[Function]) -> bytes:
    text = PYTHON.write(functions).encode()
    return f"M 100644 inline {path}\ndata {len(text)}\n".encode() + text + b"\n"


def _fill(vault: Vault, repository: Path) -> None:
    chance = random.Random(_SEED)
    code = Codebase(repository)
    memories = _memories(vault, chance, code)
    verdicts = drift.check([one for one in memories if one.type != "episodic"], code)
    judged = (
        msgspec.structs.replace(one, verdict=verdict, status="stale")
        if (verdict := verdicts.get(one.memory_id)) == "gone"
        else msgspec.structs.replace(one, verdict=verdict)
        for one in memories
    )
    ops = [vault.memories.put(one.memory_id, one) for one in judged]
    ops += [*_tasks(vault, chance), *_talks(vault, chance, repository), *_words(vault, chance)]
    ops.append(vault.looks.put("last", Look(head=code.at)))
    with vault.transaction():
        while ops:
            vault.write(ops[:_BATCH])
            del ops[:_BATCH]


def _memories(vault: Vault, chance: random.Random, code: Codebase) -> list[Memory]:
    """Make memories of commits, most of them, and of what agents say."""
    seen = [
        event
        for session in vault.sessions.timeline()
        for event in vault.sessions.events(session.session_id)
    ]
    # The first commit holds every file.
    events = seen[1:]
    made = [chance.choice(events) if chance.random() < 5 / 6 else None for _ in range(MEMORIES)]
    drafts = [_draft(chance, [event] if event else ()) for event in made]
    pairs = zip(made, drift.anchor(drafts, code), strict=True)
    return [_made(vault, chance, draft, event) for event, draft in pairs]


def _made(vault: Vault, chance: random.Random, draft: Draft, event: Event | None) -> Memory:
    """Make a memory of an event, or of what an agent or a person said one day."""
    if event is None:
        memory = _keep(vault, chance, draft, _earlier(vault, chance))
        return msgspec.structs.replace(memory, agent_id=chance.choice((AGENT, "cursor", None)))
    memory = _keep(vault, chance, draft, event.occurred_at)
    return msgspec.structs.replace(memory, session_id=event.session_id, job_id=event.session_id)


def _draft(chance: random.Random, events: Sequence[Event]) -> Draft:
    (kind,) = chance.choices(list(_TYPES), list(_TYPES.values()))
    commits = [one.commit for one in events if one.commit]
    return Draft(
        type=kind,
        title=vocabulary.text(chance, 8).capitalize(),
        content=vocabulary.sentences(chance, chance.randrange(2, 9)),
        rationale=vocabulary.sentences(chance, 1) if chance.random() < 1 / 3 else None,
        importance=chance.randint(1, 5),
        confidence=chance.randint(2, 5),
        entities=tuple(vocabulary.word(chance.randrange(500)) for _ in range(2)),
        tags=(vocabulary.word(chance.randrange(100)),),
        files=tuple(change.path for event in events for change in event.files),
        evidence=tuple(Evidence(quote=one.subject, commit_sha=one.sha) for one in commits),
    )


def _keep(vault: Vault, chance: random.Random, draft: Draft, moment: datetime) -> Memory:
    """Give a draft the rest of what a memory has; its id says when it was made."""
    number = ulids.following(0, moment, chance.getrandbits(ulids.CHANCE_BITS))
    return Memory(
        memory_id=ulids.encode(number),
        project_id=vault.project_id,
        branch="main",
        occurred_at=moment,
        created_at=moment,
        updated_at=moment,
        **{name: getattr(draft, name) for name in _KEPT},
    )


def _tasks(vault: Vault, chance: random.Random) -> Iterator[Op]:
    """Give agents something to do; some of it can be checked, and is not done."""
    ways = (None, "path exists: part0/nothing.py", "commit message matches: nobody says so")
    for number, done_when in zip(range(_TASKS), itertools.cycle(ways), strict=False):
        moment = _earlier(vault, chance, _LATELY)
        task = Task(
            task_id=vault.ids.next(),
            project_id=vault.project_id,
            title=vocabulary.text(chance, 8).capitalize(),
            description=vocabulary.sentences(chance, 3),
            priority=chance.randint(1, 5),
            assigned_agent_id=("any", AGENT, "cursor")[number % 3],
            done_when=done_when,
            created_at=moment,
            updated_at=moment,
        )
        yield vault.tasks.put(task.task_id, task)


def _talks(vault: Vault, chance: random.Random, repository: Path) -> Iterator[Op]:
    """Let conversations have taken place, each with saved states."""
    for number in range(_TALKS):
        moment = _earlier(vault, chance)
        talk = Conversation(
            session_key=f"talk-{number}",
            project_id=vault.project_id,
            agent_id=AGENT,
            harness=AGENT,
            project=str(repository),
            project_normalized=str(repository.resolve()),
            began="cold",
            started_at=moment,
            last_seen_at=moment + timedelta(hours=1),
            ended_at=moment + timedelta(hours=1),
            prompt_count=12,
        )
        yield vault.conversations.put(talk.session_key, talk)
        for place in range(3):
            saved = Checkpoint(
                id=f"{number}-{place}",
                session_key=talk.session_key,
                agent_id=AGENT,
                harness=AGENT,
                project=talk.project,
                project_normalized=talk.project_normalized,
                trigger="agent",
                digest=vocabulary.sentences(chance, 12),
                prompt_count=4 * place,
                created_at=moment + place * timedelta(minutes=20),
            )
            yield vault.checkpoints.put(saved.id, saved)


def _words(vault: Vault, chance: random.Random) -> Iterator[Op]:
    """Leave a document and a message for an agent."""
    moment = now()
    soul = Document(
        name="soul",
        project_id=vault.project_id,
        content=vocabulary.sentences(chance, 12),
        created_at=moment,
        updated_at=moment,
    )
    yield vault.documents.put(soul.name, soul)
    message = Message(
        message_id=vault.ids.next(),
        project_id=vault.project_id,
        target_id=AGENT,
        sender_id="cursor",
        content=vocabulary.sentences(chance, 4),
        created_at=moment,
    )
    yield vault.messages.put(message.message_id, message)


def _earlier(vault: Vault, chance: random.Random, days: int = _DAYS) -> datetime:
    return vault.clock() - timedelta(hours=chance.randrange(5, 24 * days))
