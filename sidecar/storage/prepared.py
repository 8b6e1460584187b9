"""Prepared start contexts, as a hook reads them: with the standard library, read-only, and without waiting.

Whatever is wrong with a file here means that nothing is prepared. A row says what it was made from; a hook that finds
it otherwise now builds the context itself. Only a few modules are loaded: a hook pays for each.
"""

import os
import stat
import time
from _blake2 import blake2b

from protocol.versions import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _sqlite3 import Connection
    from typing import Any

PERSONAL_ID = "706572736f6e00000000"
"""The id of the person's own project (`person` in hex), which every context depends on; here, because hooks need it."""
CACHE, VAULT = "cache.sqlite", "vault.sqlite"
SCHEMA = """
CREATE TABLE IF NOT EXISTS prepared (folder TEXT NOT NULL, host TEXT NOT NULL, asked REAL NOT NULL, made REAL NOT NULL,
standing TEXT NOT NULL, head TEXT NOT NULL, seq INTEGER NOT NULL, erasures INTEGER NOT NULL, is_whole INTEGER NOT NULL,
watched TEXT NOT NULL, items TEXT NOT NULL, text TEXT NOT NULL, receipt TEXT NOT NULL, PRIMARY KEY (folder, host));
"""
TOLD = ("memories", "tasks", "documents", "checkpoints")
"""Collections whose records a context quotes: once a quoted one has changed, the context is not told any more."""
NEWS = ("messages", "tasks", "documents", "checkpoints", "conversations", "links")
"""Collections whose every change is news that a context must not lack where there is time to build another."""
MADE_OF = (*TOLD, "conversations", "agents", "messages", "jobs", "links", "sessions")
"""Collections whose every change makes another context."""
ASKED_WITHIN = 30 * 86_400.0
"""Seconds after which a context is not prepared any more for who has not asked."""
_DAY = 86_400.0
"""Seconds after which a context is built anew where there is time: it tells what was lately."""
_MOST = 16 * 1024 * 1024
_LOG_END = 64 * 1024
_LINKS = 5
_SHAS = (40, 64)
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Ready:
    """A context that was prepared, and whether it may be told."""

    def __init__(
        self, told: "tuple[str, str]", head: str, *, is_fresh: bool, is_latest: bool
    ) -> None:
        """Hold the text for the host, and the receipt of it as JSON."""
        self.text, self.receipt = told
        self.head = head
        self.is_fresh = is_fresh
        """Whether it may be told at once; if not, only where there is no time to build another."""
        self.is_latest = is_latest
        """Whether another one would say the same."""


def read(home: str, project: str, place: tuple[str, str], session_key: str) -> Ready | None:
    """Return what was prepared for a folder and a host, if every record it quotes is as it was; None otherwise.

    It is fresh where nothing else has changed that the context depends on, and the conversation is a new one.
    """
    import _sqlite3  # noqa: PLC0415  # who only captures does without

    try:
        return _read(home, project, place, session_key)
    except (_sqlite3.Error, OSError, ValueError):
        return None


def wanted(folder: str) -> list[tuple[str, str]]:
    """Return the folders and hosts for which contexts are prepared in a project, who asked last first."""
    import _sqlite3  # noqa: PLC0415  # likewise

    query = "SELECT folder, host FROM prepared WHERE asked > ? ORDER BY asked DESC"
    try:
        return _rows(f"{folder}/{CACHE}", query, (time.time() - ASKED_WITHIN,))
    except (_sqlite3.Error, OSError):
        return []


def find_git(top: str) -> tuple[str, str]:
    """Return where git keeps the HEAD of a working tree, and what all its working trees share; empty without git."""
    git = f"{top}/.git"
    if os.path.isfile(git):
        pointer = _text(git)
        if not pointer.startswith("gitdir: "):
            return "", ""
        git = os.path.join(top, pointer.removeprefix("gitdir: ").strip())
    if not os.path.isfile(f"{git}/HEAD"):
        return "", ""
    shared = _text(f"{git}/commondir").strip()
    return git, os.path.realpath(os.path.join(git, shared) if shared else git)


def find_head(top: str) -> str | None:
    """Return branch and commit of HEAD; an empty text without git, None where its files do not tell."""
    git, common = find_git(top)
    if not git:
        return None if os.path.lexists(f"{top}/.git") else ""
    content = branch = _text(f"{git}/HEAD").strip()
    for _ in range(_LINKS):
        if not content.startswith("ref: "):
            break
        name = content.removeprefix("ref: ").strip()
        content = _text(f"{common}/{name}").strip() or _packed(common, name)
    is_known = len(content) in _SHAS and content.isalnum()
    return f"{branch} {content}" if is_known else None


def standing(home: str, project: str) -> str:
    """Return what a context depends on beside its project's records and its code.

    That is our version, the user's settings and the person's own memories.
    """
    chosen = blake2b(_bytes(f"{home}/settings.json"), digest_size=12).hexdigest()
    return f"{VERSION} {project} {chosen}{_personal(home)}"


def _personal(home: str) -> str:
    """Return what changes with each change of the person's own memories; what cannot be read is never the same."""
    import _sqlite3  # noqa: PLC0415  # likewise

    path = f"{home}/projects/{PERSONAL_ID}/{VAULT}"
    if not os.path.lexists(path):
        return ""
    query = "SELECT revision, erasures FROM collections, state WHERE name = 'memories'"
    try:
        return "".join(f" {revision}.{erasures}" for revision, erasures in _rows(path, query, ()))
    except (_sqlite3.Error, OSError):
        return f" {time.time_ns()}"


def _read(home: str, project: str, place: tuple[str, str], session_key: str) -> Ready | None:
    folder, top = f"{home}/projects/{project}", find_top(place[0])
    rows = _rows(
        f"{folder}/{CACHE}",
        "SELECT head, made, seq, erasures, is_whole, watched, items, text, receipt"
        " FROM prepared WHERE folder = ? AND host = ? AND made > 0 AND standing = ?",
        (*place, standing(home, project)),
    )
    if not rows:
        return None
    head, made, seq, erasures, is_whole, watched, items, text, receipt = rows[0]
    vault = open_file(f"{folder}/{VAULT}")
    try:
        revisions = dict(vault.execute("SELECT name, revision FROM collections").fetchall())
        if vault.execute("SELECT erasures FROM state").fetchone()[0] != erasures:
            return None
        moved = {name for name, revision in revisions.items() if revision > seq}
        if any(not _is_unchanged(vault, name, items, seq) for name in TOLD if name in moved):
            return None
        is_known = vault.execute("SELECT 1 FROM conversations WHERE id = ?", (session_key,))
        is_new = is_known.fetchone() is None
    finally:
        vault.close()
    now_at = find_head(top)
    if now_at is None or (head != now_at and not _has_been_at(top, head)):
        return None
    is_young = 0 <= time.time() - made < _DAY
    is_as_seen = head == now_at and is_young and _are_as_seen(top, watched)
    is_fresh = is_as_seen and is_new and bool(is_whole) and moved.isdisjoint(NEWS)
    is_latest = is_as_seen and moved.isdisjoint(MADE_OF)
    return Ready((text, receipt), head, is_fresh=is_fresh, is_latest=is_latest)


def find_top(root: str) -> str:
    """Name the folder at the top of a repository, without asking git; outside of one, the folder itself."""
    real = folder = os.path.realpath(root)
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return real
        folder = above
    return folder


def watch(top: str, paths: "list[str]") -> str:
    """Write down which paths of a working tree are there."""
    return "\n".join(f"{'+' if os.path.exists(f'{top}/{path}') else '-'}{path}" for path in paths)


def _are_as_seen(top: str, watched: str) -> bool:
    paths = [line[1:] for line in watched.split("\n") if line]
    return watch(top, paths) == watched


def _is_unchanged(vault: "Connection", name: str, items: str, seq: int) -> bool:
    found = vault.execute(
        f"SELECT count(*), max(seq) FROM {name} WHERE id IN (SELECT value FROM json_each(?, ?))",  # noqa: S608  # a constant
        (items, f"$.{name}"),
    ).fetchone()
    wanted = vault.execute("SELECT json_array_length(?, ?)", (items, f"$.{name}")).fetchone()[0]
    return found[0] == (wanted or 0) and (found[1] or 0) <= seq


def _has_been_at(top: str, head: str) -> bool:
    commit = head.rpartition(" ")[2]
    if not commit:
        return False
    log = f"{find_git(top)[0]}/logs/HEAD"
    return commit.encode() in _bytes(log, max(0, os.stat(log).st_size - _LOG_END))


def _rows(path: str, query: str, values: tuple[object, ...]) -> "list[Any]":
    database = open_file(path)
    try:
        return list(database.execute(query, values))
    finally:
        database.close()


def open_file(path: str) -> "Connection":
    """Open a file to read it as it is now; one that somebody holds for himself is none."""
    import _sqlite3  # noqa: PLC0415  # likewise

    # SQLite would wait at a pipe for whoever writes into it.
    if any(_is_odd(f"{path}{suffix}") for suffix in ("", "-wal", "-shm")):
        raise OSError(f"{path} is no file")
    escaped = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return _sqlite3.connect(f"file:{escaped}?mode=ro", uri=True, timeout=0.05)


def _is_odd(path: str) -> bool:
    """Whether something that is no file stands at a path."""
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False


def _packed(common: str, name: str) -> str:
    wanted = f" {name}\n"
    packed = _text(f"{common}/packed-refs")
    end = packed.find(wanted)
    return "" if end < 0 else packed[packed.rfind("\n", 0, end) + 1 : end]


def _text(path: str) -> str:
    return _bytes(path).decode("utf-8", "surrogateescape")


def _bytes(path: str, start: int = 0) -> bytes:
    """Read a plain file; a pipe or a device in its place is not waited for."""
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError:
        return b""
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            return b""
        os.lseek(descriptor, start, os.SEEK_SET)
        return os.read(descriptor, min(facts.st_size - start, _MOST))
    except (OSError, ValueError):
        return b""
    finally:
        os.close(descriptor)
