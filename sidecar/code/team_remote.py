"""A team's logs on a git remote: our own bare repository, one ref for each writer.

A ref's commit has no parent and holds the whole log, in files of a few hundred entries: git sends what is new, and
what is withdrawn is in no history. The chain of hashes, not git, says whether a log is as it was.
"""

import tempfile
import time
from pathlib import Path

import msgspec

from protocol.errors import ConflictError, TeamFailedError
from sidecar.code import git
from sidecar.storage.team.entries import DivergedError, Entry, Facts

_SEGMENT = 256
"""Entries in one file."""
_SECONDS = 60.0
_PROTOCOLS = "file:http:https:ssh:git"
_ME = ("-c", "user.name=threadline", "-c", "user.email=threadline@localhost")
_TEAM = "team"
"""The ref, beside those of the writers, that says which team it is."""
_REJECTED = ("rejected", "stale info", "failed to update ref", "reference already exists")


class GitEngine:
    """The logs of one project on a remote."""

    def __init__(self, repository: Path, address: str, project: str) -> None:
        self._repository, self._address = repository, address
        self._refs = f"refs/threadline/{project}"
        if not (repository / "HEAD").exists():
            repository.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._run("init", "--bare", "--quiet", str(repository))

    # Logs

    def append(self, entries: list[Entry]) -> None:
        """Add entries of one writer, durably; raises DivergedError where the log has other ones there."""
        writer = entries[0].writer
        self._fetch()
        kept, told = self._log(self._own(writer)), self._log(self._remote(writer))
        known = {entry.sequence: entry.digest for entry in kept + entries}
        if any(known.get(entry.sequence) != entry.digest for entry in told):
            raise DivergedError(f"the log of {writer} goes on otherwise")
        longest = max(kept, told, key=len)
        fresh = [entry for entry in entries if entry.sequence > len(longest)]
        self._publish(writer, [*longest, *fresh])

    def since(self, cursor: dict[str, int], limit: int) -> list[Entry]:
        """Return up to `limit` entries behind the cursor, each log in its order; what cannot be read is refused later."""
        self._fetch()
        found: list[Entry] = []
        for writer in self._writers():
            known = cursor.get(writer, 0)
            if len(found) < limit:
                found += self._behind(writer, known)[: limit - len(found)]
        return found

    def heads(self) -> dict[str, int]:
        """Return the last sequence number of each writer."""
        self._fetch()
        return {writer: self._length(writer) for writer in self._writers()}

    def withdraw(self, places: list[tuple[str, int]]) -> None:
        """Empty payloads of this machine's own entries; each machine does so with its own."""
        for writer in {writer for writer, _ in places}:
            log = self._log(self._own(writer))
            gone = {sequence for name, sequence in places if name == writer}
            if any(entry.sequence in gone and entry.payload for entry in log):
                emptied = [
                    msgspec.structs.replace(entry, payload=b"") if entry.sequence in gone else entry
                    for entry in log
                ]
                self._fetch()
                self._publish(writer, emptied)
        self._run("reflog", "expire", "--expire=now", "--all")
        self._run("gc", "--quiet", "--prune=now", seconds=_SECONDS)

    def notified(self, seconds: float) -> bool:
        """Wait, and return False: a git remote tells nobody."""
        time.sleep(seconds)
        return False

    def close(self) -> None:
        """Nothing is kept open."""

    # The team

    def facts(self) -> Facts | None:
        """Return what the remote says of the team; None where nobody has set one up for the project."""
        self._fetch()
        raw = self._read(f"{self._refs}/{_TEAM}", "team.json")
        return None if raw is None else msgspec.json.decode(raw, type=Facts)

    def found(self, facts: Facts) -> str:
        """Say on the remote that there is a team; return the address that its members use."""
        if self.facts() is not None:
            raise ConflictError(
                "there is a team for this project already; `threadline team join` joins it"
            )
        self._tell(facts)
        return self._address

    def update_key_check(self, key_check: str) -> None:
        """Let members tell whether their key is the current one."""
        facts = self.facts()
        if facts is not None:
            self._tell(msgspec.structs.replace(facts, key_check=key_check))

    def _tell(self, facts: Facts) -> None:
        commit = self._commit({"team.json": msgspec.json.encode(facts)})
        self._push(commit, f"{self._refs}/{_TEAM}")

    # Inside

    def _own(self, writer: str) -> str:
        """Name the ref that holds what this machine has written, which no fetch changes."""
        return f"refs/own/{writer}"

    def _remote(self, writer: str) -> str:
        return f"{self._refs}/{writer}"

    def _fetch(self) -> None:
        refs = f"+{self._refs}/*:{self._refs}/*"
        words = ("fetch", "--quiet", "--no-tags", "--prune", "--no-write-fetch-head")
        self._run(*words, "--", self._address, refs, is_remote=True)

    def _writers(self) -> list[str]:
        output = self._run("for-each-ref", "--format=%(refname)", self._refs)
        names = [line.rpartition("/")[2] for line in output.decode().splitlines()]
        return [name for name in names if name != _TEAM]

    def _files(self, ref: str) -> list[str]:
        code, output, _ = self._ask("ls-tree", "--name-only", ref)
        return sorted(output.decode().split()) if code == 0 else []

    def _read(self, ref: str, name: str) -> bytes | None:
        code, output, _ = self._ask("cat-file", "blob", f"{ref}:{name}")
        return output if code == 0 else None

    def _segment(self, ref: str, name: str) -> list[Entry]:
        """Read entries; raises ValueError where there are none that can be read."""
        raw = self._read(ref, name)
        if raw is None:
            raise ValueError(f"{name} cannot be read")
        return [msgspec.json.decode(line, type=Entry) for line in raw.splitlines()]

    def _log(self, ref: str) -> list[Entry]:
        return [entry for name in self._files(ref) for entry in self._segment(ref, name)]

    def _length(self, writer: str) -> int:
        names = self._files(self._remote(writer))
        try:
            return self._segment(self._remote(writer), names[-1])[-1].sequence
        except (ValueError, IndexError):
            return 0

    def _behind(self, writer: str, known: int) -> list[Entry]:
        """Return a writer's entries behind a number; one that will be refused where its log was cut or cannot be read."""
        ref = self._remote(writer)
        names = [name for name in self._files(ref) if name >= _file(known + 1)]
        try:
            log = [entry for name in names for entry in self._segment(ref, name)]
        except ValueError:
            return [_nothing(writer, known)]
        if any(entry.writer != writer for entry in log):
            return [_nothing(writer, known)]
        fresh = [entry for entry in log if entry.sequence > known]
        is_cut = not fresh and self._length(writer) < known
        return [_nothing(writer, known)] if is_cut else fresh

    def _publish(self, writer: str, log: list[Entry]) -> None:
        """Make the remote's ref hold a log, unless somebody else has changed it since it was fetched."""
        segments: dict[str, list[bytes]] = {}
        for entry in log:
            segments.setdefault(_file(entry.sequence), []).append(
                msgspec.json.encode(entry) + b"\n"
            )
        commit = self._commit({name: b"".join(lines) for name, lines in segments.items()})
        self._push(commit, self._remote(writer))
        self._run("update-ref", self._own(writer), commit)

    def _commit(self, contents: dict[str, bytes]) -> str:
        lines = [
            f"100644 blob {self._run('hash-object', '-w', '--stdin', data=data).decode().strip()}\t{name}\n"
            for name, data in sorted(contents.items())
        ]
        tree = self._run("mktree", data="".join(lines).encode()).decode().strip()
        return self._run(*_ME, "commit-tree", "-m", "Threadline", tree).decode().strip()

    def _push(self, commit: str, ref: str) -> None:
        code, output, _ = self._ask("rev-parse", "--verify", "--quiet", ref)
        expected = output.decode().strip() if code == 0 else ""
        lease = f"--force-with-lease={ref}:{expected}"
        words = ("push", "--quiet", "--porcelain", lease, "--", self._address, f"{commit}:{ref}")
        code, output, problem = self._ask(*words, is_remote=True)
        if code and any(word in git.text(output) + problem for word in _REJECTED):
            raise DivergedError(f"{ref} was changed by somebody else meanwhile")
        if code:
            raise _failed("push to", self._address, problem)
        self._run("update-ref", ref, commit)

    def _run(
        self,
        *command: str,
        is_remote: bool = False,
        data: bytes | None = None,
        seconds: float = git.TIMEOUT,
    ) -> bytes:
        code, output, problem = self._ask(*command, is_remote=is_remote, data=data, seconds=seconds)
        if code:
            raise _failed(
                command[0], self._address if is_remote else str(self._repository), problem
            )
        return output

    def _ask(
        self,
        *command: str,
        is_remote: bool = False,
        data: bytes | None = None,
        seconds: float = git.TIMEOUT,
    ) -> tuple[int, bytes, str]:
        words = ("--git-dir", str(self._repository), *command)
        protocols, seconds = (_PROTOCOLS, _SECONDS) if is_remote else ("none", seconds)
        with tempfile.TemporaryFile() as file:
            file.write(data or b"")
            file.seek(0)
            return git.ask(
                self._repository, *words, stdin=file, seconds=seconds, protocols=protocols
            )


def _file(sequence: int) -> str:
    return f"{(sequence - 1) // _SEGMENT:08d}"


def _nothing(writer: str, known: int) -> Entry:
    """Return an entry that nobody believes: the log does not go on as it was known."""
    return Entry(
        project="", writer=writer, sequence=known, clock="", previous="", digest="", payload=b""
    )


def _failed(what: str, place: str, problem: str) -> TeamFailedError:
    return TeamFailedError(f"git cannot {what} {place}: {problem.strip() or 'it said nothing'}")
