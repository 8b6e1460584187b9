"""The commands `review` and `worth-knowing`."""

import sys
from argparse import Namespace

from protocol.errors import InvalidParamsError
from protocol.memories import Memory
from protocol.review import Proposals, Reviewed, WorthKnowing
from sidecar.app import Application
from sidecar.transports.cli import calls, screens
from sidecar.transports.exits import Exit

_KEYS = "[a]ccept  [e]dit  [r]eject  [s]kip  [q]uit"


def review(app: Application, options: Namespace) -> Exit:
    """Decide about proposals: one key each, or all of a kind at once."""
    if options.all_of:
        return _decide_all(app, options)
    params = {"project": options.project, "limit": options.limit}
    waiting = calls.call(app, "threadline/review/list", params, Proposals)
    if options.json:
        print(calls.encode(waiting))
    elif not waiting.total:
        screens.say("nothing waits for review")
    elif options.list or not sys.stdin.isatty():
        _list(waiting)
    else:
        _ask(app, options, waiting)
    return Exit.OK


def worth_knowing(app: Application, options: Namespace) -> Exit:
    """Show the best that is known of a project."""
    params = {"project": options.project, "limit": options.limit}
    found = calls.call(app, "threadline/worthKnowing", params, WorthKnowing)
    if options.json:
        print(calls.encode(found))
        return Exit.OK
    for number, item in enumerate(found.items, start=1):
        screens.console.print(f"{number:>2}. {screens.clean(item.text)}", soft_wrap=True)
        screens.console.print(f"    [dim]{item.kind}: {screens.clean(item.source)}[/]")
    if not found.items:
        screens.say("nothing stands out yet; `threadline scan` imports what was committed here")
    return Exit.OK


def _decide_all(app: Application, options: Namespace) -> Exit:
    if options.accept == options.reject:
        raise InvalidParamsError("say --accept or --reject with --all-of")
    verdict = "accept" if options.accept else "reject"
    params = {"project": options.project, "kind": options.all_of, "verdict": verdict}
    done = calls.call(app, "threadline/review/decide", params, Reviewed)
    if options.json:
        print(calls.encode(done))
    else:
        count = screens.plural(len(done.memories), "proposal")
        screens.say(f"{count} {verdict}ed; {done.left} left")
    return Exit.OK


def _list(waiting: Proposals) -> None:
    for memory in waiting.proposals:
        screens.console.print(f"[dim]{memory.memory_id[-screens.TAIL :]}[/]  {_shown(memory)}")
    kinds = ", ".join(f"{count} {kind}" for kind, count in waiting.kinds.items())
    screens.say(f"{screens.plural(waiting.total, 'proposal')} to review: {kinds}")


def _shown(memory: Memory) -> str:
    kind = memory.rule or "model"
    place = f" [dim]({screens.clean(memory.files[0])})[/]" if memory.files else ""
    return f"[bold]{kind}[/] {screens.clean(memory.content)}{place}"


def _ask(app: Application, options: Namespace, waiting: Proposals) -> None:
    """Show one proposal after the other and do what its key says."""
    left = waiting.total
    for memory in waiting.proposals:
        screens.console.print(_shown(memory), soft_wrap=True)
        screens.say(_KEYS)
        key = sys.stdin.readline().strip().lower()[:1] or "s"
        if key == "q":
            break
        params: dict[str, object] = {"project": options.project, "memoryIds": [memory.memory_id]}
        if key == "e":
            screens.say("in other words:")
            words = sys.stdin.readline().strip()
            if words:
                title = screens.clipped(words)
                params |= {"verdict": "accept", "title": title, "content": words}
        elif key in "ar":
            params["verdict"] = "accept" if key == "a" else "reject"
        if "verdict" in params:
            left = calls.call(app, "threadline/review/decide", params, Reviewed).left
    screens.say(f"{screens.plural(left, 'proposal')} left")
