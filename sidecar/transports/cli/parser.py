"""The words of the command line, and what `--help` teaches about them."""

import argparse
import difflib
import re
from typing import NoReturn, TypeAlias, get_args

from protocol.contexts import Mode, Opinion
from protocol.jobs import ProviderName
from protocol.links import LinkType
from protocol.memories import MemoryStatus, MemoryType
from protocol.rules import Target
from protocol.tasks import TaskStatus
from protocol.teams import Share
from protocol.versions import VERSION
from sidecar.hosts import assistant
from sidecar.storage.prepared import PERSONAL_ID
from sidecar.text import characters
from sidecar.transports.exits import Exit

_PROVIDERS = tuple(name for name in get_args(ProviderName) if name != "editor")
"""Who can read sessions without an editor."""
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001  # argparse names it nowhere else

_TASKS = """\
Lists what is to be done, and changes it. Tasks are named by their ids, or how these begin or end.

  threadline tasks                          what is open, the most urgent first
  threadline tasks add Sign the uploads --done-when "path exists: src/signing.py"
  threadline tasks add Announce it --after 8KQ2M1ZT --assign claude-code
  threadline tasks start 8KQ2M1ZT           also: todo, backlog, block, done
  threadline tasks note 8KQ2M1ZT It needs a key first
  threadline tasks edit 8KQ2M1ZT --priority 5
  threadline tasks edit 8KQ2M1ZT --after none   it waits for nothing any more
  threadline tasks edit 8KQ2M1ZT --not-done   though the list says that it seems done

With --done-when a task completes by itself when all its lines hold: `path exists: …`, `path gone: …`,
`commit touches: …`, `commit message matches: …`, `symbol exists: file::name`. Anything else is words for people.
"""

_INBOX = """\
Shows what agents want to tell you: what you have not acknowledged, new messages marked.

  threadline inbox                          read them
  threadline inbox show 8KQ2M1ZT            the whole thread of one
  threadline inbox reply 8KQ2M1ZT Yes, go on
  threadline inbox ack 8KQ2M1ZT             it has been dealt with
  threadline inbox sent                     your own messages, and who has read them
"""

_SEND = """\
Sends a message to an agent, or to all of them, also those that appear later. They get it when they start, or
save a checkpoint.

  threadline send claude-code Please look at the failing test
  threadline send '*' We release on Friday --category alert --priority 5 --expires 7
  threadline send cursor - < notes.md       a text from standard input
"""

_DOCUMENTS = """\
Shows and writes the documents that agents are given: soul, instructions, skills, checks, and any of your own.

  threadline documents                      list them
  threadline documents history instructions who wrote which version, and when
  threadline documents show instructions --version 3
  threadline documents edit instructions notes.md
  threadline documents edit skills - < skills.md
  threadline documents edit skills --agent-editable yes     its text stays
"""

_GRAPH = """\
Writes what is linked with what, as Graphviz's DOT or, with --json, as JSON; and links two items.

  threadline graph | dot -Tsvg > graph.svg
  threadline graph --around memory:8KQ2M1ZT --hops 2
  threadline graph link memory:8KQ2M1ZT file:src/app.py --type documents
  threadline graph unlink 5T0QX7Z1          by the link's id
"""


_TEAM = """\
Shares a project's memory with other machines and people, through a PostgreSQL-wire server or a git remote.
Everything stays local, too, and works offline. Nothing leaves before you have agreed to what is shared.

  threadline team init postgresql://admin@db.example.org/memory
  threadline team init git@example.org:us/memory.git --encrypt
  threadline team join ADDRESS --share memories
  threadline team preview                   what is shared from here
  threadline team push --yes                agree, and send it
  threadline team status                    who takes part, what waits, who has confirmed a purge
  threadline team history 8KQ2M1ZT          who has set what of a record, and when
  threadline team key --rotate              encrypt with a new key from now on
  threadline team leave                     all records stay here
"""


def add(commands: Commands) -> None:
    """Describe the commands about what agents and people share."""
    _add_tasks(commands)
    _add_messages(commands)
    _add_documents(commands)
    agents = command(commands, "agents", "who was here lately, and what they have left")
    agents.add_argument("--days", type=int, default=7, help="how far back (default: 7)")
    agents.add_argument("--limit", type=int, default=10, help="how many (default: 10)")
    _add_graph(commands)
    _add_team(commands)


def _add_team(commands: Commands) -> None:
    team = command(commands, "team", "share this project's memory with other machines", _TEAM)
    team.add_argument(
        "action",
        nargs="?",
        choices=(
            *("status", "init", "join", "leave", "preview", "push", "pull"),
            *("key", "history", "export"),
        ),
        default="status",
        help="default: status",
    )
    team.add_argument(
        "place", nargs="?", metavar="ADDRESS or ID", help="init, join: where; history: of what"
    )
    team.add_argument(
        "--share",
        choices=get_args(Share),
        default="decisions",
        help="init, join: what leaves (default: decisions)",
    )
    team.add_argument(
        "--person", metavar="NAME", help="init, join: who you are (default: as git knows you)"
    )
    team.add_argument(
        "--encrypt", action="store_true", help="init: with a key that the server never sees"
    )
    team.add_argument("--set", metavar="KEY", help="join, key: the team's key")
    team.add_argument("--rotate", action="store_true", help="key: make a new one")
    team.add_argument("--yes", action="store_true", help="you agree to what is shared, and where")


def command(
    commands: Commands, name: str, summary: str, description: str = ""
) -> argparse.ArgumentParser:
    """Describe a command, with what all of them understand."""
    made = bare_command(commands, name, summary, description)
    made.add_argument("--project", metavar="PATH", help="a folder or a project id (default: here)")
    return made


def bare_command(
    commands: Commands, name: str, summary: str, description: str
) -> argparse.ArgumentParser:
    """Describe a command that does not concern one project alone."""
    made = commands.add_parser(
        name,
        help=summary,
        description=description or summary,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--json", action="store_true", help="print JSON instead of text")
    return made


def _add_tasks(commands: Commands) -> None:
    tasks = command(commands, "tasks", "what is to be done: list, add, change", _TASKS)
    tasks.add_argument(
        "action",
        nargs="?",
        choices=(
            *("list", "add", "show", "edit", "note", "assign"),
            *("start", "done", "block", "todo", "backlog"),
        ),
        default="list",
        help="default: list",
    )
    tasks.add_argument("words", nargs="*", help="a title (add), or an id and what belongs to it")
    tasks.add_argument("--status", action="append", choices=get_args(TaskStatus))
    tasks.add_argument("--all", action="store_true", help="also what is done")
    tasks.add_argument("--agent", metavar="NAME", help="list: only this agent's, or `any`")
    tasks.add_argument("--created-by", metavar="NAME", help="list: only what this agent wrote")
    tasks.add_argument("--text", help="list: only those with these words")
    tasks.add_argument("--limit", type=int, default=50, help="list: how many (default: 50)")
    tasks.add_argument("--offset", type=int, default=0, help="list: how many to pass over")
    tasks.add_argument("--title", help="edit: another title")
    tasks.add_argument("--description", help="more about it")
    tasks.add_argument("--priority", type=int, metavar="1-5", help="5 is the most urgent")
    tasks.add_argument("--assign", metavar="NAME", help="who is to do it, or `any`")
    tasks.add_argument("--done-when", metavar="TEXT", help="how one can tell that it is done")
    tasks.add_argument(
        "--after",
        action="append",
        metavar="ID",
        help="a task to be done first, again for each; edit: in place of those so far, `none` for none",
    )
    tasks.add_argument("--note", metavar="TEXT", help="add a note")
    tasks.add_argument(
        "--not-done", action="store_true", help="edit: no commit until now has done it"
    )


def _add_messages(commands: Commands) -> None:
    inbox = command(commands, "inbox", "what agents tell you: read, answer, acknowledge", _INBOX)
    inbox.add_argument(
        "action",
        nargs="?",
        choices=("list", "show", "reply", "ack", "sent"),
        default="list",
        help="default: list",
    )
    inbox.add_argument(
        "words", nargs="*", help="a message's id, or how it begins or ends, and a text"
    )
    inbox.add_argument("--all", action="store_true", help="also what was acknowledged")
    inbox.add_argument("--limit", type=int, default=20, help="how many (default: 20)")
    send = command(commands, "send", "tell something to an agent, or to all", _SEND)
    send.add_argument("target", help="an agent's name, or * for all")
    send.add_argument("text", nargs="+", help="what to tell; - reads it")
    send.add_argument("--subject", help="what it is about")
    send.add_argument("--category", default="info", help="info, request, alert, error, …")
    send.add_argument("--priority", type=int, default=3, metavar="1-5", help="default: 3")
    send.add_argument("--expires", type=float, metavar="DAYS", help="after which it vanishes")
    send.add_argument("--sender", metavar="NAME", default="user", help="default: user")


def _add_documents(commands: Commands) -> None:
    documents = command(commands, "documents", "what agents are given to read", _DOCUMENTS)
    documents.add_argument(
        "action",
        nargs="?",
        choices=("list", "show", "history", "edit"),
        default="list",
        help="default: list",
    )
    documents.add_argument("name", nargs="?", help="soul, instructions, skills, checks, …")
    documents.add_argument("file", nargs="?", help="edit: default: standard input")
    documents.add_argument("--version", type=int, metavar="N", help="show: an earlier one")
    documents.add_argument("--expect", type=int, metavar="N", help="edit: only if it is at this")
    documents.add_argument(
        "--agent-editable", choices=("yes", "no"), help="edit: whether agents may change it"
    )


def _add_graph(commands: Commands) -> None:
    graph = command(commands, "graph", "what is linked with what", _GRAPH)
    graph.add_argument(
        "action",
        nargs="?",
        choices=("show", "link", "unlink"),
        default="show",
        help="default: show",
    )
    graph.add_argument("items", nargs="*", help="link: two of memory:ID, task:ID, file:PATH, …")
    graph.add_argument("--type", choices=get_args(LinkType), default="relates")
    graph.add_argument("--around", metavar="KIND:ID", help="show: only what is near this")
    graph.add_argument("--hops", type=int, default=1, help="show: how far (default: 1)")
    graph.add_argument("--limit", type=int, default=1000, help="show: how many items")


_EPILOG = """\
begin:
  threadline init                 all of it, one question for each step
  threadline scan                 import what was committed here so far
  threadline sessions             see it as sessions of at most four hours
  threadline sessions show        read the latest one
  threadline watch                record what happens from now on
  threadline enrich --all         make memory from it
  threadline search WORDS         find it again
  threadline why FILE:LINE        see what is behind a line
  threadline context              see what an assistant would be told now
  threadline inbox                see what assistants want to tell you

All commands work on the project of the folder you are in; --project PATH names another.
Memory is kept in THREADLINE_HOME, by default your user's data folder; nothing leaves this machine.
"""

_SERVE = """\
Answers every method of `threadline call` as an LSP server, for the client that started it, and ends with
it. Editors run this; there is nothing to see on a terminal.
"""

_MCP = """\
Gives an assistant its tools, resources and prompts as an MCP server, for the client that started it, and ends with
it. `threadline connect` tells assistants to run this; there is nothing to see on a terminal.

With --http it listens for assistants in containers or on other machines, which show a key of `threadline keys`.

  threadline mcp --http                          at http://127.0.0.1:8765/mcp
  threadline mcp --http --host 0.0.0.0 --allow-host host.docker.internal
"""

_REMEMBER = """\
Keeps something that you want remembered, in this project or in all of yours.

  threadline remember The export is read by accounting, so column names stay --type constraint
  threadline remember --everywhere I prefer small commits with a reason
  threadline search --everywhere            list what is kept for all projects
  threadline forget --everywhere ID

What is kept everywhere is told to assistants in every project, the most important first, in at most 600 letters. It is
never shared with a team.
"""

_CHECK = """\
Names the constraints and decisions that a change touches or makes stale, and the open tasks that it finishes, by the
files and symbols they are about. It is silent about what it cannot tell. The exit code is 1 where something becomes stale.

  threadline check                          what is staged
  threadline check origin/main..HEAD        what a branch changes, as in CI
"""

_KEYS = """\
Decides which agents may read or write which projects. As soon as there is a key, MCP and the dashboard's HTTP API
refuse every call without a valid one. Your own command line, editor and dashboard need none. A key is shown once, and
only its hash is kept; a revoked one stops working at once, also in servers that run.

  threadline keys create claude-code --vaults . --write
  threadline keys create reviewer --vaults ~/api ~/web        only reads
  threadline keys create planner --vaults all                 also searches all projects at once
  threadline keys                                             list them
  threadline keys revoke reviewer
  threadline keys off                                         forget all of them, and ask for none
"""

_DASHBOARD = """\
Shows sessions and memory in a browser, live, at an address of this machine that nobody else can reach. The address
that is printed lets one tab in, once. It ends with its terminal, or with Ctrl-C.

  threadline dashboard                  any free port; opens your browser
  threadline dashboard --port 8123 --no-open
"""

_HOOK = """\
Reads one message of a host as JSON from standard input, keeps what matters of it, and answers in the host's own
form. It never fails and never keeps a host waiting: what goes wrong is in the log.
"""

_INIT = """\
Does in one go what makes a repository useful to your assistants, and asks before each step: reads its history, makes
memory from it, imports past conversations, connects the assistants that are found, writes rules files for them.
Running it again does only what is missing.

  threadline init                       one question for each step
  threadline init --yes                 all of it
"""

_LEAVE = """\
Takes our entries out of assistants' configuration and our part out of rules files, and asks before each step. What was
recorded stays; it says where that is, and how to erase it.
"""

_SCAN = """\
Reads the history of the repository and groups it into sessions by author time. Running it again imports
only what is new, so an interrupted scan is simply started again. Nothing is written to the repository.

  threadline scan                       everyone's commits
  threadline scan --mine                only your own, by git's user.email
  threadline scan --since "2 weeks ago"
"""

_IMPORT = """\
Reads what other tools have kept of your conversations about this repository, so that they can be found: each turn
once, at its own time, without secrets. Running it again imports only what is new. Nothing of theirs is changed.

  threadline import                     list what was found
  threadline import claude-code         also: codex, copilot, cursor, opencode, gemini, specstory, aider
  threadline import codex --since "3 weeks" --dry-run
  threadline import memory.jsonl        read an export of `threadline export` (also from standard input, or `-`);
                                        what is already there stays as it is
"""

_WATCH = """\
Records commits as they are made and files as they are saved, in this folder and every repository in it, and
shows every event that comes in, whoever reports it. What was committed since the last look is picked up
first. An editor with the extension does the same by itself.
"""

_REVIEW = """examples:
  threadline review                                 one after the other: a key decides
  threadline review --list                          what waits, by kind
  threadline review --all-of guideline --accept     all rules of guides at once
"""
_ENRICH = """\
Reads the events of a session that nobody has read yet, and the code at HEAD. Memory is made of what is sure: comments
that explain a deliberate choice, and what you said is to last. What is less sure is proposed (`threadline review`) and
no assistant sees it. No model and no network are needed; what is known already is not written twice.

  threadline enrich                     the active session, or the latest
  threadline enrich --all               every session so far
  threadline enrich --retry             go on with the job that failed last
"""

_VERIFY = """\
Makes a copy of the vault and checks its structure, the checksum of every record and block, sequences, counts, keys
and the full-text index against the records they are made from. Ends with 1 where anything is wrong, and names it.
"""

_RESTORE = """\
Reads every page of the vault by itself, keeps each record whose checksum is right, and adds what only a snapshot
has. The files as they were are kept in the folder `damaged`. This happens by itself when a vault is missing, was
rolled back, or cannot be read.

  threadline restore --list             the snapshots that there are
"""

_MAINTAIN = """\
Does what a running editor or assistant does by itself: places what hooks have left, closes sessions whose time is
over, copies what has changed. Hooks start it where nothing else runs; it ends when it is done.
"""

_WHY = """\
Tells why a line is as it is: the memories behind it, the commit that wrote it, and the session of that commit.
Of a file without a line it tells which memories and sessions it has. Editors tell the same on hover.

  threadline why src/app.py:12
  threadline why src/app.py
"""

_CONTEXT = """\
Prints what an assistant would be told if it started now, and changes nothing. Words say what the conversation
will be about; without them, what matters most here and now is chosen.

  threadline context --explain          why each item was chosen, and what was left out
  threadline context fix the login      with a question
  threadline context --host windsurf    within that host's limit
"""

_CONNECT = """\
Puts our hooks and our MCP server into the configuration of agents, beside whatever is there; comments and
layout stay. A copy of each changed file is kept beside it. Running it again changes nothing, or mends what an
older version wrote.

  threadline connect                          all that are found here, after asking
  threadline connect claude-code cursor       these
  threadline connect --all --dry-run          see what would change
  threadline connect cursor --project         in this project's files instead of your own

agents: {agents}
"""

_DISCONNECT = """\
Takes out what `connect` has put in, and nothing else. A file that nobody has changed since is put back to the
byte; a file that we have made and that holds nothing else is deleted.

agents: {agents}
"""

_RULES = """\
Writes what assistants should know into files that they read by themselves, and only when you say so. What was
remembered stands there as data, marked as such. Removing leaves no trace: a file that we made goes, and in AGENTS.md
everything but our block stays as it is, to the byte. What you have edited by hand is kept, unless you say --force.

  threadline rules                            which of them are there
  threadline rules write --target agents      a block in AGENTS.md
  threadline rules write --target cursor      .cursor/rules/threadline.mdc
  threadline rules write --target windsurf    .windsurf/rules/threadline.md
  threadline rules refresh                    renew those that are there
  threadline rules remove                     remove them
"""

_PURGE = """\
Removes something from every file that is kept for this project, then reads all of them again and says
whether anything of it is left. There is no way back.

  threadline purge --phrase 'hunter2'   words, wherever they stand so; `Hunter2` would stay
  threadline purge --path secrets/      a file or folder: no event or memory names it any more
  threadline purge --everything         the project's whole memory
"""

_TYPES = get_args(MemoryType)
_STATUSES = tuple(status for status in get_args(MemoryStatus) if status != "forgotten")

_DOCTOR = """\
Looks at the program, git, the disk, this project's store, hooks and every installed assistant, and changes nothing.
Each finding that is not ok names what to do about it. The exit code is 1 where there is a problem.
"""

_DEMO = """\
Makes a small repository in a temporary folder, records an invented week there, shows what Threadline makes of it here
and in a browser, and removes all of it. Your own memory is not touched.
"""

_LINK = """\
A clone, or a repository that was moved, begins with an empty memory of its own: what a folder says of itself can be
copied. If it has the root commit and the remote of a project that is remembered, this lets it share that memory.
What it has recorded by itself until then comes along. Worktrees need no link.

  threadline status --why               which project this folder belongs to, and which it matches
  threadline link                       share the memory of the project it matches
  threadline link --no                  stay apart, and never ask again
  threadline unlink                     undo it: begin with an empty memory again
"""

_UNLINK = """\
Takes this folder, with its worktrees, out of the project whose memory it shares, and gives it an empty memory of its
own. What was recorded here stays with the project that it leaves.
"""

_COMPLETION = """\
Prints a script that completes commands, options and their values when you press Tab. It starts nothing then.

  threadline completion bash > ~/.local/share/bash-completion/completions/threadline
  threadline completion zsh > "${fpath[1]}/_threadline"
  threadline completion fish > ~/.config/fish/completions/threadline.fish
"""

_CALL = """\
Calls a method with JSON params and prints its result. Without a method it lists them all. With `-` it
answers JSON Lines from standard input, one line for each:

  echo '{"id": 1, "method": "threadline/status"}' | threadline call -
  {"id":1,"result":{…}}  or  {"id":1,"error":{"code":…,"message":…,"data":{"field":…}}}
"""


class _Parser(argparse.ArgumentParser):
    """Complains without what is hidden in a word that it does not know; its subcommands are of its kind."""

    def error(self, message: str) -> NoReturn:
        super().error(characters.visible(message) + _suggestion(message))


def _suggestion(message: str) -> str:
    """Return what a word that is no choice was probably meant to be."""
    refused = re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message)
    if refused is None:
        return ""
    near = difflib.get_close_matches(refused[1], re.findall(r"[\w-]+", refused[2]), 1)
    return f"; did you mean {near[0]}?" if near else ""


def _duration(text: str) -> str:
    if not re.fullmatch(r"forever|restart|[1-9][0-9]{0,3}[mhd]", text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no duration; write 30m, 2h, 1d, restart or forever"
        )
    return text


_WIRE_NAMES = {
    "topK": "limit",
    "maxResponseChars": "max_chars",
    "daysBack": "days",
    "expiresInDays": "expires",
    "targetId": "target",
    "sessionKey": "conversation",
}
"""What options are called in requests, where that differs."""


def as_typed(message: str, parser: argparse.ArgumentParser, name: str) -> str:
    """Return a refusal in the words of the command line: options as they are typed, and no name of a method."""
    if name == "call":  # its words are those of the request
        return message
    spellings = _spellings(parser, name)

    def spell(found: re.Match[str]) -> str:
        wire = found[1]
        snake = re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), wire)
        return spellings.get(_WIRE_NAMES.get(wire, snake), found[0])

    return re.sub(r"`(\w+)`", spell, re.sub(r"^threadline/[\w/]+: ", "", message))


def _spellings(parser: argparse.ArgumentParser, name: str) -> dict[str, str]:
    """Return how each option and argument of a command is typed, by the name under which it is parsed."""
    return {
        action.dest: action.option_strings[-1] if action.option_strings else _placeholder(action)
        for action in find(parser, name)._actions  # noqa: SLF001  # argparse names it nowhere else
    }


def _placeholder(action: argparse.Action) -> str:
    return str(action.metavar or action.dest).upper()


def find(parser: argparse.ArgumentParser, name: str) -> argparse.ArgumentParser:
    """Return the parser of a command."""
    return table(parser)[name]


def table(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return all commands with their parsers: the one table that help, reference and completion are made from."""
    return dict(_subcommands(parser).choices)


def summaries(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Return what each command does, in one line."""
    pseudo = _subcommands(parser)._choices_actions  # noqa: SLF001  # likewise
    return {choice.dest: choice.help or "" for choice in pseudo}


def _subcommands(parser: argparse.ArgumentParser) -> Commands:
    (commands,) = (
        action
        for action in parser._actions  # noqa: SLF001  # likewise
        if isinstance(action, argparse._SubParsersAction)  # noqa: SLF001  # likewise
    )
    return commands


def build() -> argparse.ArgumentParser:
    """Describe all commands."""
    codes = "\n".join(f"  {code.value:>3}  {code.name.lower()}" for code in Exit)
    parser: argparse.ArgumentParser = _Parser(
        prog="threadline",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="A memory for your repository, shared by you and your AI assistants.",
        epilog=f"{_EPILOG}\nexit codes:\n{codes}",
    )
    parser.add_argument("--version", action="version", version=VERSION)
    parser.set_defaults(is_passing=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    command(commands, "serve", "speak LSP on standard input and output; editors start this", _SERVE)
    _add_mcp(commands)
    dashboard = command(commands, "dashboard", "see it all in a browser", _DASHBOARD)
    dashboard.add_argument("--port", metavar="N", help="the port (default: any that is free)")
    dashboard.add_argument("--no-open", action="store_true", help="only print the address")
    dashboard.add_argument(
        "--until-eof", action="store_true", help="end when standard input does, for scripts"
    )
    hook = command(commands, "hook", "hear what an assistant's host tells; hosts run this", _HOOK)
    hook.add_argument("agent", help="who calls, such as claude-code")
    hook.add_argument("event", nargs="?", help="what happened, where the message does not say it")
    demo = bare_command(commands, "demo", "see an invented week, in a place of its own", _DEMO)
    demo.add_argument("--no-browser", action="store_true", help="only in the terminal")
    _add_setup(commands)
    _add_scan(commands)
    _add_watch(commands)
    _add_sessions(commands)
    _add_enrich(commands)
    _add_search(commands)
    _add_context(commands)
    add(commands)
    _add_connect(commands)
    _add_rules(commands)
    _add_keys(commands)
    check = command(commands, "check", "what a change touches of what is known", _CHECK)
    check.add_argument("range", nargs="?", metavar="A..B", help="default: what is staged")
    check.add_argument("--staged", action="store_true", help="what is staged (default)")
    _add_forget(commands)
    _add_identity(commands)
    command(commands, "verify", "check every record that is kept for this project", _VERIFY)
    restore = command(
        commands, "restore", "keep what is whole, and add what a snapshot has", _RESTORE
    )
    restore.add_argument("--list", action="store_true", help="show the snapshots instead")
    command(
        commands, "maintain", "place what hooks have left, copy what changed, and end", _MAINTAIN
    )
    _add_call(commands)
    export = command(commands, "export", "write everything kept for this project as JSON Lines")
    export.add_argument("file", nargs="?", default="-", help="where to (default: standard output)")
    _add_everywhere(export)
    export.add_argument("--markdown", action="store_true", help="write it for people to read")
    _add_import(commands)
    completion = commands.add_parser(
        "completion",
        help="print what completes commands in a shell",
        description=_COMPLETION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    return parser


def _add_import(commands: Commands) -> None:
    load = command(
        commands, "import", "bring in past conversations of other tools, or an export", _IMPORT
    )
    load.add_argument(
        "source", nargs="?", metavar="HOST or FILE", help="default: list what was found"
    )
    load.add_argument("--since", metavar="DATE", help="only turns newer than this")
    load.add_argument(
        "--all-projects", action="store_true", help="into every project that is known here"
    )
    load.add_argument("--dry-run", action="store_true", help="count, and store nothing")


def _add_setup(commands: Commands) -> None:
    for name, summary, description in (
        ("init", "set everything up for a repository, after asking", _INIT),
        ("leave", "undo what `init` did; what was recorded stays", _LEAVE),
    ):
        made = command(commands, name, summary, description)
        made.add_argument("--yes", action="store_true", help="agree to every step")


def _add_scan(commands: Commands) -> None:
    scan = command(commands, "scan", "import the history of a repository", _SCAN)
    scan.add_argument("path", nargs="?", help="the repository (default: --project)")
    scan.set_defaults(is_offering=True)
    scan.add_argument("--since", metavar="DATE", help="only commits newer than this")
    authors = scan.add_mutually_exclusive_group()
    authors.add_argument(
        "--author", metavar="TEXT", help="only authors whose name or email has this"
    )
    authors.add_argument("--mine", action="store_true", help="only your own commits")
    authors.add_argument("--all-authors", action="store_true", help=argparse.SUPPRESS)
    scan.add_argument(
        "--line-counts",
        action="store_true",
        help="count changed lines too (about ten times slower)",
    )


def _add_watch(commands: Commands) -> None:
    watch = command(
        commands, "watch", "record and show what happens here, without an editor", _WATCH
    )
    watch.add_argument("path", nargs="?", help="the folder (default: --project)")
    watch.add_argument("--once", action="store_true", help="look once and end")
    pause = command(commands, "pause", "record nothing for some time")
    pause.add_argument(
        "duration",
        nargs="?",
        default="forever",
        type=_duration,
        help="such as 30m, 2h or 1d (default: forever)",
    )
    command(commands, "resume", "record again")


def _add_sessions(commands: Commands) -> None:
    sessions = command(commands, "sessions", "list sessions, show one, close one")
    sessions.add_argument(
        "action",
        nargs="?",
        choices=("list", "show", "close", "compact"),
        default="list",
        help="default: list",
    )
    sessions.add_argument(
        "session",
        nargs="?",
        help="an id, or how it begins or ends (show: the latest, close: the active)",
    )
    sessions.add_argument("--status", choices=("active", "closed", "compacted"))
    sessions.add_argument("--limit", type=int, default=20, help="how many (default: 20)")
    sessions.add_argument(
        "--older-than", type=float, metavar="DAYS", help="compact all closed sessions of that age"
    )


def _add_enrich(commands: Commands) -> None:
    enrich = command(commands, "enrich", "make memory from a session's events", _ENRICH)
    enrich.add_argument(
        "session",
        nargs="?",
        help="an id, or how it begins or ends (default: the active or the latest)",
    )
    enrich.add_argument("--all", action="store_true", help="all sessions that nobody has read")
    enrich.add_argument(
        "--provider", choices=_PROVIDERS, help="who reads (default: the setting, else rules)"
    )
    enrich.add_argument(
        "--retry", action="store_true", help="go on with a job that failed, the latest or --job"
    )
    enrich.add_argument("--job", metavar="ID", help="a job's id, or how it begins or ends")
    review = command(commands, "review", "decide about what was found and is not sure", _REVIEW)
    review.add_argument("--all-of", metavar="KIND", help="decide about all of a kind at once")
    review.add_argument("--accept", action="store_true", help="with --all-of: accept them")
    review.add_argument("--reject", action="store_true", help="with --all-of: reject them")
    review.add_argument("--list", action="store_true", help="only show what waits")
    review.add_argument("--limit", type=int, default=50, help="how many (default: 50)")
    worth = command(commands, "worth-knowing", "show the best that is known of this project")
    worth.add_argument("--limit", type=int, default=10, help="how many (default: 10)")
    jobs = command(commands, "jobs", "list enrichment jobs, cancel one")
    jobs.add_argument(
        "action", nargs="?", choices=("list", "cancel"), default="list", help="default: list"
    )
    jobs.add_argument(
        "job", nargs="?", help="an id, or how it begins or ends (default: the running one)"
    )
    jobs.add_argument("--limit", type=int, default=20, help="how many (default: 20)")


def _add_search(commands: Commands) -> None:
    search = command(commands, "search", "find the memories that help with a question")
    search.add_argument("query", nargs="*", help="any words; without them the most useful ones")
    search.add_argument("--limit", type=int, default=10, help="how many (default: 10)")
    search.add_argument("--type", action="append", choices=_TYPES, help="only this type")
    search.add_argument("--path", action="append", help="only about this file or folder")
    search.add_argument(
        "--status", choices=_STATUSES, default="active", help="in this state (default: active)"
    )
    search.add_argument("--open", action="append", metavar="FILE", help="a file you work on")
    search.add_argument("--all-branches", action="store_true", help="also of unmerged branches")
    search.add_argument("--all-projects", action="store_true", help="in all of your projects")
    _add_everywhere(search)
    search.add_argument("--explain", action="store_true", help="say why each was found")
    memories = command(commands, "memories", "list what is remembered, or show one memory")
    memories.add_argument(
        "action", nargs="?", choices=("list", "show"), default="list", help="default: list"
    )
    memories.add_argument("memory", nargs="?", help="show: an id, or how it begins or ends")
    memories.add_argument("--type", action="append", choices=_TYPES, help="only this type")
    memories.add_argument("--path", action="append", help="only about this file or folder")
    memories.add_argument(
        "--status", choices=_STATUSES, default="active", help="in this state (default: active)"
    )
    memories.add_argument("--limit", type=int, default=50, help="how many (default: 50)")
    why = command(commands, "why", "tell what is behind a line, or known about a file", _WHY)
    why.add_argument("place", metavar="FILE[:LINE]", help="such as src/app.py:12")
    remember = command(commands, "remember", "keep a memory of your own", _REMEMBER)
    remember.add_argument("text", nargs="+", help="what is to be remembered")
    remember.add_argument(
        "--type", choices=_TYPES, help="default: fact; with --everywhere, preference"
    )
    _add_everywhere(remember)
    remember.add_argument("--title", help="its headline (default: the beginning of the text)")
    remember.add_argument("--path", action="append", help="a file it is about")
    remember.add_argument("--tag", action="append")
    remember.add_argument("--importance", type=int, choices=range(1, 6), default=3)


def _add_everywhere(made: argparse.ArgumentParser) -> None:
    """Let a command work on what is kept for all projects."""
    made.add_argument(
        "--everywhere",
        action="store_const",
        const=PERSONAL_ID,
        dest="project",
        help="your own memory, which every project is told",
    )


def _add_context(commands: Commands) -> None:
    context = command(commands, "context", "see what an assistant would be told now", _CONTEXT)
    context.add_argument("query", nargs="*", help="what the conversation will be about")
    context.add_argument("--mode", choices=get_args(Mode), default="default")
    context.add_argument("--agent", metavar="NAME", help="as this agent would get it")
    context.add_argument("--host", default="clipboard", help="whose limit holds (claude-code, …)")
    context.add_argument("--max-chars", type=int, metavar="N", help="a limit of your own")
    context.add_argument("--conversation", metavar="KEY", help="as this conversation would get it")
    context.add_argument("--open", action="append", metavar="PATH", help="a file at hand")
    context.add_argument("--document", action="append", metavar="NAME", help="add a document")
    context.add_argument("--full", action="store_true", help="whole texts, not their beginnings")
    context.add_argument("--explain", action="store_true", help="say why, and what was left out")
    receipts = command(commands, "receipts", "what assistants were told, and why")
    receipts.add_argument("receipt", nargs="?", help="show this one, and replay it")
    receipts.add_argument("--conversation", metavar="KEY", help="only those of this one")
    receipts.add_argument("--limit", type=int, default=10, help="how many (default: 10)")
    feedback = command(commands, "feedback", "say that a memory is wrong, stale or useful")
    feedback.add_argument("memory", help="an id, as `search` and `context` show it")
    feedback.add_argument("verdict", choices=get_args(Opinion))
    feedback.add_argument("--note", metavar="TEXT", help="why")
    checkpoints = command(commands, "checkpoints", "the saved states of conversations")
    checkpoints.add_argument("conversation", nargs="?", help="only this one, with its words")
    checkpoints.add_argument("--limit", type=int, default=10, help="how many (default: 10)")
    stats = command(commands, "stats", "what memory was worth to conversations")
    stats.add_argument("--days", type=int, default=30, help="how far back (default: 30)")


def _add_connect(commands: Commands) -> None:
    for name, summary, description in (
        ("connect", "set agents up to use this memory", _CONNECT),
        ("disconnect", "undo what `connect` did", _DISCONNECT),
    ):
        command = bare_command(
            commands, name, summary, description.format(agents=", ".join(assistant.names()))
        )
        command.add_argument("agent", nargs="*", help="such as claude-code")
        command.add_argument("--all", action="store_true", help="all that are found")
        where = command.add_mutually_exclusive_group()
        where.add_argument("--user", action="store_true", help="your own files (default)")
        where.add_argument(
            "--project",
            nargs="?",
            const="",
            metavar="PATH",
            help="the files of the project in this folder (default: here)",
        )
        command.add_argument("--dry-run", action="store_true", help="only show what would change")
        if name == "connect":
            command.add_argument(
                "--remember-at-stop",
                action="store_true",
                help="ask agents once in a conversation, before they stop, to write down what they learned",
            )


def _add_mcp(commands: Commands) -> None:
    """Describe what `sidecar/transports/mcp/main.py` reads itself."""
    mcp = command(
        commands, "mcp", "speak MCP on standard input and output; assistants start this", _MCP
    )
    mcp.add_argument("--http", action="store_true", help="over HTTP instead; needs a key")
    mcp.add_argument("--host", help="where to listen (default: 127.0.0.1)")
    mcp.add_argument("--port", metavar="N", help="the port (default: 8765; 0: any that is free)")
    mcp.add_argument(
        "--allow-host", action="append", metavar="NAME", help="a name by which clients reach it"
    )


def _add_keys(commands: Commands) -> None:
    keys = bare_command(commands, "keys", "which agents may read or write what", _KEYS)
    keys.add_argument(
        "action",
        nargs="?",
        choices=("list", "create", "revoke", "off"),
        default="list",
        help="default: list",
    )
    keys.add_argument("name", nargs="?", help="the agent")
    keys.add_argument(
        "--vaults",
        nargs="+",
        metavar="PROJECT",
        help="folders or project ids, or `all` (default: here)",
    )
    access = keys.add_mutually_exclusive_group()
    access.add_argument("--read", action="store_true", help="it may only read (default)")
    access.add_argument("--write", action="store_true", help="it may read and write")


def _add_rules(commands: Commands) -> None:
    rules = command(commands, "rules", "what assistants read in this project's files", _RULES)
    rules.add_argument(
        "action",
        nargs="?",
        choices=("list", "write", "refresh", "remove"),
        default="list",
        help="default: list",
    )
    rules.add_argument(
        "--target", action="append", choices=get_args(Target), help="whose file; may be repeated"
    )
    rules.add_argument("--force", action="store_true", help="also what was edited by hand")


def _add_forget(commands: Commands) -> None:
    forget = command(commands, "forget", "remove memories from everything on the disk")
    forget.add_argument("memory", nargs="+", help="ids, as `search` shows them")
    _add_everywhere(forget)
    purge = command(commands, "purge", "remove a file, a phrase or all of it, everywhere", _PURGE)
    what = purge.add_mutually_exclusive_group(required=True)
    what.add_argument("--memory", metavar="ID", help="one memory")
    what.add_argument("--path", metavar="PATH", help="a file or folder of the repository")
    what.add_argument("--phrase", metavar="TEXT", help="words, such as a secret; case counts")
    what.add_argument("--everything", action="store_true", help="the project's whole memory")
    _add_everywhere(purge)
    purge.add_argument("--yes", action="store_true", help="do not ask")


def _add_identity(commands: Commands) -> None:
    status = command(commands, "status", "what is kept for this project, and in what condition")
    status.add_argument(
        "--why", action="store_true", help="tell which project this folder belongs to, and why"
    )
    command(commands, "doctor", "look for what is wrong here, and say what mends it", _DOCTOR)
    link = command(commands, "link", "share the memory of the project this folder matches", _LINK)
    link.add_argument("to", nargs="?", metavar="PROJECT", help="its id (default: the oldest)")
    link.add_argument("--no", action="store_true", help="stay apart, and never ask again")
    command(commands, "unlink", "give this folder a memory of its own again", _UNLINK)


def _add_call(commands: Commands) -> None:
    call = command(commands, "call", "call a method of the protocol, or a stream of them", _CALL)
    call.add_argument("method", nargs="?", help="such as threadline/status, or -")
    call.add_argument("params", nargs="?", default="{}", help="a JSON object")
