"""Commands about context: what assistants are given, why, and what it was worth."""

from argparse import Namespace
from typing import TypeVar

from protocol.checkpoints import CheckpointList
from protocol.contexts import (
    Receipt,
    ReceiptList,
    RenderParams,
    StartContext,
    Stats,
)
from protocol.conversions import convert
from protocol.errors import NotFoundError
from protocol.memories import Memory
from protocol.methods import METHODS
from protocol.recall import MemoryList
from sidecar.app import Application
from sidecar.domain import ulids
from sidecar.domain.rendering import characters
from sidecar.transports.cli import briefings, calls, finding, screens
from sidecar.transports.exits import Exit

T = TypeVar("T")

_AT_ONCE = 50
"""Memories that can be read by one request."""
_RENDER = next(method for method in METHODS if method.name == "threadline/context/render")


def context(app: Application, options: Namespace) -> Exit:
    """Show what an assistant would get now; nothing is changed by looking."""
    params = _params(app, options)
    if options.json:
        print(calls.encode(_call(app, "threadline/context/start", params, StartContext)))
        return Exit.OK
    asked = convert(_RENDER, params | {"host": options.host, "maxChars": options.max_chars})
    assert isinstance(asked, RenderParams)  # noqa: S101  # for the type checker; the table says so
    account = app.mind.dialogue.explain(asked)
    rendered = account.rendered
    if rendered.text:
        print(characters.visible(rendered.text))
    else:
        screens.say(
            "nothing to tell yet; `threadline enrich --all` makes memory from past sessions"
        )
    if options.explain:
        titles = {key: words.title for key, words in account.words.items()}
        briefings.explain(account.receipt, titles)
    elif rendered.left_out:
        screens.say(
            f"left out for lack of room: {briefings.counted(rendered.left_out)}; --explain shows them"
        )
    return Exit.OK


def receipts(app: Application, options: Namespace) -> Exit:
    """List what was given to conversations, or show one receipt and replay it."""
    params = {
        "project": options.project,
        "receiptId": options.receipt,
        "sessionKey": options.conversation,
        "limit": options.limit,
        "replay": options.receipt is not None,
    }
    found = _call(app, "threadline/context/receipts", params, ReceiptList)
    if options.json:
        print(calls.encode(found))
    elif options.receipt is None:
        briefings.list_receipts(found)
    elif found.receipts:
        (receipt,), (again,) = found.receipts, found.replays
        briefings.replay(receipt, again, _titles(app, options, receipt))
    else:
        raise NotFoundError(f"no receipt {options.receipt}; `threadline receipts` lists them")
    return Exit.OK


def feedback(app: Application, options: Namespace) -> Exit:
    """Take down what the user thinks of a memory."""
    params = {
        "project": options.project,
        "memoryId": finding.memory_id(app, options, options.memory),
        "verdict": options.verdict,
        "note": options.note,
    }
    memory = _call(app, "threadline/context/feedback", params, Memory)
    if options.json:
        print(calls.encode(memory))
    else:
        screens.say(f"{options.verdict}: {memory.title}; {briefings.standing(memory)}")
    return Exit.OK


def checkpoints(app: Application, options: Namespace) -> Exit:
    """List the saved states of conversations, newest first."""
    params = {
        "project": options.project,
        "sessionKey": options.conversation,
        "limit": options.limit,
    }
    found = _call(app, "threadline/checkpoints/list", params, CheckpointList)
    if options.json:
        print(calls.encode(found))
    else:
        briefings.list_checkpoints(found, options.conversation)
    return Exit.OK


def stats(app: Application, options: Namespace) -> Exit:
    """Show what memory was worth to conversations."""
    params = {"project": options.project, "days": options.days}
    found = _call(app, "threadline/context/stats", params, Stats)
    if options.json:
        print(calls.encode(found))
    else:
        briefings.show_stats(found)
    return Exit.OK


def _params(app: Application, options: Namespace) -> dict[str, object]:
    given: dict[str, object] = {
        "project": options.project,
        "query": " ".join(options.query),
        "agentId": options.agent,
        "mode": options.mode,
        "summaryOnly": not options.full,
        "includeDocuments": options.document or [],
        "sessionKey": options.conversation,
        "filesAtHand": [finding.path_of(app, options, name) for name in options.open or []],
        "preview": True,
    }
    if options.max_chars is not None:
        given["maxResponseChars"] = options.max_chars
    return given


def _titles(app: Application, options: Namespace, receipt: Receipt) -> dict[str, str]:
    """Find what the memories say that a receipt names."""
    ids = [*(one.id for one in receipt.items), *(one.id for one in receipt.left_out)]
    unique = list(dict.fromkeys(filter(ulids.is_ulid, ids)))
    titles: dict[str, str] = {}
    for at in range(0, len(unique), _AT_ONCE):
        params = {"project": options.project, "memoryIds": unique[at : at + _AT_ONCE]}
        found = _call(app, "threadline/memories/read", params, MemoryList)
        titles |= {one.memory_id: one.title for one in found.memories}
    return titles


def _call(app: Application, method: str, params: object, kind: type[T]) -> T:
    result = app.call(method, params)
    assert isinstance(result, kind)  # noqa: S101  # for the type checker; the table says so
    return result
