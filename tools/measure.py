"""Print how large the code is and how many files each journey through it touches.

`python tools/measure.py` prints two Markdown tables, for ARCHITECTURE.md and for whoever compares two versions.
A journey is run for real in a small repository; a file counts if one of its functions ran.
"""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from protocol.contexts import RenderParams
from protocol.methods import SessionPage
from sidecar.app import Application, open_application
from sidecar.transports.hooks import main as hook
from sidecar.transports.hooks.calls import Call
from tools.modules import ROOT

PRODUCT = ROOT / "sidecar"
MESSAGE = {"session_id": "s1", "hook_event_name": "UserPromptSubmit"}


def main() -> None:
    """Print both tables."""
    print("| package | modules | lines |\n|---|---|---|")
    for folder, (modules, lines) in sizes().items():
        print(f"| {folder} | {modules} | {lines:,} |")
    print("\n| journey | files |\n|---|---|")
    with tempfile.TemporaryDirectory() as name:
        for journey, files in journeys(Path(name)).items():
            print(f"| {journey} | {files} |")


def sizes() -> dict[str, tuple[int, int]]:
    """Return the modules and lines of each package, and of all."""
    folders = sorted(path for path in PRODUCT.iterdir() if any(path.glob("*.py")))
    rows = {folder.name: _size(folder) for folder in folders}
    return rows | {"all of sidecar/": _size(PRODUCT)}


def _size(folder: Path) -> tuple[int, int]:
    texts = [path.read_text("utf-8") for path in folder.rglob("*.py")]
    return sum(bool(text) for text in texts), sum(len(text.splitlines()) for text in texts)


def journeys(folder: Path) -> dict[str, int]:
    """Return how many files of the product run in each journey."""
    repository = _repository(folder / "repository")
    environment = {
        **os.environ,
        "THREADLINE_HOME": str(folder / "home"),
        "THREADLINE_UPKEEP": "off",
    }
    counts: dict[str, int] = {}
    with closing(
        open_application(here=repository, source="cli-scan", environment=environment)
    ) as app:
        counts["commit → event"] = _count(lambda: app.call("threadline/scan", {}))
        counts["event → memory"] = _count(lambda: _enrich(app))
        counts["request → answer"] = _count(lambda: app.call("threadline/sessions/list", {}))
        # The first prompt of a conversation is answered; the next is only captured.
        _prompt(repository, environment, "Where is the limiter?")
        counts["prompt → spool"] = _count(
            lambda: _prompt(repository, environment, "We must never log customer names.")
        )
        counts["spool → stored turn"] = _count(lambda: app.hearing.place(60, ""))
        params = RenderParams(project=str(repository), host="claude-code", session_key="s2")
        counts["memory → start of a conversation"] = _count(lambda: app.dialogue.greet(params))
    return counts


def _repository(folder: Path) -> Path:
    folder.mkdir()
    (folder / "limiter.py").write_text("LIMIT = 5\n")
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    message = "feat: limit requests\n\nWe use a token bucket instead of a window, because bursts are fine."
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", message)):
        subprocess.run(["git", "-C", folder, *identity, *words], check=True)
    subprocess.run(["git", "-C", folder, "config", "user.email", "ada@example.org"], check=True)
    return folder


def _enrich(app: Application) -> None:
    page = app.call("threadline/sessions/list", {})
    assert isinstance(page, SessionPage)
    app.call("threadline/enrichment/start", {"sessionId": page.sessions[0].session_id})


def _prompt(repository: Path, environment: dict[str, str], prompt: str) -> None:
    from sidecar.transports.hooks import notation  # noqa: PLC0415  # as a hook reads it

    data = notation.encode({**MESSAGE, "cwd": str(repository), "prompt": prompt})
    _, finish = hook.respond(Call(["claude-code"]), lambda: data, environment)
    finish()


def _count(journey: Callable[[], object]) -> int:
    """Return how many files of the product have a function that runs."""
    files: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>":
            files.add(code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        journey()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sum(name.startswith(str(PRODUCT)) for name in files)


if __name__ == "__main__":
    main()
