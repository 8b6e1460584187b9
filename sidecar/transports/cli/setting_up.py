"""`threadline init` and `threadline leave`: everything for a repository in one go, one question for each part."""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from typing import NamedTuple, get_args

from protocol.connections import ConnectParams, Level
from protocol.errors import InvalidParamsError
from protocol.rules import RulesList, Target
from protocol.values import Record
from sidecar.app import Application
from sidecar.handlers import connections
from sidecar.hosts import connect as hosts_connect
from sidecar.transports.cli import calls, connecting, importing, memory, rules, screens
from sidecar.transports.exits import Exit


class Outcome(Record, frozen=True, kw_only=True):
    """What came of each part that was offered."""

    done: tuple[str, ...]
    declined: tuple[str, ...]
    failed: tuple[str, ...]


class _Part(NamedTuple):
    name: str
    question: str
    act: Callable[[], Exit]


def init(app: Application, options: Namespace) -> Exit:
    """Read the history, make memory, import conversations, connect assistants, write rules files."""
    outcome = _offer(_beginnings(app, options), options)
    if not options.json and outcome.done:
        screens.say("`threadline worth-knowing` shows what was found; `threadline leave` undoes it")
    return _end(outcome, options)


def leave(app: Application, options: Namespace) -> Exit:
    """Take everything out that `init` has put into files of others; what was recorded stays, and it says where."""
    outcome = _offer(_endings(app, options), options)
    if not options.json:
        if "assistants everywhere" not in outcome.done:
            screens.say(f"what was recorded stays in {app.home.folder}")
        screens.say("`threadline purge --everything` erases it for this project")
    return _end(outcome, options)


def _beginnings(app: Application, options: Namespace) -> Iterator[_Part]:
    """Yield the parts one after the other: what is offered may depend on what was done."""
    yield _Part(
        "history",
        "read this repository's history, everyone's commits?",
        lambda: importing.history(app, _words(options, is_offering=False)),
    )
    yield _Part(
        "memory",
        "make memory from it, by rules and without a model?",
        lambda: memory.enrich(app, _words(options, all=True)),
    )
    for host, label, count in importing.waiting(app, options.project):
        what = screens.plural(count, "past conversation")
        yield _Part(
            f"conversations: {host}",
            f"import {what} about this repository that {label} has kept?",
            lambda host=host: importing.conversations(app, _words(options, source=host)),  # type: ignore[misc]  # mypy knows no default here
        )
    if installed := _installed(app):
        yield _Part(
            "assistants",
            f"connect {', '.join(installed.values())}, in all your repositories?",
            lambda: connecting.connect(app, _words(options, agent=[*installed])),
        )
    for target in _targets(app, options, {"absent"}, {"agents", *installed}):
        yield _rules_part(app, options, target, "write")


def _endings(app: Application, options: Namespace) -> Iterator[_Part]:
    for target in _targets(app, options, {"written", "edited"}, set(get_args(Target))):
        yield _rules_part(app, options, target, "remove")
    levels: tuple[tuple[Level, str], ...] = (("project", "here"), ("user", "everywhere"))
    for level, where in levels:
        plan = hosts_connect.disconnect(
            connections.prepare(app, level, options.project),
            ConnectParams(level=level, dry_run=True),
        )
        changed = [change for change in plan.files if change.action != "unchanged"]
        if changed and level == "user" and options.yes and len(app.home.projects()) > 1:
            screens.say(
                "assistants stay connected for your other projects; `threadline disconnect --all` ends that"
            )
        elif changed:
            names = sorted({name for change in changed for name in change.agents})
            folder = None if level == "user" else options.project or ""
            words = _words(options, project=folder, all=True)
            yield _Part(
                f"assistants {where}",
                f"disconnect {', '.join(names)} {where}?",
                lambda words=words: connecting.disconnect(app, words),  # type: ignore[misc]  # likewise
            )


def _rules_part(app: Application, options: Namespace, target: str, action: str) -> _Part:
    verb = "write what assistants should know into" if action == "write" else "take our part out of"
    files = {"agents": "AGENTS.md", "cursor": ".cursor/rules", "windsurf": ".windsurf/rules"}
    words = _words(options, action=action, target=[target])
    return _Part(f"rules: {target}", f"{verb} {files[target]}?", lambda: rules.rules(app, words))


def _targets(
    app: Application, options: Namespace, states: set[str], wanted: set[str]
) -> Iterator[str]:
    listed = calls.call(app, "threadline/rules/list", {"project": options.project}, RulesList)
    for file in listed.files:
        if file.state in states and file.target in wanted:
            yield file.target


def _installed(app: Application) -> dict[str, str]:
    found = hosts_connect.find(connections.prepare(app, "user"))
    return {agent.agent: agent.label for agent in found if agent.installed}


def _words(options: Namespace, **words: object) -> Namespace:
    """Return the options of the command that does a part, as if a person had typed them."""
    plain: dict[str, object] = {
        **dict.fromkeys(("path", "since", "author", "session", "provider", "target")),
        **dict.fromkeys(("mine", "line_counts", "retry", "all_projects", "dry_run"), False),
        "all": False,
        "force": False,
        "agent": [],
        "json": False,
        "is_offering": True,
    }
    is_connecting = "agent" in words
    project = None if is_connecting else options.project
    return Namespace(**{**plain, "project": project, **words})


def _offer(parts: Iterator[_Part], options: Namespace) -> Outcome:
    """Ask about each part and do what is wanted; one that fails does not keep the others from being offered."""
    if not options.yes and (options.json or sys.stdin is None or not sys.stdin.isatty()):
        raise InvalidParamsError(
            f"`threadline {options.command}` asks before each step; --yes agrees to all of them"
        )
    results: dict[str, list[str]] = {"done": [], "declined": [], "failed": []}
    for part in parts:
        if not options.yes and not connecting.is_wanted(part.question):
            results["declined"].append(part.name)
            continue
        if options.yes:
            screens.say(part.question.removesuffix("?"))
        results["done" if part.act() == Exit.OK else "failed"].append(part.name)
    return Outcome(**{name: tuple(parts) for name, parts in results.items()})


def _end(outcome: Outcome, options: Namespace) -> Exit:
    if options.json:
        print(calls.encode(outcome))
    elif not (outcome.done or outcome.failed):
        screens.say("nothing was changed")
    return Exit.FAILED if outcome.failed else Exit.OK
