"""The words of the command line, and what `--help` teaches about them."""

import argparse
from importlib.metadata import version
from typing import TypeAlias

from sidecar.transports.cli.exits import Exit

_EPILOG = """\
begin:
  threadline scan                 import what you committed here so far
  threadline sessions             see it as sessions of at most four hours
  threadline sessions show        read the latest one
  threadline watch                record what happens from now on

All commands work on the project of the folder you are in; --project PATH names another.
Memory is kept in THREADLINE_HOME, by default your user's data folder; nothing leaves this machine.
"""

_SERVE = """\
Answers every method of `threadline call` as an LSP server, for the client that started it, and ends with
it. Editors run this; there is nothing to see on a terminal.
"""

_SCAN = """\
Reads the history of the repository and groups it into sessions by author time. Running it again imports
only what is new, so an interrupted scan is simply started again. Nothing is written to the repository.

  threadline scan                       your own commits, by git's user.email
  threadline scan --all-authors         everyone's
  threadline scan --since "2 weeks ago"
"""

_WATCH = """\
Records commits as they are made and files as they are saved, in this folder and every repository in it, and
shows every event that comes in, whoever reports it. What was committed since the last look is picked up
first. An editor with the extension does the same by itself.
"""

_CALL = """\
Calls a method with JSON params and prints its result. Without a method it lists them all. With `-` it
answers JSON Lines from standard input, one line for each:

  echo '{"id": 1, "method": "threadline/status"}' | threadline call -
  {"id":1,"result":{…}}  or  {"id":1,"error":{"code":…,"message":…,"data":{"field":…}}}
"""

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001  # argparse names it nowhere else


def build() -> argparse.ArgumentParser:
    """Describe all commands."""
    codes = "\n".join(f"  {code.value:>3}  {code.name.lower()}" for code in Exit)
    parser = argparse.ArgumentParser(
        prog="threadline",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="A memory for your repository, shared by you and your AI assistants.",
        epilog=f"{_EPILOG}\nexit codes:\n{codes}",
    )
    parser.add_argument("--version", action="version", version=version("threadline"))
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _command(
        commands, "serve", "speak LSP on standard input and output; editors start this", _SERVE
    )
    _add_scan(commands)
    _add_watch(commands)
    _add_sessions(commands)
    _command(commands, "status", "what is kept for this project, where, and in what condition")
    _add_call(commands)
    export = _command(commands, "export", "write everything kept for this project as JSON Lines")
    export.add_argument("file", nargs="?", default="-", help="where to (default: standard output)")
    export.add_argument("--markdown", action="store_true", help="write it for people to read")
    load = _command(commands, "import", "read an export; what is already there stays as it is")
    load.add_argument("file", nargs="?", default="-", help="where from (default: standard input)")
    return parser


def _add_scan(commands: Commands) -> None:
    scan = _command(commands, "scan", "import the history of a repository", _SCAN)
    scan.add_argument("path", nargs="?", help="the repository (default: --project)")
    scan.add_argument("--since", metavar="DATE", help="only commits newer than this")
    authors = scan.add_mutually_exclusive_group()
    authors.add_argument(
        "--author", metavar="TEXT", help="only authors whose name or email has this"
    )
    authors.add_argument("--all-authors", action="store_true", help="everyone's commits")
    scan.add_argument(
        "--line-counts",
        action="store_true",
        help="count changed lines too (about ten times slower)",
    )


def _add_watch(commands: Commands) -> None:
    watch = _command(
        commands, "watch", "record and show what happens here, without an editor", _WATCH
    )
    watch.add_argument("path", nargs="?", help="the folder (default: --project)")
    watch.add_argument("--once", action="store_true", help="look once and end")
    pause = _command(commands, "pause", "record nothing for some time")
    pause.add_argument(
        "duration",
        nargs="?",
        choices=("15m", "1h", "forever"),
        default="forever",
        help="default: forever",
    )
    _command(commands, "resume", "record again")


def _add_sessions(commands: Commands) -> None:
    sessions = _command(commands, "sessions", "list sessions, show one, close one")
    sessions.add_argument(
        "action", nargs="?", choices=("list", "show", "close"), default="list", help="default: list"
    )
    sessions.add_argument(
        "session", nargs="?", help="an id or its last letters (show: the latest, close: the active)"
    )
    sessions.add_argument("--status", choices=("active", "closed", "compacted"))
    sessions.add_argument("--limit", type=int, default=20, help="how many (default: 20)")


def _add_call(commands: Commands) -> None:
    call = _command(commands, "call", "call a method of the protocol, or a stream of them", _CALL)
    call.add_argument("method", nargs="?", help="such as threadline/status, or -")
    call.add_argument("params", nargs="?", default="{}", help="a JSON object")


def _command(
    commands: Commands,
    name: str,
    summary: str,
    description: str = "",
) -> argparse.ArgumentParser:
    command = commands.add_parser(
        name,
        help=summary,
        description=description or summary,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "--project", metavar="PATH", help="a folder or a project id (default: here)"
    )
    command.add_argument("--json", action="store_true", help="print JSON instead of text")
    return command
