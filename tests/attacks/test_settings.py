"""Settings that a project can choose reach neither the model's address nor a secret of the environment.

Helix, Zed and others take the settings of a language server from the project, so a hostile repository speaks
through any LSP client. The server is a real process; a real HTTP server stands for the attacker's model.
"""

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from protocol.errors import ModelFailedError
from protocol.settings import Settings
from sidecar.memory.llm import keys
from sidecar.projects.rules import settings
from tests.memory.test_model_servers import Server, answer, server
from tests.support import Repository
from tests.transports.test_capture import CONFIGURABLE, Editor

__all__ = ["server"]

SECRET = "wJalrXUtnFEMI-not-a-model-key"
NOTHING = {"choices": [{"message": {"content": '{"items": []}'}, "finish_reason": "stop"}]}

Start = Callable[..., Editor]


@pytest.fixture
def start(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start a server with secrets in its environment, and a client that answers with these settings."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("EVIL_API_KEY", SECRET)
    with contextlib.ExitStack() as stack:

        def start(*sections: Any, can_answer: bool = True) -> Editor:
            answers = {"workspace/configuration": list(sections)}
            editor = stack.enter_context(contextlib.closing(Editor(repository.path, answers)))
            editor.open(repository.path, capabilities=CONFIGURABLE if can_answer else {})
            return editor

        yield start


def hostile(server: Server, variable: str) -> dict[str, Any]:
    return {
        "modelProvider": "http",
        "modelBaseUrl": server.url,
        "modelName": "any",
        "modelKeyVariable": variable,
        "autoEnrich": True,
        "logLevel": "debug",
    }


def enrich(editor: Editor, repository: Repository) -> Any:
    """Let memory be made of something that happened here."""
    repository.commit("Use advisory locks instead of Redis")
    editor.request("scan", "threadline/scan", {})
    return editor.request("enrich", "threadline/enrichment/start", {})["result"]


def complaints(editor: Editor, count: int) -> list[str]:
    """Wait for so many warnings, and give all that came."""
    said: list[str] = []
    while len(said) < count:
        notice = editor.hear(lambda one: one["method"] == "window/showMessage")
        assert notice is not None, f"only {said}"
        said.append(notice["params"]["message"])
    return said


def own_settings(home: str, **chosen: Any) -> None:
    Path(home).mkdir(parents=True, exist_ok=True, mode=0o700)
    file = Path(home) / "settings.json"
    file.write_text(json.dumps(chosen))
    file.chmod(0o600)


@pytest.mark.slow
@pytest.mark.parametrize("can_answer", [True, False], ids=["asked", "pushed"])
@pytest.mark.parametrize("variable", ["AWS_SECRET_ACCESS_KEY", "EVIL_API_KEY"])
def test_a_project_cannot_send_a_secret_anywhere(
    start: Start, repository: Repository, server: Server, variable: str, *, can_answer: bool
) -> None:
    """H9."""
    server.plans = [answer(NOTHING)]
    chosen = hostile(server, variable)
    editor = start(chosen, can_answer=can_answer)
    if can_answer:
        editor.until(lambda: "workspace/configuration" in editor.asked)
    else:
        editor.notify("workspace/didChangeConfiguration", {"settings": {"threadline": chosen}})
    job = enrich(editor, repository)
    assert [headers.get("authorization") for _, _, headers in server.requests] == []
    assert (job["provider"], job["status"]) == ("rules", "completed")
    said = complaints(editor, len(chosen))
    named = [name for name in chosen if any(f"`threadline.{name}`" in one for one in said)]
    assert named == [*chosen]
    file = os.path.join(os.environ["THREADLINE_HOME"], "settings.json")  # noqa: PTH118
    assert sum(file in one for one in said) >= 5


@pytest.mark.slow
def test_a_refused_setting_is_named_once(start: Start) -> None:
    """H9."""
    answers: dict[str, Any] = {"autoEnrich": True}
    editor = start(answers)
    (first,) = complaints(editor, 1)
    assert "autoEnrich" in first
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    editor.until(lambda: editor.asked.count("workspace/configuration") == 2)
    answers["logLevel"] = "debug"
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    (second,) = complaints(editor, 1)
    assert "logLevel" in second


@pytest.mark.slow
def test_a_client_that_is_not_ours_cannot_claim_to_speak_for_the_user(
    start: Start, repository: Repository, server: Server
) -> None:
    """H9. A second answer, a section of that name and options at the start are the client's words too."""
    chosen = hostile(server, "EVIL_API_KEY")
    editor = start({"user": chosen, "threadline.user": chosen}, chosen)
    assert enrich(editor, repository)["provider"] == "rules"
    assert server.requests == []


@pytest.mark.slow
def test_the_machines_own_settings_reach_the_model(
    start: Start, repository: Repository, server: Server
) -> None:
    """H9. What the user's own file says is done, and no project changes where it goes."""
    server.plans = [answer(NOTHING)]
    own_settings(
        os.environ["THREADLINE_HOME"],
        modelProvider="http",
        modelBaseUrl=server.url,
        modelName="small",
        modelKeyVariable="EVIL_API_KEY",
    )
    editor = start({"modelBaseUrl": "http://127.0.0.1:9/v1", "modelName": "other"})
    assert len(complaints(editor, 2)) == 2
    assert enrich(editor, repository)["status"] == "completed"
    ((_, body, headers),) = server.requests
    assert (body["model"], headers["authorization"]) == ("small", f"Bearer {SECRET}")


@pytest.mark.slow
def test_a_client_that_separates_what_its_user_chose_is_believed(
    start: Start, repository: Repository, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H9. The environment it starts us with says so, and its project section is still a project's."""
    server.plans = [answer(NOTHING)]
    monkeypatch.setenv("THREADLINE_USER_SECTION", "threadline.user")
    chosen = hostile(server, "EVIL_API_KEY")
    editor = start({"modelBaseUrl": "http://127.0.0.1:9/v1"}, chosen)
    (said,) = complaints(editor, 1)
    assert "modelBaseUrl" in said
    assert enrich(editor, repository)["provider"] == "http"
    assert len(server.requests) == 1


def fields() -> list[Any]:
    return list(msgspec.structs.fields(Settings))


@pytest.mark.parametrize("field", fields(), ids=lambda field: field.name)
def test_every_setting_declares_who_may_choose_it(field: Any) -> None:
    """H9."""
    assert settings.trust(field) in {"machine", "user", "project"}
    assert (settings.trust(field) == "machine") == field.name.startswith("model_")


def test_a_project_may_turn_things_off_and_never_on() -> None:
    """H9."""
    switches = {"captureCommits", "captureSaves", "autoEnrich", "dailyDigest", "continuityEnabled"}
    on, _ = settings.read(dict.fromkeys(switches, True), Settings())
    off, none = settings.read_project(dict.fromkeys(switches, False), on, "FILE")
    assert none == []
    assert off == settings.read(dict.fromkeys(switches, False), Settings())[0]
    again, refused = settings.read_project(dict.fromkeys(switches, True), off, "FILE")
    assert again == off
    assert len(refused) == len(switches)
    assert all(sentence.endswith("set it in FILE") for sentence in refused)


def test_what_is_in_force_already_is_no_refusal() -> None:
    """H9. Many clients send every default."""
    own = Settings(model_base_url="http://127.0.0.1:1/v1")
    everything = msgspec.to_builtins(own)
    everything |= {field.encode_name: getattr(own, field.name) for field in fields()}
    assert settings.read_project(everything, own, "FILE") == (own, [])


@pytest.mark.parametrize(
    "variable",
    [
        "AWS_SECRET_ACCESS_KEY",
        "PATH",
        "GITHUB_TOKEN",
        "API_KEY\n",
        "X_API_KEY ",
        "_API_KEYS",
        "a b_API_KEY",
    ],
)
def test_no_other_variable_is_taken_for_a_key(variable: str) -> None:
    """H9. Neither where settings are read nor where keys are found."""
    chosen, problems = settings.read({"modelKeyVariable": variable}, Settings())
    assert (chosen.model_key_variable, len(problems)) == ("", 1)
    with pytest.raises(ModelFailedError, match="never sent"):
        keys.find("https://example.org/v1", variable=variable, environment={variable: SECRET})


@pytest.mark.parametrize("variable", ["THREADLINE_KEY", "OPENAI_API_KEY", "Some_2_API_KEY"])
def test_the_names_of_keys_are_taken(variable: str) -> None:
    """H9."""
    chosen, problems = settings.read({"modelKeyVariable": variable}, Settings())
    assert (chosen.model_key_variable, problems) == (variable, [])
    found = keys.find("https://example.org/v1", variable=variable, environment={variable: SECRET})
    assert isinstance(found, keys.Key)


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("https://a.example/v2", "A_API_KEY"),
        ("https://b.example/v1", ""),
        ("https://a.example.evil.net/v1", ""),
        ("https://[", ""),
    ],
)
def test_a_key_stays_with_its_host(address: str, kept: str) -> None:
    """H9. Who names another host names its key, or there is none."""
    own = Settings(model_base_url="https://a.example/v1", model_key_variable="A_API_KEY")
    chosen, _ = settings.read({"modelBaseUrl": address}, own)
    assert (chosen.model_base_url, chosen.model_key_variable) == (address, kept)
    both, _ = settings.read({"modelBaseUrl": address, "modelKeyVariable": "B_API_KEY"}, own)
    assert both.model_key_variable == "B_API_KEY"
