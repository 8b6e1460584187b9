"""One file describes an assistant, and everything that deals with assistants follows from it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecar.hosts import (
    assistant,
    assistants,
    client_names,
    contents,
    locations,
    merge,
    transcripts,
)
from sidecar.hosts.locations import Surroundings
from sidecar.hosts.program import READY
from sidecar.transports.hooks import main, observing, recognition
from tests.support import ROOT
from tools import generate

NEW = '''
"""A made-up assistant."""

from sidecar.hosts.assistant import (
    Assistant,
    Fields,
    File,
    Hook,
    HookEntries,
    Turn,
    make_turn,
)


class Example(Assistant):
    """An assistant that nobody has."""

    name = "example-cli"
    label = "Example"
    client_names = ("example",)
    limit = 1_234
    files = (
        File(
            user=("~/.example/hooks.json",),
            hooks=HookEntries("example-cli", (Hook("onPrompt"),), style="flat"),
        ),
    )
    signs = ("~/.example",)
    events = {"onPrompt": "prompt"}
    transcripts = ("~/.example",)

    def answer(self, text: str, event: str) -> dict[str, object]:
        return {"say": text}

    def read_turn(self, line: Fields) -> Turn | None:
        return make_turn(line.get("who"), str(line.get("what")))


ASSISTANT = Example()
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in which one more assistant is described."""
    (tmp_path / "example_cli.py").write_text(NEW)
    monkeypatch.setattr(assistants, "__path__", [*assistants.__path__, str(tmp_path)])
    client_names._labels.cache_clear()
    yield tmp_path
    sys.modules.pop("sidecar.hosts.assistants.example_cli", None)
    client_names._labels.cache_clear()


def test_one_file_is_all_that_an_assistant_needs(folder: Path) -> None:
    """Part of F3."""
    host = assistant.find("example-cli")
    assert "example-cli" in assistant.names()
    assert assistant.cap("example-cli") == 1_234
    assert client_names.find_program("Example 2.0") == "example-cli"
    assert client_names.find_label("Example CLI") == "Example"
    around = Surroundings(str(folder), "linux", {})
    assert locations.candidates(host.files[0], "user", around) == [f"{folder}/.example/hooks.json"]
    written = json.loads(merge.join(None, contents.build(host, host.files[0], READY)))
    command = {"command": "threadline hook example-cli onPrompt", "timeout": 10}
    assert written == {"hooks": {"onPrompt": [command]}}
    message = {"prompt": "Use tabs.", "session_id": "s1", "cwd": str(folder)}
    found, is_sure = recognition.recognise("example-cli", message, {})
    seen = observing.observe(found, "onPrompt", message, {})
    assert (seen["host"], seen["event"], seen["prompt"]) == ("example-cli", "prompt", "Use tabs.")
    assert main.encode_answer("Hello.", found, "onPrompt", is_sure=is_sure) == b'{"say":"Hello."}'
    transcript = folder / ".example" / "s1.jsonl"
    transcript.parent.mkdir()
    transcript.write_text(json.dumps({"who": "user", "what": "Use tabs."}) + "\n")
    assert transcripts.turns(str(transcript), "example-cli", folder) == [("user", "Use tabs.")]
    assert '"example-cli": "Example",' in generate.labels()


@pytest.mark.parametrize("name", ["", "nobody", "__init__", "../os", "os.path", "a b"])
def test_a_name_without_a_file_is_an_unknown_assistant(name: str) -> None:
    host = assistant.find(name)
    assert (host.name, host.limit) == ("unknown", 10_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", assistant.names())
def test_a_hook_loads_its_own_assistant_and_nothing_heavy(name: str) -> None:
    """Part of F2."""
    code = (
        "import sys; before = set(sys.modules)\n"
        f"from sidecar.hosts import assistant; assistant.find({name!r})\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    shared = {"sidecar", "sidecar.hosts", "sidecar.hosts.assistant", "sidecar.hosts.assistants"}
    own = {f"sidecar.hosts.assistants.{name.replace('-', '_')}"}
    borrowed = {"sidecar.hosts.assistants.copilot"} if name == "vscode" else set()
    assert set(done.stdout.split()) == shared | own | borrowed
