"""Logs in a PostgreSQL-wire database: PostgreSQL, CockroachDB, YugabyteDB, Citus.

Plain SQL over two tables whose primary keys begin with team, project and writer. Nothing is numbered across
writers, and each writer updates rows of its own only. LISTEN only shortens the wait, where it works.
"""

import contextlib
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any, LiteralString
from urllib.parse import urlencode

from protocol.errors import TeamFailedError
from sidecar.storage.team.entries import DivergedError, Entry, Facts

try:
    import psycopg
    from psycopg import conninfo, sql
except ImportError as error:
    raise TeamFailedError(
        "a team on a PostgreSQL server needs psycopg: pip install 'threadline[team]'"
    ) from error

VERSION = 1
_SECONDS = 10
"""To connect, and until what was sent must have arrived."""
_SILENCE = 30.0
"""Seconds after which a server that says nothing is hung up on: it may be stopped, or a proxy may swallow all."""
_LOCAL_HOSTS = ("", "localhost", "127.0.0.1", "::1")
_MADE: LiteralString = """
CREATE SCHEMA IF NOT EXISTS threadline;
CREATE TABLE IF NOT EXISTS threadline.teams (team text PRIMARY KEY, id text NOT NULL, version int NOT NULL,
  key_check text NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS threadline.heads (team text NOT NULL, project text NOT NULL, writer text NOT NULL,
  sequence bigint NOT NULL, seen_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (team, project, writer));
CREATE TABLE IF NOT EXISTS threadline.entries (team text NOT NULL, project text NOT NULL, writer text NOT NULL,
  sequence bigint NOT NULL, clock text NOT NULL, previous text NOT NULL, digest text NOT NULL, payload bytea NOT NULL,
  stored_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (team, project, writer, sequence))
"""
_TABLES: tuple[LiteralString, ...] = ("teams", "heads", "entries")
_GRANTS: tuple[LiteralString, ...] = (
    "GRANT USAGE ON SCHEMA threadline TO {role}",
    "GRANT SELECT, UPDATE (key_check) ON threadline.teams TO {role}",
    "GRANT SELECT, INSERT, UPDATE ON threadline.heads TO {role}",
    "GRANT SELECT, INSERT, UPDATE (payload) ON threadline.entries TO {role}",
)
_COLUMNS = "project, writer, sequence, clock, previous, digest, payload"
HEADS: LiteralString = (
    "SELECT writer, sequence FROM threadline.heads WHERE team = %s AND project = %s"
)
SINCE: LiteralString = (
    "SELECT project, writer, sequence, clock, previous, digest, payload FROM threadline.entries"
    " WHERE team = %s AND project = %s AND writer = %s AND sequence > %s"
    " ORDER BY sequence LIMIT %s"
)
_APPEND: LiteralString = (
    "INSERT INTO threadline.entries (team, project, writer, sequence, clock, previous, digest, payload)"
    " SELECT %s, %s, %s, told.* FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[], %s::bytea[])"
    " AS told ON CONFLICT DO NOTHING"
)
_ADVANCE: LiteralString = (
    "INSERT INTO threadline.heads AS known (team, project, writer, sequence) VALUES (%s, %s, %s, %s)"
    " ON CONFLICT (team, project, writer) DO UPDATE SET sequence = greatest(known.sequence, excluded.sequence),"
    " seen_at = now()"
)
_WITHDRAW: LiteralString = (
    "UPDATE threadline.entries SET payload = '' WHERE team = %s AND project = %s AND writer = %s"
    " AND sequence = ANY(%s)"
)


class PostgresEngine:
    """The logs of one project, for the role that the address names."""

    def __init__(self, address: str, project: str) -> None:
        self._address, self._project = address, project
        self._connection: psycopg.Connection[Any] | None = None
        self._is_listening, self._can_listen = False, True
        self._team = ""
        """The role we are connected as; compared as a value, since an index does not find `current_user`."""

    def append(self, entries: list[Entry]) -> None:
        """Add entries of one writer, durably; raises DivergedError where the log has other ones there."""
        columns = zip(
            *((one.sequence, one.clock, one.previous, one.digest, one.payload) for one in entries),
            strict=True,
        )
        writer = entries[0].writer
        with self._used() as connection, connection.transaction():
            added = connection.execute(
                _APPEND, (self._team, self._project, writer, *map(list, columns))
            )
            if added.rowcount != len(entries):
                self._compare(connection, entries)
            connection.execute(_ADVANCE, (self._team, self._project, writer, entries[-1].sequence))
        self._notify()

    def since(self, cursor: dict[str, int], limit: int) -> list[Entry]:
        """Return up to `limit` entries behind the cursor, each log in its order; one query where nothing is new."""
        found: list[Entry] = []
        for writer, head in sorted(self.heads().items()):
            known = cursor.get(writer, 0)
            if head > known and len(found) < limit:
                found += self._read(writer, known, limit - len(found))
        return found

    def heads(self) -> dict[str, int]:
        """Return the last sequence number of each writer."""
        with self._used() as connection:
            return dict(connection.execute(HEADS, (self._team, self._project)).fetchall())

    def withdraw(self, places: list[tuple[str, int]]) -> None:
        """Empty the payloads of entries, whoever wrote them: what is purged must not wait for machines that are off."""
        with self._used() as connection, connection.transaction():
            for writer in {writer for writer, _ in places}:
                numbers = [sequence for name, sequence in places if name == writer]
                connection.execute(_WITHDRAW, (self._team, self._project, writer, numbers))

    def notified(self, seconds: float) -> bool:
        """Wait for news no longer than this; False where none came, or the server cannot tell."""
        if not self._can_listen:
            time.sleep(seconds)
            return False
        with self._used(seconds + _SILENCE) as connection:
            if not self._is_listening:
                try:
                    connection.execute(sql.SQL("LISTEN {}").format(self._channel()))
                except psycopg.errors.DatabaseError:
                    self._can_listen = False
                    return False
                self._is_listening = True
            return bool(list(connection.notifies(timeout=seconds, stop_after=1)))

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._connection.close()
        self._connection, self._is_listening = None, False

    def facts(self) -> Facts | None:
        """Return what the database says of the team; None where nobody has set it up for this role."""
        query: LiteralString = (
            "SELECT id, key_check FROM threadline.teams WHERE team = current_user::text"
        )
        try:
            with self._used() as connection:
                row = connection.execute(query).fetchone()
        except _MissingError:
            return None
        return row and Facts(team_id=row[0], key_check=row[1])

    def found(self, facts: Facts) -> str:
        """Make tables and a role for a team; return the address that its members use.

        Where the user of the address may make no role, it is the team's own.
        """
        with self._used() as connection, connection.transaction():
            for statement in _MADE.split(";"):
                connection.execute(statement)
            for table in _TABLES:
                self._protect(connection, table)
            member = self._make_role(connection, facts.team_id)
            role = member or str(connection.info.user)
            connection.execute(
                "INSERT INTO threadline.teams (team, id, version, key_check) VALUES (%s, %s, %s, %s)",
                (role.partition(":")[0], facts.team_id, VERSION, facts.key_check),
            )
        if not member:
            return self._address
        name, _, password = member.partition(":")
        return _with_user(self._address, name, password)

    def update_key_check(self, key_check: str) -> None:
        """Let members tell whether their key is the current one."""
        with self._used() as connection:
            connection.execute(
                "UPDATE threadline.teams SET key_check = %s WHERE team = current_user::text",
                (key_check,),
            )

    # Inside

    def _make_role(self, connection: "psycopg.Connection[Any]", team_id: str) -> str:
        query: LiteralString = (
            "SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user"
        )
        row = connection.execute(query).fetchone()
        if not row or not row[0]:
            return ""
        name, password = f"threadline_{team_id}", secrets.token_urlsafe(24)
        role = sql.Identifier(name)
        connection.execute(
            sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(role, sql.Literal(password))
        )
        for grant in _GRANTS:
            connection.execute(sql.SQL(grant).format(role=role))
        return f"{name}:{password}"

    def _protect(self, connection: "psycopg.Connection[Any]", table: LiteralString) -> None:
        """Let a role see and write its own team's rows only."""
        name = sql.SQL("threadline.") + sql.SQL(table)
        query: LiteralString = (
            "SELECT 1 FROM pg_policies WHERE schemaname = 'threadline' AND tablename = %s"
        )
        if connection.execute(query, (table,)).fetchone():
            return
        connection.execute(sql.SQL("ALTER TABLE {} ENABLE ROW LEVEL SECURITY").format(name))
        policy = "CREATE POLICY own_team ON {} USING (team = current_user::text) WITH CHECK (team = current_user::text)"
        connection.execute(sql.SQL(policy).format(name))

    def _read(self, writer: str, after: int, limit: int) -> list[Entry]:
        with self._used() as connection:
            rows = connection.execute(
                SINCE, (self._team, self._project, writer, after, limit)
            ).fetchall()
        names = _COLUMNS.split(", ")
        return [Entry(**dict(zip(names, row, strict=True))) for row in rows]

    def _compare(self, connection: "psycopg.Connection[Any]", entries: list[Entry]) -> None:
        """Raise where the log has other entries than these: what was sent before may be sent again."""
        first = entries[0]
        values = (self._team, self._project, first.writer, first.sequence - 1, len(entries))
        rows = connection.execute(SINCE, values).fetchall()
        if [row[5] for row in rows] != [entry.digest for entry in entries]:
            raise DivergedError(f"the log of {first.writer} goes on otherwise")

    def _notify(self) -> None:
        # Not every engine has it, and not every pooler lets it through.
        with contextlib.suppress(TeamFailedError), self._used() as connection:
            connection.execute(sql.SQL("NOTIFY {}").format(self._channel()))

    def _channel(self) -> sql.Identifier:
        return sql.Identifier(f"threadline_{self._project}")

    @contextlib.contextmanager
    def _used(self, seconds: float | None = None) -> Iterator["psycopg.Connection[Any]"]:
        """Yield an open connection for so long; what goes wrong is said in our words, and the next use opens another."""
        try:
            if self._connection is None or self._connection.closed:
                self._connection, self._team = _connect(self._address), ""
                self._is_listening = False
            with _limited(self._connection, seconds or _SILENCE):
                if not self._team:
                    row = self._connection.execute("SELECT current_user::text").fetchone()
                    self._team = str(row and row[0])
                yield self._connection
        except psycopg.errors.UndefinedTable as error:
            raise _MissingError(
                "the database has no tables for teams; `team init` makes them"
            ) from error
        except psycopg.Error as error:
            self.close()
            raise TeamFailedError(
                f"the team's database did not do it: {str(error).strip()}"
            ) from error


class _MissingError(TeamFailedError):
    """There are no tables yet."""


def _connect(address: str) -> "psycopg.Connection[Any]":
    settings = conninfo.conninfo_to_dict(address)
    host = str(settings.get("host") or "")
    if host not in _LOCAL_HOSTS and not host.startswith("/"):
        settings.setdefault("sslmode", "verify-full")
        if settings["sslmode"] == "verify-full":
            settings.setdefault("sslrootcert", "system")
    settings.setdefault("connect_timeout", _SECONDS)
    settings.setdefault("tcp_user_timeout", _SECONDS * 1000)
    # Poolers hand a connection to others between transactions: nothing may be prepared on it.
    written = conninfo.make_conninfo("", **settings)
    return psycopg.connect(written, autocommit=True, prepare_threshold=None)


@contextlib.contextmanager
def _limited(connection: "psycopg.Connection[Any]", seconds: float) -> Iterator[None]:
    """Hang up after so many seconds, so that whoever waits for an answer gets an error instead."""
    timer = threading.Timer(seconds, _hang_up, (connection,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _hang_up(connection: "psycopg.Connection[Any]") -> None:
    # Closing it here would wait for the same answer; its socket can be shut from any thread.
    with (
        contextlib.suppress(OSError, psycopg.Error),
        socket.socket(fileno=os.dup(connection.fileno())) as end,
    ):
        end.shutdown(socket.SHUT_RDWR)


def _with_user(address: str, name: str, password: str) -> str:
    """Return the address for another user."""
    rest = {key: str(value) for key, value in conninfo.conninfo_to_dict(address).items()}
    host, port, database = (rest.pop(key, "") for key in ("host", "port", "dbname"))
    rest |= {"host": host} if host.startswith("/") else {}
    place = "" if host.startswith("/") else host
    query = urlencode({key: rest[key] for key in rest if key not in {"user", "password"}})
    return f"postgresql://{name}:{password}@{place}:{port or 5432}/{database}{'?' * bool(query)}{query}"
