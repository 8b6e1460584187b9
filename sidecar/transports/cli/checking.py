"""`threadline check`: what a change touches of what is known, for people and for CI."""

from argparse import Namespace

from protocol.checks import Checked
from protocol.errors import InvalidParamsError
from sidecar.app import Application
from sidecar.transports.cli import calls, screens
from sidecar.transports.exits import Exit

_STYLES = {"stale": "bold red", "done": "green", "touched": "yellow"}


def check(app: Application, options: Namespace) -> Exit:
    """Print what a change concerns; FAILED where it makes something stale."""
    if options.staged and options.range:
        raise InvalidParamsError("name a range or --staged, not both", field="range")
    params = {"project": options.project, "range": options.range}
    checked = app.call("threadline/check", params)
    assert isinstance(checked, Checked)  # noqa: S101  # for the type checker; the table says so
    if options.json:
        print(calls.encode(checked))
    for concern in () if options.json else checked.concerns:
        style = _STYLES[concern.state]
        screens.console.print(
            f"[{style}]{concern.state}[/] {concern.kind} [dim]{concern.id[-screens.TAIL :]}[/] "
            f"{screens.clean(concern.title)} [dim]({screens.clean(concern.why)})[/]",
            soft_wrap=True,
        )
    if not options.json and not checked.concerns:
        what = options.range or "what is staged"
        screens.say(f"{what} touches nothing that is known here")
    is_stale = any(concern.state == "stale" for concern in checked.concerns)
    return Exit.FAILED if is_stale else Exit.OK
