"""Golden transcripts: conversations between a client and the server, line by line.

    python -m tests.replays     play them all, and write down what the server says now

A transcript begins with its scene (the commits of the repository it plays in); every other line is a
message and who sent it. What differs from run to run stands as `<ulid 1>`, `<time>` and the like, in the
order of appearance; a client may quote it.
"""

import functools
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.lsp_client import RawClient
from tests.support import ROOT, Repository

TRANSCRIPTS = ROOT / "protocol" / "transcripts"
_VOLATILE = {
    "ulid": re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b"),
    "uuid": re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
    "receipt": re.compile(r'(?<="receiptId": ")[0-9a-f]{20}(?=")'),
    "fence": re.compile(r"(?<=: )[0-9a-f]{16}(?= ===)"),
    "project": re.compile(r"\b[0-9a-f]{20}\b"),
}
_TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d(?: \d\d:\d\d)?(?: UTC)?")
_OURS = re.compile(
    r'"(version)": "[0-9.]+"|"(why)": \{[^}]*\}'
    r'|"(process|durationMs|score|chars|bytesBefore|bytesAfter|filesSearched|filesDeleted|filesRewritten)": -?[0-9.e-]+'
)
_OLD = "2026-03-"
"""The month in which the commits of all scenes were made; later times are those of the run."""


class Stage:
    """Knows which value a placeholder stands for in this run."""

    def __init__(self, workspace: Path) -> None:
        self._values = {"<workspace>": workspace.as_uri(), "<folder>": str(workspace)}

    def hide(self, message: Any) -> Any:
        """Put placeholders for what differs from run to run."""
        text = json.dumps(message)
        for name in ("<workspace>", "<folder>"):
            text = text.replace(self._values[name], name)
        for kind, pattern in _VOLATILE.items():
            text = pattern.sub(functools.partial(self._name, kind), text)
        for pattern in (_TIME, _DAY):
            text = pattern.sub(
                lambda found: found[0] if found[0].startswith(_OLD) else "<time>", text
            )
        text = _OURS.sub(
            lambda found: f'"{found[found.lastindex or 0]}": "<{found[found.lastindex or 0]}>"',
            text,
        )
        return json.loads(text)

    def show(self, message: Any) -> Any:
        """Put the values for placeholders."""
        text = json.dumps(message)
        for name, value in self._values.items():
            text = text.replace(name, value)
        return json.loads(text)

    def _name(self, kind: str, found: "re.Match[str]") -> str:
        value = found[0]
        for name, known in self._values.items():
            if known == value:
                return name
        name = f"<{kind} {1 + sum(one.startswith(f'<{kind} ') for one in self._values)}>"
        self._values[name] = value
        return name


def read(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def play(lines: list[Any], folder: Path) -> Iterator[Any]:
    """Play a transcript; give its lines with what the server says this time."""
    scene, *said = lines
    repository = Repository.create(folder / "workspace")
    for commit in scene["scene"]["commits"]:
        repository.commit(commit["subject"], at=datetime.fromisoformat(commit["at"]))
    yield scene
    stage = Stage(repository.path)
    client = RawClient(repository.path)
    try:
        for line in said:
            if line["from"] == "client":
                client.send(stage.show(line["message"]))
                yield line
            else:
                yield {"from": "server", "message": stage.hide(_hear(client, line["message"]))}
    finally:
        client.close()


def _hear(client: RawClient, expected: Any) -> Any:
    """Take the next answer, or wait for the notification that is due."""
    method = expected.get("method")
    return client.hear(lambda said: said["method"] == method) if method else client.receive()


def main() -> None:
    for path in sorted(TRANSCRIPTS.glob("*.jsonl")):
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            (home / "gitconfig").write_text(
                "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
            )
            os.environ |= {
                "THREADLINE_HOME": f"{folder}/home",
                "GIT_CONFIG_GLOBAL": f"{folder}/gitconfig",
                "GIT_CONFIG_NOSYSTEM": "1",
            }
            played = [json.dumps(line) + "\n" for line in play(read(path), home)]
        path.write_text("".join(played))
        sys.stdout.write(f"played {path.name}\n")


if __name__ == "__main__":
    main()
