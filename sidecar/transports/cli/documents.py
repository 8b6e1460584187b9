"""Commands for documents, agents and links."""

import sys
from argparse import Namespace

from rich.table import Table

from protocol.conversations import AgentList
from protocol.documents import DocumentList, ShownDocument, WrittenDocument
from protocol.errors import InvalidParamsError
from protocol.links import Graph, LinkEnd, LinkResult
from sidecar.app import Application
from sidecar.text import characters
from sidecar.transports.cli import calls, finding, screens
from sidecar.transports.cli.screens import clean, console, local
from sidecar.transports.exits import Exit

_TABLES: dict[str, finding.Table] = {"memory": "memories", "task": "tasks"}


def documents(app: Application, options: Namespace) -> Exit:
    """List documents, show one, or write one."""
    match options.action:
        case "show":
            return _show(app, options)
        case "edit":
            return _edit(app, options)
        case "history":
            return _history(app, options)
        case _:
            return _list(app, options)


def agents(app: Application, options: Namespace) -> Exit:
    """Show who was here lately."""
    params = {"project": options.project, "daysBack": options.days, "limit": options.limit}
    found = calls.call(app, "threadline/agents/list", params, AgentList)
    if options.json:
        print(calls.encode(found))
        return Exit.OK
    if not found.agents:
        screens.say(f"no agent was here in the last {screens.plural(options.days, 'day')}")
        return Exit.OK
    counted = ("conversations", "memories", "tasks", "unread")
    table = _table("agent", "runs in", "last seen", *counted, "summary")
    for one in found.agents:
        counts = (one.conversations, one.memories, one.open_tasks, one.pending_messages)
        name = one.label if one.label == one.agent_id else f"{one.label} ({one.agent_id})"
        summary = clean(screens.clipped(one.last_summary or "", 60))
        names = (clean(name), clean(one.harness or ""))
        table.add_row(*names, local(one.last_seen_at), *map(str, counts), summary)
    console.print(table)
    return Exit.OK


def graph(app: Application, options: Namespace) -> Exit:
    """Write what is linked with what, link two items, or remove a link."""
    match options.action:
        case "link":
            return _link(app, options)
        case "unlink":
            return _unlink(app, options)
        case _:
            return _draw(app, options)


def dot(shown: Graph) -> str:
    """Write a graph for Graphviz."""
    shapes = {"memory": "box", "task": "ellipse", "file": "note", "document": "folder"}
    lines = ["digraph threadline {", "  node [fontsize=10];"]
    lines += [
        f"  {_quoted(f'{one.kind}:{one.id}')} [label={_quoted(one.title)}, shape={shapes[one.kind]}];"
        for one in shown.nodes
    ]
    lines += [
        f"  {_name(one.source)} -> {_name(one.target)} [label={_quoted(one.type)}];"
        for one in shown.links
    ]
    return "\n".join([*lines, "}"])


def _list(app: Application, options: Namespace) -> Exit:
    found = calls.call(app, "threadline/documents/list", {"project": options.project}, DocumentList)
    if options.json:
        print(calls.encode(found))
        return Exit.OK
    table = _table("name", "version", "characters", "changed", "by", "agents may change it")
    for one in found.documents:
        when = local(one.updated_at) if one.updated_at else "ours"
        may = "yes" if one.agent_editable else "no"
        row = (str(one.version), f"{one.chars:,}", when, clean(one.agent_id or ""), may)
        table.add_row(clean(one.name), *row)
    console.print(table)
    return Exit.OK


def _show(app: Application, options: Namespace) -> Exit:
    params = {"project": options.project, "name": _named(options), "version": options.version}
    found = calls.call(app, "threadline/documents/read", params, ShownDocument)
    print(calls.encode(found) if options.json else characters.visible(found.content.rstrip("\n")))
    return Exit.OK


def _history(app: Application, options: Namespace) -> Exit:
    """Return who wrote which version, and when; the latest first."""
    wanted = {"project": options.project, "name": _named(options)}
    method = "threadline/documents/read"
    kept = calls.call(app, method, wanted, ShownDocument).versions
    found = [calls.call(app, method, wanted | {"version": one}, ShownDocument) for one in kept]
    if options.json:
        print(calls.encode(tuple(found)))
        return Exit.OK
    if not found:
        screens.say(f"nobody has written {options.name} yet")
        return Exit.OK
    table = _table("version", "written", "by", "characters")
    for one in found:
        who = clean(one.agent_id or "you")
        table.add_row(str(one.version), local(one.updated_at), who, f"{len(one.content):,}")
    console.print(table)
    return Exit.OK


def _edit(app: Application, options: Namespace) -> Exit:
    is_editable = {"yes": True, "no": False, None: None}[options.agent_editable]
    params = {
        "project": options.project,
        "name": _named(options),
        "content": _text(options),
        "agentEditable": is_editable,
        "expectedVersion": options.expect,
    }
    written = calls.call(app, "threadline/documents/write", params, WrittenDocument)
    if options.json:
        print(calls.encode(written))
    else:
        kept = "; its text stays" if params["content"] is None else ""
        document = written.document
        screens.say(f"{written.outcome}: {document.name}, version {document.version}{kept}")
    return Exit.OK


def _text(options: Namespace) -> str | None:
    """Read what a document is to say; None where only who may change it is told, and no text is given."""
    is_told = options.agent_editable is not None and options.file is None
    text = "" if is_told and sys.stdin.isatty() else finding.text_of(options.file or "-")
    if not text.strip() and not is_told:
        raise InvalidParamsError(
            f"{options.name} is not replaced by an empty text; name a file, or give one on standard input"
        )
    return text if text.strip() else None


def _named(options: Namespace) -> str:
    if not options.name:
        raise InvalidParamsError(f"name a document: `threadline documents {options.action} NAME`")
    return str(options.name)


def _draw(app: Application, options: Namespace) -> Exit:
    params: dict[str, object] = {
        "project": options.project,
        "hops": options.hops,
        "limit": options.limit,
    }
    if options.around:
        params["around"] = _item(app, options, options.around)
    shown = calls.call(app, "threadline/memories/graph", params, Graph)
    print(calls.encode(shown) if options.json else dot(shown))
    if shown.total > len(shown.nodes):
        screens.say(f"{len(shown.nodes)} of {shown.total:,} items; --limit shows more")
    return Exit.OK


def _link(app: Application, options: Namespace) -> Exit:
    if len(options.items) != len(("source", "target")):
        raise InvalidParamsError("name two items: `threadline graph link memory:ID file:PATH`")
    source, target = (_item(app, options, one) for one in options.items)
    params = {
        "project": options.project,
        "source": source,
        "target": target,
        "type": options.type,
    }
    return _told(calls.call(app, "threadline/memories/link", params, LinkResult), options)


def _unlink(app: Application, options: Namespace) -> Exit:
    if len(options.items) != 1:
        raise InvalidParamsError("name a link: `threadline graph unlink ID`")
    wanted = finding.identify(app, options, "links", options.items[0])
    params = {"project": options.project, "linkId": wanted}
    return _told(calls.call(app, "threadline/memories/unlink", params, LinkResult), options)


def _told(result: LinkResult, options: Namespace) -> Exit:
    if options.json:
        print(calls.encode(result))
    else:
        link = result.link
        ends = [f"{one.kind}:{one.id}" for one in (link.source, link.target)]
        screens.say(f"{result.outcome}: {ends[0]} {link.type} {ends[1]} ({link.link_id})")
    return Exit.OK


def _item(app: Application, options: Namespace, text: str) -> dict[str, str]:
    kind, colon, name = text.partition(":")
    if not colon or not name:
        raise InvalidParamsError(f"{text} is none of memory:ID, task:ID, file:PATH, document:NAME")
    if kind in _TABLES:
        name = finding.identify(app, options, _TABLES[kind], name)
    elif kind == "file":
        name = finding.path_of(app, options, name)
    return {"kind": kind, "id": name}


def _name(end: LinkEnd) -> str:
    return _quoted(f"{end.kind}:{end.id}")


def _quoted(text: str) -> str:
    plain = " ".join(characters.visible(text).split())
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _table(*names: str) -> Table:
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold")
    return table
