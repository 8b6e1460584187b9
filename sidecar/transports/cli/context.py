"""Commands about context: what assistants are given, why, and what it was worth."""

from argparse import Namespace
from collections.abc import Mapping
from typing import TypeVar

from rich.table import Table

from protocol.checkpoints import Checkpoint, CheckpointList, Trigger
from protocol.contexts import (
    GivenItem,
    Receipt,
    ReceiptList,
    RenderParams,
    Replay,
    StartContext,
    Stats,
    Worth,
)
from protocol.conversions import convert
from protocol.errors import NotFoundError
from protocol.memories import Memory
from protocol.methods import METHODS
from protocol.recall import MemoryList
from sidecar.app import Application
from sidecar.context.rules.rendering import NOUNS
from sidecar.conversations.rules import checkpoints as rules_checkpoints
from sidecar.storage import ulids
from sidecar.text import characters
from sidecar.transports.cli import calls, finding, screens
from sidecar.transports.cli.screens import clean, console, local, plural
from sidecar.transports.exits import Exit

_TRIGGERS: dict[Trigger, str] = {
    "periodic": "in passing",
    "pre_compaction": "before a compaction",
    "agent": "in its agent's words",
    "explicit": "as its agent asked",
    "session_end": "at its end",
}
"""Why a state was saved."""


def explain(receipt: Receipt, titles: Mapping[str, str]) -> None:
    """Say why each item was given, and what was left out; `titles` tells what items say."""
    console.print(
        f"\n[bold]Given: {plural(len(receipt.items), 'item')}[/] "
        f"in {receipt.chars:,} of {receipt.cap:,} characters"
    )
    if receipt.items:
        table = _table("what", "among", "chars", "why, the strongest reason first")
        for one in receipt.items:
            table.add_row(_what(one.id, titles), _among(one.section), str(one.chars), _why(one))
        console.print(table)
    if receipt.left_out:
        console.print(f"\n[bold]Left out: {plural(len(receipt.left_out), 'item')}[/]")
        rest = _table("what", "among", "because")
        for left in receipt.left_out:
            reason = _REASONS.get(left.reason, left.reason)
            rest.add_row(_what(left.id, titles), _among(left.section), clean(reason))
        console.print(rest)


def counted(left_out: Mapping[str, int]) -> str:
    """Write how many items of each section are missing."""
    return ", ".join(f"{_among(name)} ({count})" for name, count in left_out.items())


def standing(memory: Memory) -> str:
    """Return what the opinions about a memory amount to."""
    if memory.feedback <= -1:
        return "it is not given any more"
    if memory.feedback == 0:
        return "it counts as others do"
    return f"it counts {'more' if memory.feedback > 0 else 'less'} than others"


def list_receipts(found: ReceiptList) -> None:
    """Show receipts, newest first."""
    if not found.receipts:
        screens.say("no receipts yet; one is kept whenever an assistant is given context")
        return
    table = _table("given", "to", "for", "items", "left out", "chars", "times", "receipt")
    for one in found.receipts:
        table.add_row(
            local(one.last_given_at),
            clean(one.agent_id),
            clean(one.host or "a request"),
            str(len(one.items)),
            str(len(one.left_out)),
            f"{one.chars:,} of {one.cap:,}",
            str(one.times),
            one.receipt_id,
        )
    console.print(table)
    if found.total > len(found.receipts):
        console.print(f"[dim]{len(found.receipts)} of {found.total:,}; --limit shows more[/]")


def replay(receipt: Receipt, again: Replay, titles: Mapping[str, str]) -> None:
    """Show what was given, as far as it is still remembered, and why."""
    console.print(
        f"[bold]Receipt {receipt.receipt_id}[/] to {clean(receipt.agent_id)}, {local(receipt.given_at)}"
    )
    if receipt.query:
        console.print(f"asked: {clean(screens.clipped(receipt.query))}", soft_wrap=True)
    explain(receipt, titles)
    for key in again.changed:
        console.print(f"[yellow]changed since:[/] {_what(key, titles)}", soft_wrap=True)
    if again.forgotten:
        console.print(f"[dim]{plural(len(again.forgotten), 'item')} forgotten since[/]")


def list_checkpoints(found: CheckpointList, conversation: str | None) -> None:
    """Show checkpoints, newest first; those of one conversation with their words."""
    if not found.checkpoints and conversation is None:
        screens.say("no checkpoints yet; they are made while an assistant works")
    elif not found.checkpoints:
        screens.say(
            f"no checkpoints of {clean(conversation or '')}; `threadline checkpoints` lists all"
        )
    for one in found.checkpoints:
        _show_checkpoint(one, is_whole=conversation is not None)
    if found.total > len(found.checkpoints):
        console.print(f"[dim]{len(found.checkpoints)} of {found.total:,}; --limit shows more[/]")


def _show_checkpoint(one: Checkpoint, *, is_whole: bool) -> None:
    facts = f"{_TRIGGERS[one.trigger]}, {plural(one.prompt_count, 'prompt')}, {one.harness}"
    console.print(
        f"[bold]{local(one.created_at)}[/] {clean(facts)} [dim]{clean(one.session_key)}[/]",
        soft_wrap=True,
    )
    told = one.digest.splitlines() if is_whole else [screens.clipped(_gist(one.digest))]
    for line in told:
        console.print(f"  {clean(line)}".rstrip(), soft_wrap=True)


def _gist(digest: str) -> str:
    lines = [line.strip() for line in digest.splitlines()]
    if digest.startswith(rules_checkpoints.OBSERVED):
        items = [line.removeprefix("- ").rstrip(".") for line in lines if line.startswith("- ")]
        return "; ".join(items) or "nothing of note was said"
    return " ".join(f"{line.strip('# ')}:" if line.startswith("#") else line for line in lines)


def show_stats(stats: Stats) -> None:
    """Show what conversations had of their context."""
    kinds = {"cold": stats.cold, "recovered": stats.recovered}
    if not any(worth.conversations for worth in kinds.values()):
        screens.say(f"no conversations since {local(stats.since)}")
        return
    table = _table("began", "conversations", "prompts", "given", "new to it", "used", "of given")
    for name, worth in kinds.items():
        figures = (worth.conversations, worth.prompts, worth.given, worth.news, worth.used)
        table.add_row(name, *map(str, figures), _share(worth))
    console.print(table)
    console.print(
        "[dim]recovered: told where an earlier conversation stood; used: searched, read or quoted later[/]"
    )
    if stats.most_used:
        console.print("\n[bold]Most used[/]")
    for item in stats.most_used:
        console.print(f"  {clean(item.title)} [dim]{item.memory_id[-screens.TAIL :]}[/]")


_SIGNALS = {
    "words": "its words",
    "meaning": "its meaning",
    "company": "its files, which other matches share",
    "files": "the files at hand",
    "standing": "",
    "recency": "it is recent",
    "importance": "its importance",
    "confidence": "its certainty",
    "pinned": "it is pinned",
    "branch": "it is of this branch",
    "feedback": "what was said of it",
}
_REASONS = {
    "cap": "there was no room",
    "limit": "others of its kind came first",
    "said already": "another item says it",
    "one author": "two of the same author's are enough",
    "gone": "the code it speaks of is gone",
    "other branch": "it belongs to another branch",
    "in a digest": "the day's digest covers it",
    "wrong": "it was said to be wrong",
    "superseded": "a newer one says it",
}
_UNRANKED = {
    "documents": "it is always told, or was asked for",
    "pendingMessages": "it waited for this agent",
    "activeTasks": "it is open for this agent",
    "tasksAutoCompleted": "it was just found to be done",
    "tasksSuggestedDone": "a commit seems to have done it",
    "recovery": "the conversation goes on from there",
}
_WIDTH = 60
_REASONS_SHOWN = 4


def _what(item: str, titles: Mapping[str, str]) -> str:
    if item not in titles:
        return clean(item[-screens.TAIL :] if ulids.is_ulid(item) else item)
    short = screens.clipped(titles[item], _WIDTH)
    return f"{clean(short)} [dim]{item[-screens.TAIL :]}[/]"


def _among(section: str) -> str:
    return NOUNS.get(section, clean(section))


def _why(item: GivenItem) -> str:
    if not item.why:
        return _UNRANKED.get(item.section, "")
    ranked = sorted(item.why.items(), key=lambda signal: -abs(signal[1]))
    named = [(_SIGNALS.get(name, name), value) for name, value in ranked]
    told = [f"{name} {value:+.2f}" for name, value in named if name]
    return clean(", ".join(told[:_REASONS_SHOWN]))


def _share(worth: Worth) -> str:
    return f"{worth.used / worth.given:.0%}" if worth.given else ""


def _table(*names: str) -> Table:
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold")
    return table


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
    account = app.dialogue.explain(asked)
    rendered = account.rendered
    if rendered.text:
        print(characters.visible(rendered.text))
    else:
        screens.say(
            "nothing to tell yet; `threadline enrich --all` makes memory from past sessions"
        )
    if options.explain:
        titles = {key: words.title for key, words in account.words.items()}
        explain(account.receipt, titles)
    elif rendered.left_out:
        screens.say(
            f"left out for lack of room: {counted(rendered.left_out)}; --explain shows them"
        )
    return Exit.OK


def receipts(app: Application, options: Namespace) -> Exit:
    """List what was given to conversations, or show one receipt and replay it."""
    if options.receipt is not None:
        options.receipt = finding.identify(app, options, "receipts", options.receipt)
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
        list_receipts(found)
    elif found.receipts:
        (receipt,), (again,) = found.receipts, found.replays
        replay(receipt, again, _titles(app, options, receipt))
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
        screens.say(f"{options.verdict}: {memory.title}; {standing(memory)}")
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
        list_checkpoints(found, options.conversation)
    return Exit.OK


def stats(app: Application, options: Namespace) -> Exit:
    """Show what memory was worth to conversations."""
    params = {"project": options.project, "days": options.days}
    found = _call(app, "threadline/context/stats", params, Stats)
    if options.json:
        print(calls.encode(found))
    else:
        show_stats(found)
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
