"""The application: projects are recognised, histories imported, exports round-trip."""

import importlib
import operator
import os
import shutil
import threading
import typing
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from protocol.errors import GitFailedError, InvalidParamsError, NotFoundError
from protocol.methods import METHODS, ScanParams, SessionPage
from protocol.rows import Method
from protocol.sessions import Session
from sidecar import registry
from sidecar.app import Application
from sidecar.capture import record
from sidecar.capture import scan as capture_scan
from sidecar.capture.rules.sessions import Rule
from sidecar.handlers.capture import scan_history
from sidecar.storage.home import Home
from sidecar.storage.ulids import Ids
from sidecar.upkeep import export as upkeep_export
from sidecar.upkeep import maintenance
from sidecar.upkeep import report as upkeep_report
from sidecar.upkeep.export import Moved
from tests.support import HOUR, NOON, FixedClock, Repository, save

pytestmark = pytest.mark.slow


@pytest.fixture
def app(home: Home, repository: Repository) -> Application:
    return Application(home, here=repository.path, source="cli-auto")


def scan(app: Application, **params: object) -> tuple[int, int, int]:
    result = scan_history(app, ScanParams(**params), lambda _done, _total: None)  # type: ignore[arg-type]  # tests vary them
    return result.found, result.imported, result.sessions


def listed(app: Application, project: Path | None = None) -> tuple[Session, ...]:
    params = {"limit": 1000} | ({"project": str(project)} if project else {})
    page = app.call("threadline/sessions/list", params)
    assert isinstance(page, SessionPage)
    return page.sessions


def test_every_method_of_the_table_is_served() -> None:
    """H4."""
    assert sorted(registry.HANDLERS) == sorted(method.name for method in METHODS)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_handler_takes_and_gives_what_the_protocol_says(method: Method) -> None:
    """Part of H4: handlers are named as text, so nothing else would notice a wrong name or type."""
    module, _, name = registry.HANDLERS[method.name].partition(":")
    handler = operator.attrgetter(name)(importlib.import_module(f"sidecar.{module}"))
    kinds = typing.get_type_hints(handler)
    taken = [kind for argument, kind in kinds.items() if argument not in {"return", "tell"}]
    assert issubclass(method.params, taken[-1])
    assert kinds["return"] == method.result
    assert ("tell" in kinds) == method.is_long


def test_a_history_becomes_the_sessions_of_the_rule(
    app: Application, repository: Repository
) -> None:
    """A4. Part of B5."""
    hours = [0, 1, 3.9, 4, 7, 30, 33, 40]
    for number, hour in enumerate(hours):
        repository.commit(f"commit {number}", at=NOON - 100 * HOUR + hour * HOUR)
    assert scan(app) == (8, 8, 4)
    sessions = listed(app)[::-1]
    assert [session.message_count for session in sessions] == [3, 2, 2, 1]
    assert [s.status for s in sessions] == ["closed"] * 4
    assert {s.source for s in sessions} == {"cli-scan"}
    assert sessions[-1].head_commit_sha == repository.git("rev-parse", "HEAD")
    assert all(s.ended_at and s.ended_at >= s.last_event_at >= s.started_at for s in sessions)


def test_scanning_again_imports_only_what_is_new(app: Application, repository: Repository) -> None:
    """Part of B5."""
    repository.commit("one", at=NOON - 10 * HOUR)
    assert scan(app) == (1, 1, 1)
    before = listed(app)
    assert scan(app) == (1, 0, 0)
    assert listed(app) == before
    repository.commit("two", at=NOON - 9 * HOUR)
    assert scan(app) == (2, 1, 1)
    assert [session.message_count for session in listed(app)] == [2]


def test_an_interrupted_scan_goes_on_where_it_stopped(
    app: Application, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of B5."""
    monkeypatch.setattr(capture_scan, "CHUNK", 3)
    for number in range(10):
        repository.commit(f"{number}", at=NOON - 10 * HOUR + number * 3 * HOUR / 4)

    def interrupt(done: int, total: int, stage: str = "") -> None:  # noqa: ARG001  # as all are called
        if done >= 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scan_history(app, ScanParams(), interrupt)
    assert scan(app)[:2] == (10, 4)
    assert sum(session.message_count for session in listed(app)) == 10


def test_everyones_commits_are_imported_or_only_the_local_users(
    app: Application, repository: Repository
) -> None:
    """Part of B5."""
    repository.commit("mine", at=NOON - HOUR)
    repository.write("b.txt")
    repository.git("add", "--all")
    repository.git("commit", "-qm", "hers", "--author", "Eve <eve@example.org>", at=NOON)
    repository.git(
        "commit", "-qm", "now", "--allow-empty", "--author", "X <xada@example.org>", at=NOON
    )
    assert scan(app, all_authors=False)[0] == 1
    assert scan(app, author="eve@")[0] == 1
    assert scan(app, since="2026-03-02T11:30:00Z", all_authors=True)[0] == 2
    assert scan(app, all_authors=True) == (3, 0, 0)


def test_without_a_git_identity_a_scan_asks_for_one(
    app: Application, repository: Repository, tmp_path: Path
) -> None:
    """Part of B5."""
    repository.commit("one", at=NOON)
    (tmp_path / "gitconfig").write_text("")
    with pytest.raises(InvalidParamsError) as refusal:
        scan(app, all_authors=False)
    assert refusal.value.field == "author"


def test_a_scan_outside_a_repository_says_so(app: Application, tmp_path: Path) -> None:
    """Part of B5."""
    (tmp_path / "plain").mkdir()
    with pytest.raises(GitFailedError):
        scan(app, project=str(tmp_path / "plain"), all_authors=True)


def project_id(app: Application, path: Path) -> str:
    app._places.clear()
    return app.project(str(path)).project_id


def link(app: Application, path: Path, **params: object) -> dict[str, object]:
    linked = app.call("threadline/projects/link", {"project": str(path)} | params)
    told: dict[str, object] = msgspec.to_builtins(linked)
    return told


def test_worktrees_and_subfolders_are_the_same_project(
    app: Application, repository: Repository, tmp_path: Path
) -> None:
    """A8."""
    repository.commit("one", at=NOON, name="sub/file.txt")
    here = project_id(app, repository.path)
    repository.git("worktree", "add", "--quiet", str(tmp_path / "tree"), "-b", "other")
    orphan = Repository(tmp_path / "tree")
    orphan.git("checkout", "--quiet", "--orphan", "pages")
    orphan.commit("another root", at=NOON)
    for path in ("repository/sub", "repository/sub/file.txt", "tree", "repository/.git"):
        assert project_id(app, tmp_path / path) == here, path
    shutil.move(tmp_path / "tree", tmp_path / "away")
    assert project_id(app, tmp_path / "away") != here
    repository.git("worktree", "repair", str(tmp_path / "away"))
    assert project_id(app, tmp_path / "away") == here


def test_worktrees_of_a_bare_repository_share_a_project(
    app: Application, repository: Repository, tmp_path: Path
) -> None:
    """A8."""
    repository.commit("one", at=NOON)
    repository.git("clone", "--quiet", "--bare", str(repository.path), str(tmp_path / "bare.git"))
    bare = Repository(tmp_path / "bare.git")
    for name in ("one", "two"):
        bare.git("worktree", "add", "--quiet", "-b", name, str(tmp_path / name))
    assert project_id(app, tmp_path / "one") == project_id(app, tmp_path / "two")
    assert scan(app, project=str(tmp_path / "one"), all_authors=True)[0] == 1


def test_clones_share_a_project_after_they_are_linked(
    app: Application, repository: Repository, tmp_path: Path, clock: FixedClock
) -> None:
    """A8: also a clone of a clone on this disk; what they have recorded comes along."""
    repository.commit("one", at=NOON)
    here = project_id(app, repository.path)
    repository.git("clone", "--quiet", str(repository.path), str(tmp_path / "clone"))
    repository.git("clone", "--quiet", f"file://{tmp_path / 'clone'}", str(tmp_path / "second"))
    for name in ("clone", "second"):
        clock.pass_(HOUR)
        own = project_id(app, tmp_path / name)
        assert own != here
        record.ingest(app.home.vault(own), [save(f"{name}.txt")], "x")
        linked = link(app, tmp_path / name)
        assert (linked["projectId"], linked["outcome"], linked["sessions"]) == (here, "linked", 1)
        assert Path(str(linked["copy"])).is_file()
        assert project_id(app, tmp_path / name) == here
        assert not (app.home.folder / "projects" / own).exists()
    files = [name for one in listed(app) for name in one.files_modified]
    assert sorted(files) == ["clone.txt", "second.txt"]
    with pytest.raises(NotFoundError):
        link(app, tmp_path / "second")


def test_a_running_application_follows_a_folder_that_another_process_links(
    app: Application, repository: Repository, tmp_path: Path, clock: FixedClock
) -> None:
    """A8: what it records from then on is in the memory that is shared."""
    repository.commit("one", at=NOON)
    here = project_id(app, repository.path)
    repository.git("clone", "--quiet", str(repository.path), str(tmp_path / "clone"))
    clock.pass_(HOUR)
    running = Application(
        Home(app.home.folder, Ids(clock), Rule()), here=tmp_path / "clone", source="vscode"
    )
    running.workspace.arrange([tmp_path / "clone"], clock.now)
    link(app, tmp_path / "clone")
    running.workspace.look()
    assert [vault.project_id for vault in running.workspace.vaults()] == [here]
    running.workspace.save([(tmp_path / "clone" / "a.txt", clock.now)])
    assert [one.files_modified for one in listed(app)] == [("a.txt",)]
    running.close()


def test_two_processes_that_begin_with_two_clones_make_two_projects(
    app: Application, repository: Repository, tmp_path: Path, clock: FixedClock
) -> None:
    """A8: the id that both would choose is given once."""
    repository.commit("one", at=NOON)
    other = Application(Home(app.home.folder, Ids(clock), Rule()), here=tmp_path, source="x")
    for name in ("a", "b"):
        repository.git("clone", "--quiet", str(repository.path), str(tmp_path / name))
    start = threading.Barrier(2)
    ids: list[str] = []

    def begin(one: Application, name: str) -> None:
        start.wait()
        ids.append(one.project(str(tmp_path / name)).project_id)

    threads = [threading.Thread(target=begin, args=pair) for pair in ((app, "a"), (other, "b"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(ids)) == 2
    other.close()


def test_a_repository_keeps_its_memory_through_its_life(
    app: Application, repository: Repository, tmp_path: Path, clock: FixedClock
) -> None:
    """A8: also when it moves, which its person confirms once."""
    begun = project_id(app, repository.path)
    repository.commit("first", at=NOON)
    assert project_id(app, repository.path) == begun
    repository.git("remote", "add", "origin", "git@example.org:acme/tool.git")
    assert project_id(app, repository.path) == begun
    shutil.move(repository.path, tmp_path / "moved")
    clock.pass_(HOUR)
    assert project_id(app, tmp_path / "moved") != begun
    assert link(app, tmp_path / "moved")["projectId"] == begun
    assert project_id(app, tmp_path / "moved") == begun
    Repository(tmp_path / "moved").git(
        "remote", "set-url", "origin", "https://example.org/acme/renamed"
    )
    assert project_id(app, tmp_path / "moved") == begun
    fresh = Repository.create(repository.path)
    fresh.commit("unrelated", at=NOON)
    assert project_id(app, fresh.path) != begun


def test_another_repository_in_a_known_place_gets_a_memory_of_its_own(
    app: Application, repository: Repository, tmp_path: Path
) -> None:
    """A8: neither an empty nor a shallow one inherits what was there before."""
    repository.commit("first", at=NOON)
    repository.git("remote", "add", "origin", "https://example.org/acme/first")
    first = project_id(app, repository.path)
    shutil.rmtree(repository.path)
    empty = Repository.create(repository.path)
    assert project_id(app, empty.path) != first
    shutil.rmtree(repository.path)
    other = Repository.create(tmp_path / "other")
    other.commit("one", at=NOON)
    other.commit("two", at=NOON)
    other.git("clone", "--quiet", "--depth", "1", f"file://{other.path}", str(repository.path))
    Repository(repository.path).git("remote", "set-url", "origin", "https://example.org/acme/other")
    assert project_id(app, repository.path) != first


def test_a_shallow_clone_matches_nothing_until_it_is_whole(
    app: Application, tmp_path: Path, clock: FixedClock
) -> None:
    """A8: a remote address alone is no match."""
    upstream = Repository.create(tmp_path / "upstream")
    upstream.commit("one", at=NOON)
    upstream.commit("two", at=NOON)
    for name, depth in (("whole", []), ("pages", []), ("shallow", ["--depth", "1"])):
        upstream.git("clone", "--quiet", *depth, f"file://{upstream.path}", str(tmp_path / name))
        clone = Repository(tmp_path / name)
        clone.git("remote", "set-url", "origin", "https://example.org/acme/tool")
    pages = Repository(tmp_path / "pages")
    pages.git("checkout", "--quiet", "--orphan", "pages")
    pages.commit("a root of its own", at=NOON)
    ids = []
    for name in ("whole", "pages", "shallow"):
        ids.append(project_id(app, tmp_path / name))
        clock.pass_(HOUR)
    assert len(set(ids)) == 3
    assert link(app, tmp_path / "pages")["projectId"] == ids[0]
    with pytest.raises(NotFoundError):
        link(app, tmp_path / "shallow")
    Repository(tmp_path / "shallow").git(
        "fetch", "--quiet", "--unshallow", f"file://{upstream.path}"
    )
    assert project_id(app, tmp_path / "shallow") == ids[2]
    assert link(app, tmp_path / "shallow")["projectId"] == ids[0]


def test_a_folder_keeps_its_memory_when_it_becomes_a_repository(
    app: Application, tmp_path: Path
) -> None:
    """A8."""
    (tmp_path / "plain").mkdir()
    before = project_id(app, tmp_path / "plain")
    plain = Repository(tmp_path / "plain")
    plain.git("init", "--quiet")
    assert project_id(app, plain.path) == before
    plain.commit("first", at=NOON)
    assert project_id(app, plain.path) == before


def test_a_folder_with_any_name_is_a_project(app: Application, tmp_path: Path) -> None:
    """A8."""
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    odd = Repository.create(folder)
    odd.commit("one", at=NOON - HOUR)
    assert scan(app, project=os.fsdecode(os.fsencode(folder)))[0] == 1


def test_a_scan_finds_the_repository_by_id_and_by_a_file_in_it(
    app: Application, repository: Repository
) -> None:
    """Part of B5."""
    repository.commit("one", at=NOON - HOUR)
    assert scan(app, project=str(repository.path / "a.txt"))[:2] == (1, 1)
    assert scan(app, project=app.project(None).project_id)[:2] == (1, 0)


def test_folders_that_only_share_a_name_never_share_memory(
    app: Application, tmp_path: Path
) -> None:
    """A8."""
    for place in ("x", "y"):
        (tmp_path / place / "same").mkdir(parents=True)
        Repository.create(tmp_path / place / "repo").commit(f"in {place}", at=NOON)
    assert project_id(app, tmp_path / "x" / "same") != project_id(app, tmp_path / "y" / "same")
    assert project_id(app, tmp_path / "x" / "repo") != project_id(app, tmp_path / "y" / "repo")


def test_a_folder_without_git_is_its_real_path(app: Application, tmp_path: Path) -> None:
    """A8."""
    (tmp_path / "plain").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "plain")
    assert project_id(app, tmp_path / "link") == project_id(app, tmp_path / "plain")


def test_a_submodule_is_a_project_of_its_own(
    app: Application, repository: Repository, tmp_path: Path
) -> None:
    """A8."""
    inner = Repository.create(tmp_path / "inner")
    inner.commit("inner", at=NOON)
    repository.commit("outer", at=NOON)
    repository.git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "sub"
    )
    places = [repository.path / "sub", repository.path, inner.path]
    assert len({project_id(app, place) for place in places}) == 3
    assert scan(app, project=str(repository.path / "sub"), all_authors=True)[0] == 1
    why = msgspec.to_builtins(
        app.call("threadline/projects/why", {"project": str(repository.path / "sub")})
    )
    assert why["rule"] == "submodule"


@pytest.mark.parametrize("lost", ["home.sqlite", "lock"])
def test_projects_are_found_again_when_the_index_is_lost(
    lost: str, app: Application, repository: Repository, home: Home, clock: FixedClock
) -> None:
    """A8, H1."""
    begun = project_id(app, repository.path)
    repository.commit("first", at=NOON)
    scan(app)
    home.close()
    (home.folder / lost).unlink()
    again = Application(Home(home.folder, Ids(clock), Rule()), here=repository.path, source="x")
    assert again.project(None).project_id == begun
    assert [s.message_count for s in listed(again)] == [1]


def test_an_unknown_project_is_refused(app: Application) -> None:
    """H4."""
    for reference in ("/nowhere/at/all", "0" * 20):
        with pytest.raises(NotFoundError) as refusal:
            app.call("threadline/status", {"project": reference})
        assert refusal.value.field == "project"


@pytest.fixture
def filled(app: Application, repository: Repository, clock: FixedClock) -> Application:
    """Give a project sessions of all kinds: imported, captured, closed by hand, active."""
    for number in range(6):
        repository.commit(f"commit {number}", at=NOON - (40 - number * 3) * HOUR)
    scan(app)
    vault = app.vault(None)
    record.ingest(vault, [save("größe\n.py", key="a"), save("b", at=NOON - HOUR)], "vscode")
    app.call("threadline/sessions/close", {})
    clock.pass_(HOUR)
    record.ingest(vault, [save("c", key="c")], "claude-code")
    return app


def export(app: Application) -> list[bytes]:
    project = app.project(None)
    return list(upkeep_export.export(app.vault(project), project))


def report(app: Application) -> str:
    project = app.project(None)
    return "\n".join(upkeep_report.report(app.vault(project), project))


def load(app: Application, lines: Iterable[bytes], into: str | None = None) -> Moved:
    return upkeep_export.load(app.home, lines, app.project(into) if into else None)


def test_an_export_comes_back_without_a_difference(
    filled: Application, tmp_path: Path, clock: FixedClock
) -> None:
    """H2."""
    # Whoever opens it next makes what is due; here that is done before.
    maintenance.maintain(filled.vault(filled.project(None)), filled.settings)
    lines = export(filled)
    other = Application(Home(tmp_path / "other", Ids(clock), Rule()), here=filled.here, source="x")
    moved = load(other, lines)
    assert export(other) == lines
    assert listed(other) == listed(filled)
    assert load(other, lines) == moved
    assert export(other) == lines
    for session in listed(filled):
        params = {"sessionId": session.session_id}
        assert other.call("threadline/sessions/events", params) == filled.call(
            "threadline/sessions/events", params
        )
    again = [save(key="a"), save(key="c")]
    placed = record.ingest(other.vault(other.project(None)), again, "vscode")
    assert [event.outcome for event in placed] == ["duplicate", "duplicate"]


def test_an_export_can_move_into_another_project(filled: Application, tmp_path: Path) -> None:
    """H2."""
    (tmp_path / "plain").mkdir()
    lines = export(filled)
    moved = load(filled, lines, str(tmp_path / "plain"))
    assert moved.project_id == project_id(filled, tmp_path / "plain")
    there = listed(filled, tmp_path / "plain")
    assert {session.project_id for session in there} == {moved.project_id}
    assert [s.message_count for s in there] == [s.message_count for s in listed(filled)]


def test_a_report_reads_as_markdown_and_cannot_be_broken_out_of(
    filled: Application, repository: Repository
) -> None:
    """H2."""
    repository.commit("# not a heading <script> [x](y) `code`", at=NOON - 39 * HOUR)
    scan(filled)
    text = report(filled)
    assert text.startswith("# repository\n\n")
    assert text.count("\n## ") == len(listed(filled))
    assert r": \# not a heading \<script\> \[x\](y) \`code\`" in text
    assert "save: größe .py" in text


def test_importing_what_was_recorded_here_too_doubles_nothing(
    filled: Application, repository: Repository, tmp_path: Path, clock: FixedClock
) -> None:
    """H2, A7: two machines scanned the same history."""
    other = Application(
        Home(tmp_path / "other", Ids(clock), Rule()), here=repository.path, source="x"
    )
    scan(other)
    record.ingest(other.vault(other.project(None)), [save("mine")], "neovim")
    load(other, export(filled))
    sessions = listed(other)
    events = [
        e for s in sessions for e in other.vault(other.project(None)).sessions.events(s.session_id)
    ]
    keys = [event.idempotency_key for event in events if event.idempotency_key]
    assert len(keys) == len(set(keys)) == 8
    assert len(events) == 10
    assert [session.status for session in sessions].count("active") == 1


def test_an_import_adds_to_a_journal_whose_record_was_lost(filled: Application) -> None:
    """H1, H2."""
    vault = filled.vault(filled.project(None))
    session = listed(filled)[-1]
    before = vault.sessions.arrivals(session.session_id)
    more = msgspec.structs.replace(before[0], event_id=vault.ids.next(), idempotency_key=None)
    with vault.transaction():
        vault.write([vault.sessions.records.drop(session.session_id)])
        vault.sessions.put(session, [more])
    assert vault.sessions.arrivals(session.session_id) == [*before, more]


def test_an_import_stays_inside_the_home(app: Application, home: Home, tmp_path: Path) -> None:
    """H5."""
    line = b'{"table":"threadline","format":1,"project":{"projectId":"../../outside","name":"x","folders":[],"createdAt":"2026-01-01T00:00:00Z"}}'
    with pytest.raises(InvalidParamsError):
        load(app, [line])
    assert not (tmp_path / "outside").exists()
    assert not (home.folder.parent / "outside").exists()


@pytest.mark.parametrize("cut", [1, -1, -3])
def test_a_cut_off_export_is_noticed(filled: Application, cut: int, tmp_path: Path) -> None:
    """H2, H4."""
    lines = export(filled)[:cut]
    (tmp_path / "plain").mkdir()
    with pytest.raises(InvalidParamsError, match="cut off"):
        load(filled, lines, str(tmp_path / "plain"))


@pytest.mark.parametrize("line", [b"", b"{}", b"[1]", b"not json", b'{"table":"sessions"}'])
def test_a_file_that_is_no_export_changes_nothing(app: Application, line: bytes) -> None:
    """H2, H4."""
    with pytest.raises(InvalidParamsError) as refusal:
        load(app, [line])
    assert refusal.value.field == "line 1"
    assert listed(app) == ()
