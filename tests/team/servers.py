"""A real PostgreSQL, and pgbouncer before it, in temporary folders."""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

USER, PASSWORD = "keeper", "only-for-tests"
_ACCOUNT = "postgres"


def binary(name: str) -> str:
    """Find a program of PostgreSQL; without it tests are skipped, but never where CI has promised it."""
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    found = str(places[0]) if places else shutil.which(name, path=os.defpath + ":/usr/sbin")
    if found is None:
        reason = f"{name} is missing: apt-get install postgresql pgbouncer"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def run(*command: str) -> None:
    """Run a program as an unprivileged user: PostgreSQL refuses to be root."""
    account = _ACCOUNT if os.geteuid() == 0 else None
    done = subprocess.run(
        command, user=account, cwd="/", capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


class Server:
    """A PostgreSQL that can be stopped, killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._data = folder / "data"
        secret = folder / "secret"
        secret.write_text(PASSWORD)
        if os.geteuid() == 0:
            for path in (folder, secret):
                shutil.chown(path, _ACCOUNT)
        run(
            *(binary("initdb"), "-D", str(self._data), "-U", USER, "-A", "scram-sha-256"),
            *("--pwfile", str(secret), "--no-sync", "-E", "UTF8", "--locale=C"),
        )
        self._options = f"-c port={self.port} -c listen_addresses=127.0.0.1 -c fsync=off -c unix_socket_directories="
        self.start()

    @property
    def address(self) -> str:
        return f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        self._control("start", "-l", str(self._data / "log"), "-o", self._options)

    def stop(self, mode: str = "fast") -> None:
        self._control("stop", "-m", mode)

    def _control(self, action: str, *words: str) -> None:
        run(binary("pg_ctl"), "-D", str(self._data), "-w", "-t", "60", action, *words)


@contextlib.contextmanager
def serving() -> Iterator[Server]:
    binary("initdb")
    with tempfile.TemporaryDirectory(prefix="threadline-pg-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        server = Server(folder)
        try:
            yield server
        finally:
            server.stop("immediate")


@contextlib.contextmanager
def pooling(server: Server, user: str, password: str) -> Iterator[str]:
    """Put pgbouncer in transaction mode before a server; give the address."""
    with tempfile.TemporaryDirectory(prefix="threadline-pool-") as name:
        folder, port = Path(name), free_port()
        (folder / "users").write_text(f'"{user}" "{password}"\n')
        (folder / "pool.ini").write_text(
            f"[databases]\npostgres = host=127.0.0.1 port={server.port}\n[pgbouncer]\n"
            f"listen_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = plain\nauth_file = {folder}/users\n"
            "pool_mode = transaction\nunix_socket_dir =\nmax_client_conn = 50\ndefault_pool_size = 2\n"
        )
        folder.chmod(0o755)
        account = _ACCOUNT if os.geteuid() == 0 else None
        process = subprocess.Popen(
            [binary("pgbouncer"), "-q", str(folder / "pool.ini")],
            user=account,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            for _ in range(600):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                process.poll()
            yield f"postgresql://{user}:{password}@127.0.0.1:{port}/postgres"
        finally:
            process.terminate()
            process.communicate()


class _Backend(BaseHTTPRequestHandler):
    """Serves git over smart HTTP, through git's own program."""

    root: Path

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b"".join(iter(self._chunk, b""))
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._serve(body)

    def log_message(self, *_words: object) -> None:
        """Say nothing."""

    def _chunk(self) -> bytes:
        size = int(self.rfile.readline(), 16)
        chunk = self.rfile.read(size)
        self.rfile.readline()
        return chunk

    def _serve(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=environment, capture_output=True, check=False
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextlib.contextmanager
def publishing(root: Path) -> Iterator[str]:
    """Serve the repositories below a folder over smart HTTP; give the address."""
    handler = type("Backend", (_Backend,), {"root": root})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_address[1]}"
        finally:
            http.shutdown()
            thread.join()


class Proxy:
    """Stands before a server, and cuts every connection after some bytes."""

    def __init__(self, port: int) -> None:
        self._target, self.left = port, 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._copy, args=ends, daemon=True).start()

    def _copy(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while (chunk := source.recv(512)) and self.left > 0:
                self.left -= len(chunk)
                target.sendall(chunk)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
