"""The `why` command and its kin."""

import os
from argparse import Namespace
from pathlib import Path

from protocol.errors import InvalidParamsError, NotFoundError
from protocol.explanations import Explanation, FileStory
from sidecar.app import Application
from sidecar.context.rules import explanations
from sidecar.text import paths
from sidecar.transports.cli import calls, screens
from sidecar.transports.exits import Exit


def why(app: Application, options: Namespace) -> Exit:
    """Return what is behind a line (`FILE:LINE`), or what is known about a file."""
    name, colon, number = options.place.rpartition(":")
    if colon and number.isascii() and number.isdigit():
        return _explain(app, options, name, int(number))
    params = _place(app, options, options.place)
    story = calls.call(app, "threadline/files/about", params, FileStory)
    if options.json:
        print(calls.encode(story))
    else:
        _show(explanations.summary(story))
    return Exit.OK


def _explain(app: Application, options: Namespace, name: str, line: int) -> Exit:
    params = _place(app, options, name) | {"line": line}
    found = calls.call(app, "threadline/lines/explain", params, Explanation)
    text = explanations.whole(found)
    if options.json:
        print(calls.encode(found))
    elif text is None and not (Path.cwd() / Path(name).expanduser()).exists():
        raise NotFoundError(f"there is no file {name}, and nothing is known about one")
    elif text is None:
        screens.say(f"nothing is known about line {line} of {found.path}")
    else:
        _show(text)
    return Exit.OK


def _place(app: Application, options: Namespace, name: str) -> dict[str, object]:
    if not name:
        raise InvalidParamsError("name a file, such as src/app.py:12")
    here = Path.cwd() / Path(name).expanduser()
    if options.project and not here.exists():
        return {"project": options.project, "path": name}
    own = str(here.parent) if here.parent.is_dir() and app.root(str(here.parent)) else None
    return {"project": options.project or own, "path": paths.read(os.fsencode(here))}


def _show(text: str) -> None:
    for line in text.splitlines():
        screens.console.print(screens.clean(line), soft_wrap=True)
