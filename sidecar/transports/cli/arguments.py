"""The words of the commands about what agents and people share, and what `--help` teaches about them."""

import argparse
from typing import TypeAlias, get_args

from protocol.links import LinkType
from protocol.tasks import TaskStatus

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001  # argparse names it nowhere else

_TASKS = """\
Lists what is to be done, and changes it. Tasks are named by their ids or their last letters.

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


def add(commands: Commands) -> None:
    """Describe the commands about what agents and people share."""
    _add_tasks(commands)
    _add_messages(commands)
    _add_documents(commands)
    agents = command(commands, "agents", "who was here lately, and what they have left")
    agents.add_argument("--days", type=int, default=7, help="how far back (default: 7)")
    agents.add_argument("--limit", type=int, default=10, help="how many (default: 10)")
    _add_graph(commands)


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
    inbox.add_argument("words", nargs="*", help="a message's id or its last letters, and a text")
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
