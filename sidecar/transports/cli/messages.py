"""Commands for messages."""

from argparse import Namespace

from protocol.errors import InvalidParamsError
from protocol.messages import USER, MessageList, SentMessage, ShownMessage, Thread
from sidecar.app import Application
from sidecar.transports.cli import calls, finding, screens
from sidecar.transports.cli.screens import clean, console, local
from sidecar.transports.exits import Exit

_MOST = 100


def inbox(app: Application, options: Namespace) -> Exit:
    """Show the user's messages, or do something with one."""
    match options.action:
        case "show":
            return _show(app, options)
        case "reply":
            return _reply(app, options)
        case "ack":
            return _acknowledge(app, options)
        case "sent":
            return _sent(app, options)
        case _:
            return _list(app, options)


def send(app: Application, options: Namespace) -> Exit:
    """Send a message."""
    given = {
        "targetId": options.target,
        "content": _words(options.text),
        "senderId": options.sender,
        "subject": options.subject,
        "category": options.category,
        "priority": options.priority,
        "expiresInDays": options.expires,
    }
    return _send(app, options, given)


def _send(app: Application, options: Namespace, given: dict[str, object]) -> Exit:
    params = {"project": options.project} | given
    sent = calls.call(app, "threadline/messages/send", params, SentMessage)
    if options.json:
        print(calls.encode(sent))
        return Exit.OK
    screens.say(f"sent to {sent.message.target_id}: {sent.message.message_id}")
    if sent.meant is not None:
        screens.say(f"mind: no agent of that name was here yet, but {sent.meant} was")
    elif not sent.is_target_known:
        screens.say(
            f"nobody of that name was here yet; {sent.message.target_id} finds it when it comes"
        )
    return Exit.OK


def _list(app: Application, options: Namespace) -> Exit:
    found, new, waiting = _unanswered(app, options)
    if options.json:
        print(calls.encode(found))
        return Exit.OK
    for one in found.messages:
        _show_message(one, is_new=one.message_id in new)
    if not found.messages:
        screens.say("no messages; `threadline send AGENT TEXT` writes one")
    _say_more(found, waiting)
    return Exit.OK


def _unanswered(app: Application, options: Namespace) -> tuple[MessageList, set[str], int]:
    """Read what is new, then what was read before; name the new ones, and count those that still wait."""
    fresh = _read(app, options, "pending")
    new = {one.message_id for one in fresh.messages}
    waiting = fresh.total - len(new)
    known = _read(app, options, "all" if options.all else "delivered")
    others = [one for one in known.messages if one.message_id not in new]
    shown = (*fresh.messages, *others)[: options.limit]
    total = known.total if options.all else known.total + waiting
    return MessageList(messages=shown, total=total), new, waiting


def _sent(app: Application, options: Namespace) -> Exit:
    found = _read(app, options, "all", sent=True)
    if options.json:
        print(calls.encode(found))
        return Exit.OK
    for one in found.messages:
        _show_message(one, is_new=False)
        _show_readers(one)
    if not found.messages:
        screens.say("you have sent nothing that is still there")
    _say_more(found, 0)
    return Exit.OK


def _say_more(found: MessageList, waiting: int) -> None:
    shown, total = len(found.messages), found.total
    if shown < total:
        unread = f"{waiting:,} more wait unread, and come next; " if waiting else ""
        console.print(f"[dim]{shown:,} of {total:,}; {unread}--limit {total} shows all[/]")


def _show(app: Application, options: Namespace) -> Exit:
    # Whoever reads a thread has read what was waiting in it.
    params = {"project": options.project, "agentId": USER, "threadOf": _wanted(app, options)}
    calls.call(app, "threadline/messages/read", params | {"limit": _MOST}, MessageList)
    thread = _thread(app, options)
    if options.json:
        print(calls.encode(thread))
        return Exit.OK
    for one in thread.messages:
        _show_message(one, is_new=False)
        _show_readers(one)
    if thread.missing:
        screens.say(f"{screens.plural(len(thread.missing), 'message')} of it vanished")
    return Exit.OK


def _reply(app: Application, options: Namespace) -> Exit:
    """Answer a message; whoever answers has dealt with it."""
    if len(options.words) < len(("id", "text")):
        raise InvalidParamsError("say what to answer: `threadline inbox reply ID TEXT`")
    wanted = _wanted(app, options)
    thread = _thread(app, options)
    parent = next((one for one in thread.messages if one.message_id == wanted), None)
    if parent is None:
        raise InvalidParamsError(
            f"message {wanted} has expired; `threadline send` writes a new one"
        )
    given: dict[str, object] = {
        "targetId": parent.target_id if parent.sender_id == USER else parent.sender_id,
        "content": _words(options.words[1:]),
        "senderId": USER,
        "subject": parent.subject,
        "parentMessageId": wanted,
    }
    code = _send(app, options, given)
    if parent.sender_id != USER and parent.target_id in (USER, "*"):
        params = {"project": options.project, "messageId": wanted, "agentId": USER}
        calls.call(app, "threadline/messages/ack", params, ShownMessage)
    return code


def _acknowledge(app: Application, options: Namespace) -> Exit:
    ids = [finding.identify(app, options, "messages", one) for one in options.words]
    if not ids:
        raise InvalidParamsError("name a message: `threadline inbox ack ID`")
    for one in ids:
        params = {"project": options.project, "messageId": one, "agentId": USER}
        done = calls.call(app, "threadline/messages/ack", params, ShownMessage)
        if options.json:
            print(calls.encode(done))
        else:
            screens.say(f"acknowledged: {done.message_id} {done.subject or ''}")
    return Exit.OK


def _read(app: Application, options: Namespace, status: str, *, sent: bool = False) -> MessageList:
    """Read as many messages as are wanted, page by page; what waits is read with that, and waits no more."""
    is_waiting = status == "pending"
    params = {"project": options.project, "agentId": USER, "status": status, "sent": sent}
    found: list[ShownMessage] = []
    total = None
    while True:
        limit = min(options.limit - len(found), _MOST)
        rest = {
            "limit": limit,
            "offset": 0 if is_waiting else len(found),
            "preview": not is_waiting,
        }
        page = calls.call(app, "threadline/messages/read", params | rest, MessageList)
        found += page.messages
        total = page.total if total is None else total
        if not page.messages or len(found) >= min(options.limit, total):
            return MessageList(messages=tuple(found), total=total)


def _thread(app: Application, options: Namespace) -> Thread:
    params = {"project": options.project, "messageId": _wanted(app, options)}
    return calls.call(app, "threadline/messages/thread", params, Thread)


def _words(given: list[str]) -> str:
    return finding.text_of("-") if given == ["-"] else " ".join(given)


def _wanted(app: Application, options: Namespace) -> str:
    if not options.words:
        raise InvalidParamsError(f"name a message: `threadline inbox {options.action} ID`")
    return finding.identify(app, options, "messages", options.words[0])


def _show_message(one: ShownMessage, *, is_new: bool) -> None:
    sign = "[bold green]new[/] " if is_new else ""
    title = clean(one.subject or screens.clipped(one.content, 60))
    whom = "" if one.target_id == USER else f" to {one.target_id}"
    facts = clean(f"{one.sender_id}{whom}, {one.category}, priority {one.priority}")
    when, tail = local(one.created_at), one.message_id[-screens.TAIL :]
    console.print(f"{sign}[bold]{title}[/] [dim]({facts}, {when}, {tail})[/]", soft_wrap=True)
    if one.subject or clean(one.content) != title:
        console.print(screens.indented(one.content), soft_wrap=True)


def _show_readers(one: ShownMessage) -> None:
    if not one.handlings:
        console.print("  [dim]not read yet[/]")
    for name, handling in one.handlings.items():
        what = "acknowledged" if handling.acknowledged_at else "read"
        when = local(handling.acknowledged_at or handling.delivered_at)
        console.print(f"  [dim]{what} by {clean(name)}, {when}[/]", soft_wrap=True)
