"""Which files are saved: a few records, nothing of what is ignored or secret, never a content."""

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from protocol.events import Event
from protocol.settings import Settings
from sidecar.app import Application
from sidecar.capture.rules.sessions import Rule
from sidecar.storage.home import Home
from sidecar.storage.ulids import Ids
from tests.support import NOON, FixedClock, Repository

pytestmark = pytest.mark.slow

SECOND = timedelta(seconds=1)


class Editor:
    """Saves files as an editor reports it, at times of the test's choosing."""

    def __init__(self, app: Application, clock: FixedClock, *folders: Path) -> None:
        self.app = app
        self.clock = clock
        self.app.workspace.arrange(folders)

    def save(self, *paths: Path, after: timedelta = timedelta()) -> None:
        self.clock.pass_(after)
        self.app.workspace.save([(path, self.clock()) for path in paths])

    def events(self, project: Path | None = None) -> list[Event]:
        vault = self.app.vault(None if project is None else str(project))
        return [
            event
            for session in vault.sessions.timeline()
            for event in vault.sessions.events(session.session_id)
        ]

    def names(self, project: Path | None = None) -> list[str]:
        return [change.path for event in self.events(project) for change in event.files]


@pytest.fixture
def editor(repository: Repository, tmp_path: Path, clock: FixedClock) -> Iterator[Editor]:
    home = Home(tmp_path / "home", Ids(clock), Rule())
    app = Application(home, here=repository.path, source="vscode")
    yield Editor(app, clock, repository.path)
    app.close()


def test_a_save_is_recorded_by_its_name_alone(editor: Editor, repository: Repository) -> None:
    """B4."""
    repository.write("src/a.py", "password = 'hunter2'\n")
    editor.save(repository.path / "src" / "a.py")
    (event,) = editor.events()
    assert (event.kind, event.source, event.occurred_at) == ("save", "vscode", NOON)
    assert [(change.path, change.status) for change in event.files] == [("src/a.py", "modified")]
    kept = b"".join(
        path.read_bytes() for path in editor.app.home.folder.rglob("*") if path.is_file()
    )
    assert b"src/a.py" in kept
    assert b"hunter2" not in kept


def test_saving_every_second_for_ten_minutes_makes_a_handful_of_records(
    editor: Editor, repository: Repository
) -> None:
    """B4."""
    for _ in range(600):
        editor.save(repository.path / "a.py", after=SECOND)
    assert editor.names() == ["a.py"] * 5


def test_another_file_is_another_record(editor: Editor, repository: Repository) -> None:
    editor.save(repository.path / "a.py", repository.path / "b.py", repository.path / "a.py")
    assert editor.names() == ["a.py", "b.py"]


def test_the_interval_is_the_users_choice(editor: Editor, repository: Repository) -> None:
    editor.app.configure(user={"saveIntervalSeconds": 0})
    editor.save(repository.path / "a.py")
    editor.save(repository.path / "a.py", after=SECOND)
    assert editor.names() == ["a.py", "a.py"]


def test_a_new_session_hears_of_the_file_again(editor: Editor, repository: Repository) -> None:
    editor.save(repository.path / "a.py")
    editor.app.call("threadline/sessions/close", {})
    editor.save(repository.path / "a.py", after=SECOND)
    editor.save(repository.path / "a.py", after=timedelta(hours=4) - SECOND)
    editor.save(repository.path / "a.py", after=SECOND)
    sessions = [event.session_id for event in editor.events()]
    assert (len(sessions), len(set(sessions))) == (4, 3)


@pytest.mark.parametrize(
    "name",
    [
        *(".env", ".env.local", ".ENV.production", "config/.env.test", "prod.env"),
        *("server.key", "cert.PEM", "id_rsa", "id_ed25519.pub", ".npmrc", ".netrc", "kubeconfig"),
        *(".ssh/config", "deploy/secrets/token.txt", "credentials.json", "terraform.tfstate"),
    ],
)
def test_a_secret_file_leaves_no_trace(editor: Editor, repository: Repository, name: str) -> None:
    """B4."""
    repository.write(name)
    editor.save(repository.path / name)
    assert editor.events() == []


def test_a_file_that_we_write_ourselves_is_nobody_s_work(
    editor: Editor, repository: Repository
) -> None:
    name = ".windsurf/rules/threadline.md"
    repository.write(name)
    editor.save(repository.path / name, repository.path / ".windsurf/rules/mine.md")
    assert editor.names() == [".windsurf/rules/mine.md"]


@pytest.mark.parametrize(
    "name", ["environment.py", "keyboard.ts", "src/monkey.go", "tokenizer.py", "env/run.sh"]
)
def test_a_name_that_only_looks_like_it_is_recorded(
    editor: Editor, repository: Repository, name: str
) -> None:
    editor.save(repository.path / name)
    assert editor.names() == [name]


def test_what_git_ignores_leaves_no_trace(editor: Editor, repository: Repository) -> None:
    """B4."""
    repository.write(".gitignore", "*.log\nbuild/\n!keep.log\n")
    repository.write("tracked.log")
    repository.git("add", "--force", "tracked.log")
    names = ["a.log", "build/out.js", "keep.log", "tracked.log", "ok.py"]
    editor.save(*(repository.path / name for name in names))
    assert editor.names() == ["keep.log", "tracked.log", "ok.py"]


def test_what_the_users_own_list_names_leaves_no_trace(
    editor: Editor, repository: Repository, tmp_path: Path
) -> None:
    """B4."""
    repository.write(".threadlineignore", "drafts/\n*.sketch\n")
    editor.save(
        repository.path / "drafts" / "novel.md", repository.path / "x.sketch", repository.path / "y"
    )
    assert editor.names() == ["y"]
    repository.write(".threadlineignore", "y\n")
    editor.save(repository.path / ".threadlineignore", after=timedelta(hours=1))
    editor.save(repository.path / "y", repository.path / "x.sketch")
    assert editor.names() == ["y", ".threadlineignore", "x.sketch"]
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / ".threadlineignore").write_text("secret-plans\n")
    editor.app.workspace.arrange([plain])
    editor.save(plain / "secret-plans", plain / "notes")
    assert editor.names(plain) == ["notes"]


@pytest.mark.parametrize(
    "path",
    [
        "../outside.py",
        "../repository-evil/a.py",
        ".git/COMMIT_EDITMSG",
        "linked/a.py",
        ".",
        "sub/../../outside.py",
    ],
)
def test_a_file_outside_the_workspace_is_nobodys(
    editor: Editor, repository: Repository, tmp_path: Path, path: str
) -> None:
    """B4."""
    (tmp_path / "repository-evil").mkdir()
    (repository.path / "linked").symlink_to(tmp_path / "repository-evil")
    editor.save(repository.path / path)
    assert editor.events() == []
    assert not (tmp_path / "repository-evil" / "a.py").exists()


def test_a_workspace_may_be_reached_through_a_link(
    editor: Editor, repository: Repository, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(repository.path)
    editor.app.workspace.arrange([tmp_path / "link"])
    editor.save(tmp_path / "link" / "src" / "a.py")
    assert editor.names() == ["src/a.py"]


def test_a_save_belongs_to_the_repository_it_is_in(editor: Editor, repository: Repository) -> None:
    inner = Repository.create(
        repository.path / "deep" / "down" / "below" / "far" / "away" / "inner"
    )
    editor.save(inner.path / "b.py", repository.path / "src" / "a.py")
    assert editor.names(inner.path) == ["b.py"]
    assert editor.names(repository.path) == ["src/a.py"]


def test_a_folder_of_a_repository_names_files_from_its_root(
    editor: Editor, repository: Repository
) -> None:
    (repository.path / "src").mkdir()
    editor.app.workspace.arrange([repository.path / "src"])
    editor.save(repository.path / "src" / "a.py", repository.path / "other" / "b.py")
    assert editor.names() == ["src/a.py"]


def test_while_paused_no_save_is_recorded(editor: Editor, repository: Repository) -> None:
    """B6."""
    editor.app.call("threadline/capture/pause", {"duration": "15m"})
    editor.save(repository.path / "a.py", after=timedelta(minutes=14))
    assert editor.events() == []
    editor.save(repository.path / "a.py", after=timedelta(minutes=1))
    assert editor.names() == ["a.py"]
    for duration in ("forever", "restart", "1h"):
        editor.app.call("threadline/capture/pause", {"duration": duration})
        editor.save(repository.path / f"{duration}.py", after=timedelta(minutes=59))
    editor.app.call("threadline/capture/resume", {})
    editor.save(repository.path / "b.py", after=timedelta(minutes=1))
    assert editor.names() == ["a.py", "b.py"]


def test_a_save_that_waits_until_a_pause_is_over_belongs_to_the_pause(
    editor: Editor, repository: Repository
) -> None:
    """Part of B6."""
    editor.app.call("threadline/capture/pause", {})
    moment = editor.clock.now
    editor.clock.pass_(timedelta(seconds=1))
    editor.app.call("threadline/capture/resume", {})
    editor.app.workspace.save([(repository.path / "a.py", moment)])
    assert editor.events() == []


def test_a_wrong_setting_is_named_and_the_default_used(editor: Editor) -> None:
    problems = editor.app.configure(
        user={
            "captureSaves": "yes",
            "sessionHours": 99,
            "nonsense": 1,
            "command": "x",
            "logLevel": None,
        }
    )
    assert [problem.split(":")[0] for problem in problems] == [
        "`threadline.captureSaves`",
        "`threadline.sessionHours`",
        "`threadline.nonsense` is not a setting",
    ]
    assert editor.app.settings == Settings()


def test_the_window_of_a_session_is_the_users_choice(
    editor: Editor, repository: Repository
) -> None:
    """A3."""
    editor.app.configure(user={"sessionHours": 1})
    editor.save(repository.path / "a.py")
    editor.save(repository.path / "b.py", after=timedelta(minutes=59))
    editor.save(repository.path / "c.py", after=timedelta(minutes=1))
    sessions = [event.session_id for event in editor.events()]
    assert sessions[0] == sessions[1] != sessions[2]


def test_the_maintenance_closes_what_has_run_out(editor: Editor, repository: Repository) -> None:
    """Part of A5."""
    editor.save(repository.path / "a.py")
    editor.clock.pass_(timedelta(hours=4, minutes=7))
    (change,) = editor.app.workspace.look()
    assert change.what == "sessions"
    (session,) = editor.app.vault(None).sessions.timeline()
    assert (session.status, session.ended_at) == ("closed", NOON + timedelta(hours=4, minutes=7))


def test_every_change_is_told_once_whoever_made_it(
    editor: Editor, repository: Repository, tmp_path: Path, clock: FixedClock
) -> None:
    editor.save(repository.path / "a.py")
    (session_id,) = {event.session_id for event in editor.events()}
    (change,) = editor.app.workspace.look()
    assert (change.what, change.ids) == ("sessions", (session_id,))
    assert editor.app.workspace.look() == []
    other = Application(
        Home(tmp_path / "home", Ids(clock), Rule()), here=repository.path, source="cli-auto"
    )
    other.call("threadline/ingest", {"events": [{"kind": "capture", "text": "from elsewhere"}]})
    (change,) = editor.app.workspace.look()
    assert (change.what, change.ids) == ("sessions", (session_id,))
    other.call("threadline/capture/pause", {})
    assert [change.what for change in editor.app.workspace.look()] == ["capture"]
    other.close()


def test_what_hooks_left_in_the_inbox_is_placed(editor: Editor) -> None:
    vault = editor.app.vault(None)
    waiting = (
        b'{"source":"claude-code","recordedAt":"2026-03-02T12:00:00Z",'
        b'"events":[{"kind":"capture","text":"a turn <private>of mine</private>"}]}'
    )
    vault.defer(waiting)
    (change,) = editor.app.workspace.look()
    assert change.what == "sessions"
    (event,) = editor.events()
    assert (event.source, event.text) == ("claude-code", "a turn ")


def test_four_hundred_files_at_once_are_all_recorded(
    editor: Editor, repository: Repository
) -> None:
    """Part of B4."""
    names = [f"src/{number}.py" for number in range(400)]
    editor.save(*(repository.path / name for name in names))
    assert editor.names() == names


@pytest.mark.parametrize("mistake", ["!", "a\\"])
def test_a_list_with_a_mistake_hides_everything(
    editor: Editor, repository: Repository, mistake: str
) -> None:
    repository.write(".threadlineignore", f"secret\n{mistake}\n")
    editor.save(repository.path / "a.py", repository.path / "secret")
    assert editor.names() == []


def test_a_list_that_is_no_file_holds_nobody_up(editor: Editor, repository: Repository) -> None:
    os.mkfifo(repository.path / ".threadlineignore")
    editor.save(repository.path / "a.py")
    assert editor.names() == ["a.py"]


def test_a_name_that_git_cannot_judge_lets_no_other_through(
    editor: Editor, repository: Repository
) -> None:
    """B4."""
    repository.write(".gitignore", "*.log\n")
    editor.save(*(repository.path / name for name in (":(bad)", "a.log", "b.py", ":/c.log")))
    assert set(editor.names()) == {":(bad)", "b.py"}


def test_a_folder_that_becomes_a_repository_obeys_its_ignores(
    editor: Editor, tmp_path: Path
) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    editor.app.workspace.arrange([folder])
    editor.save(folder / "a.log")
    repository = Repository(folder)
    repository.git("init", "--quiet")
    repository.write(".gitignore", "*.log\n")
    editor.save(folder / "b.log", folder / "c.py", folder / ".gitignore")
    assert editor.names(folder) == ["a.log", "c.py", ".gitignore"]


def test_a_clock_that_goes_back_ends_no_pause(editor: Editor, repository: Repository) -> None:
    editor.app.call("threadline/capture/pause", {})
    editor.clock.pass_(timedelta(hours=-1))
    editor.save(repository.path / "a.py")
    assert editor.events() == []
    editor.app.call("threadline/capture/resume", {})
    editor.clock.pass_(timedelta(hours=2))
    editor.save(repository.path / "b.py")
    assert editor.names() == ["b.py"]
