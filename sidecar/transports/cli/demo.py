"""`threadline demo`: an invented week in a temporary repository, in the terminal and in a browser."""

import contextlib
import os
import subprocess
import sys
import tempfile
import tomllib
from argparse import Namespace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from protocol.contexts import Rendered
from protocol.errors import ThreadlineError
from protocol.recall import SearchResult
from sidecar.app import Application, open_application
from sidecar.code import sample_repository
from sidecar.code.sample_repository import SampleCommit
from sidecar.transports.cli import parser, screens
from sidecar.transports.exits import Exit, exit_for

_STORY = Path(__file__).with_name("demo.toml")
_NAME = "tidepool"


def main(words: list[str]) -> int:
    """Show an invented week; say what went wrong where that cannot be done."""
    options = parser.build().parse_args(words)
    try:
        return _demonstrate(options)
    except ThreadlineError as error:
        screens.complain(str(error))
        return exit_for(error.code)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED


def _demonstrate(options: Namespace) -> Exit:
    """Tell the story of a week; whatever is made for it is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="threadline-demo-") as place:
        folder = Path(place) / _NAME
        # Neither this process nor the dashboard may come near the user's own memory.
        os.environ |= {"THREADLINE_HOME": str(Path(place) / "memory"), "THREADLINE_UPKEEP": "off"}
        story = tomllib.loads(_STORY.read_text("utf-8"))
        sample_repository.create(folder, map(_commit, story["commits"]))
        with contextlib.closing(open_application(here=folder, source="cli-demo")) as app:
            _record(app, story)
            _show(app, story)
        if not options.no_browser:
            _serve(folder)
    screens.say("the demonstration and everything it made are gone")
    return Exit.OK


def _record(app: Application, story: dict[str, Any]) -> None:
    app.call("threadline/scan", {})
    for number, turn in enumerate(story["turns"]):
        spoken = {
            "sessionKey": turn["conversation"],
            "harness": turn["assistant"],
            "role": turn["role"],
            "content": turn["text"],
            "occurredAt": _moment(turn).isoformat(),
            "idempotencyKey": f"demo-{number}",
        }
        app.call("threadline/turns/ingest", spoken)
    for memory in story["memories"]:
        app.call("threadline/memories/write", memory)
    app.call("threadline/tasks/create", {"tasks": story["tasks"]})
    for message in story["messages"]:
        app.call("threadline/messages/send", message)


def _show(app: Application, story: dict[str, Any]) -> None:
    _head(f"A week in {_NAME}, an invented repository")
    for commit in story["commits"]:
        print(f"  {_moment(commit):%a %H:%M}  {commit['author']:<11} {commit['subject']}")
    for question in story["questions"]:
        _head(f'threadline search "{question["text"]}"')
        found = app.call("threadline/memories/search", {"query": question["text"], "topK": 3})
        assert isinstance(found, SearchResult)  # noqa: S101  # the table says so
        screens.show_hits(found.hits, is_explained=False)
    _head("What an assistant is told when it starts")
    told = app.call("threadline/context/render", {"host": "claude-code", "preview": True})
    assert isinstance(told, Rendered)  # noqa: S101  # likewise
    print(told.text)


def _serve(folder: Path) -> None:
    _head("The same in your browser; Ctrl-C ends it")
    words = [sys.executable, "-m", "sidecar.transports.entry", "dashboard"]
    if not sys.stdin.isatty():
        words.append("--until-eof")
    with contextlib.suppress(KeyboardInterrupt):
        subprocess.run(words, cwd=folder, check=False)  # noqa: S603  # our own program


def _head(text: str) -> None:
    print(f"\n\033[1m{text}\033[0m\n" if sys.stdout.isatty() else f"\n{text}\n")


def _commit(row: dict[str, Any]) -> SampleCommit:
    return SampleCommit(
        at=_moment(row),
        author=row["author"],
        message=f"{row['subject']}\n\n{row['body'].strip()}\n",
        files=row["files"],
    )


def _moment(row: dict[str, Any]) -> datetime:
    day = datetime.now().astimezone() - timedelta(days=row["day"])
    hour, minute = map(int, row["time"].split(":"))
    return day.replace(hour=hour, minute=minute, second=0, microsecond=0)
