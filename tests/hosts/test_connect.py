"""Connecting agents on top of what is there, and taking it back to the byte."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from protocol.connections import ConnectParams, Plan
from protocol.errors import InvalidParamsError
from sidecar.hosts import assistant, config_files, rules_files, rules_writer
from sidecar.hosts import connect as hosts_connect
from sidecar.hosts.assistant import File
from sidecar.hosts.connect import Tools
from sidecar.hosts.locations import Surroundings
from sidecar.hosts.program import Program
from sidecar.storage.home import Home
from sidecar.storage.ledgers import Ledger
from tests.configurations import CLAUDE, EXISTING
from tests.support import MINUTE, FixedClock

pytestmark = pytest.mark.slow

HERE = Program(("/opt/threadline/bin/threadline",))
OLD = Program(("/old/threadline",))

Make = Callable[..., Tools]


@pytest.fixture
def user(tmp_path: Path) -> Path:
    user = tmp_path / "user"
    (user / "project").mkdir(parents=True)
    return user


@pytest.fixture
def make(user: Path, home: Home, clock: FixedClock) -> Make:
    def make(program: Program = HERE) -> Tools:
        clock.pass_(MINUTE)
        return Tools(
            around=Surroundings(str(user), "linux", {}, str(user / "project")),
            program=program,
            ledger=Ledger(home.folder, home.lock),
            clock=clock,
            is_program=lambda _: False,
        )

    return make


def write(user: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = user / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def tree(user: Path) -> dict[str, bytes | None]:
    """Give every file with its bytes, and every folder; without copies of ours."""
    return {
        str(path.relative_to(user)): path.read_bytes() if path.is_file() else None
        for path in sorted(user.rglob("*"))
        if ".threadline-backup-" not in path.name
    }


def copies(user: Path) -> list[str]:
    return sorted(path.name for path in user.rglob("*.threadline-backup-*"))


def connect(tools: Tools, *agents: str, **options: Any) -> Plan:
    return hosts_connect.connect(
        tools, ConnectParams(agents=agents or tuple(assistant.names()), **options)
    )


def disconnect(tools: Tools, *agents: str, **options: Any) -> Plan:
    return hosts_connect.disconnect(
        tools, ConnectParams(agents=agents or tuple(assistant.names()), **options)
    )


def actions(plan: Plan) -> set[str]:
    return {change.action for change in plan.files}


@pytest.mark.parametrize("level", ["user", "project"])
@pytest.mark.parametrize("is_new", [True, False])
def test_all_agents_are_connected_twice_and_disconnected_to_the_byte(
    level: str, is_new: bool, user: Path, make: Make
) -> None:
    """Part of F3."""
    if not is_new:
        write(user, EXISTING)
        shared = {name.removeprefix(".config/"): text for name, text in EXISTING.items()}
        write(user / "project", shared | {".mcp.json": CLAUDE, ".vscode/mcp.json": "{}\n"})
    before = tree(user)
    plan = connect(make(), level=level)
    assert "refused" not in actions(plan)
    assert "unchanged" not in actions(plan)
    connected = tree(user)
    for path, data in before.items():
        if (level == "project") != path.startswith("project"):
            assert connected[path] == data
    kept = copies(user)
    again = connect(make(), level=level)
    assert actions(again) == {"unchanged"}
    assert (tree(user), copies(user)) == (connected, kept)
    parted = disconnect(make(), level=level)
    assert actions(parted) <= {"restore", "delete"}
    assert tree(user) == before
    assert copies(user) == []
    assert actions(disconnect(make(), level=level)) == {"unchanged"}


@pytest.mark.parametrize("agent", assistant.names())
def test_each_agent_alone_keeps_what_is_there(agent: str, user: Path, make: Make) -> None:
    """Part of F3."""
    write(user, EXISTING)
    before = tree(user)
    connect(make(), agent)
    joined = tree(user)
    for comment in ("// my model", "/* keep */"):
        assert comment.encode() in (joined[".claude/settings.json"] or b"")
    disconnect(make(), agent)
    assert tree(user) == before


@pytest.mark.parametrize("agent", assistant.names())
def test_a_file_changed_since_loses_exactly_our_entries(agent: str, user: Path, make: Make) -> None:
    """Part of F3."""
    write(user, EXISTING)
    connect(make(OLD), agent)
    for path in user.rglob("*"):
        if path.suffix in {".json", ".jsonc"} and b'"theirs"' not in path.read_bytes():
            data = path.read_bytes()
            at = data.rfind(b"}")
            comma = b"" if data[:at].rstrip()[-1:] in b",{" else b","
            path.write_bytes(data[:at] + comma + b' "theirs": 1}' + data[at + 1 :])
        elif path.suffix == ".toml":
            path.write_bytes(path.read_bytes() + b"\n[theirs]\na = 1\n")
    connect(make(), agent)
    plan = disconnect(make(), agent)
    assert "refused" not in actions(plan)
    for change in plan.files:
        path = Path(change.path)
        if path.exists():
            text = path.read_text()
            assert "threadline" not in text
            assert "theirs" in text
    assert b"say done" in (user / ".claude/settings.json").read_bytes()


@pytest.mark.slow
def test_an_older_version_is_replaced_and_then_wholly_removed(user: Path, make: Make) -> None:
    """Part of F3."""
    write(user, EXISTING)
    before = tree(user)
    connect(make(OLD))
    assert "change" in actions(connect(make()))
    assert b"/old/" not in b"".join(data or b"" for data in tree(user).values())
    disconnect(make())
    assert tree(user) == before
    assert copies(user) == []


def test_a_lost_ledger_still_lets_our_entries_be_removed(
    user: Path, make: Make, home: Home
) -> None:
    """Part of F3."""
    write(user, {".cursor/mcp.json": '{"mcpServers": {"a": {"command": "b"}}}'})
    connect(make(), "cursor", "opencode")
    (home.folder / "connections.json").unlink()
    disconnect(make(), "cursor", "opencode")
    assert json.loads((user / ".cursor/mcp.json").read_bytes()) == {
        "mcpServers": {"a": {"command": "b"}}
    }
    assert not (user / ".config/opencode/plugins/threadline.js").exists()
    (home.folder / "connections.json").write_bytes(b"no ledger")
    assert "refused" not in actions(connect(make(), "cursor"))


def test_a_shared_file_stays_until_the_last_agent_leaves(user: Path, make: Make) -> None:
    """Part of F3."""
    before = tree(user)
    connect(make(), "claude-code", "copilot", level="project")
    connect(make(), "vscode", level="project")
    shared = user / "project" / ".mcp.json"
    written = shared.read_bytes()
    for agent in ("claude-code", "copilot"):
        disconnect(make(), agent, level="project")
        assert shared.read_bytes() == written
    disconnect(make(), "vscode", level="project")
    assert tree(user) == before


def test_a_shared_file_changed_meanwhile_keeps_the_change(user: Path, make: Make) -> None:
    """Part of F3."""
    shared = user / "project" / ".mcp.json"
    write(user, {"project/.mcp.json": "{}\n"})
    connect(make(), "claude-code", "copilot", level="project")
    edited = json.loads(shared.read_bytes())
    edited["mcpServers"]["mine"] = {"command": "x"}
    shared.write_text(json.dumps(edited))
    disconnect(make(), "claude-code", level="project")
    disconnect(make(), "copilot", level="project")
    assert json.loads(shared.read_bytes()) == {"mcpServers": {"mine": {"command": "x"}}}


def test_a_dry_run_writes_nothing_and_shows_everything(user: Path, make: Make) -> None:
    """Part of F3."""
    write(user, EXISTING)
    before = tree(user)
    plan = connect(make(), dry_run=True)
    assert not plan.applied
    assert (tree(user), copies(user)) == (before, [])
    for change in plan.files:
        assert change.diff.count("\n+") > 1
        assert "threadline" in change.diff
    assert "create" in actions(plan)
    assert "change" in actions(plan)
    connect(make())
    joined = tree(user)
    plan = disconnect(make(), dry_run=True)
    assert actions(plan) == {"restore", "delete"}
    assert tree(user) == joined


def test_a_malformed_or_closed_file_is_refused_and_the_others_are_done(
    user: Path, make: Make
) -> None:
    """Part of F3."""
    write(
        user,
        {
            ".cursor/hooks.json": '{\n  "hooks": {\n}\n',
            ".codex/config.toml": "a = = 1\n",
            ".gemini/settings.json": "{}",
            ".copilot/mcp-config.json": "{}",
        },
    )
    (user / ".gemini/settings.json").chmod(0o444)
    (user / ".copilot/mcp-config.json").write_bytes('{"a": "é"}'.encode("utf-16"))
    before = tree(user)
    plan = connect(make(), "cursor", "codex", "gemini-cli", "copilot")
    refused = {
        Path(change.path).name: change.reason for change in plan.files if change.action == "refused"
    }
    assert refused == {
        "hooks.json": "line 1, column 1: { is never closed",
        "config.toml": "line 1, column 5: Invalid value",
        "settings.json": "it is read-only",
        "mcp-config.json": "it is not UTF-8 (byte 0)",
    }
    after = tree(user)
    assert {name: after[name] for name in before if before[name] is not None} == {
        name: data for name, data in before.items() if data is not None
    }
    assert after[".cursor/mcp.json"] is not None


def test_a_linked_file_is_written_through_and_one_that_leads_out_is_not(
    user: Path, make: Make, tmp_path: Path
) -> None:
    """Part of F3."""
    write(user, {"dotfiles/mcp.json": "{}\n"})
    (user / ".cursor").mkdir()
    (user / ".cursor/mcp.json").symlink_to(user / "dotfiles/mcp.json")
    outside = tmp_path / "outside.json"
    outside.write_bytes(b"{}")
    (user / ".cursor/hooks.json").symlink_to(outside)
    plan = connect(make(), "cursor")
    assert [change.action for change in plan.files] == ["refused", "change"]
    assert (user / ".cursor/mcp.json").is_symlink()
    assert b"threadline" in (user / "dotfiles/mcp.json").read_bytes()
    assert outside.read_bytes() == b"{}"
    disconnect(make(), "cursor")
    assert (user / "dotfiles/mcp.json").read_bytes() == b"{}\n"
    write(user, {"secret.json": "{}"})
    (user / "project/.mcp.json").symlink_to(user / "secret.json")
    assert "refused" in actions(connect(make(), "claude-code", level="project"))


def test_modes_stay_through_connecting_and_disconnecting(user: Path, make: Make) -> None:
    """Part of F3."""
    write(user, {".claude.json": "{}"})
    (user / ".claude.json").chmod(0o600)
    plan = connect(make(), "claude-code")
    assert (user / ".claude/settings.json").stat().st_mode & 0o777 == 0o600
    [backup] = [change.backup for change in plan.files if change.backup]
    assert Path(backup).stat().st_mode & 0o777 == 0o600
    assert (user / ".claude.json").stat().st_mode & 0o777 == 0o600
    disconnect(make(), "claude-code")
    assert (user / ".claude.json").stat().st_mode & 0o777 == 0o600


def test_a_copy_that_was_changed_is_not_trusted(user: Path, make: Make) -> None:
    """Part of F3."""
    write(user, {".cursor/mcp.json": '{"mcpServers": {"a": {"command": "b"}}}'})
    before = tree(user)
    plan = connect(make(), "cursor")
    [backup] = [change.backup for change in plan.files if change.backup]
    Path(backup).write_bytes(b"evil")
    assert disconnect(make(), "cursor").files[1].action == "change"
    assert tree(user) == before


def test_a_script_that_was_changed_is_copied_before_it_goes(user: Path, make: Make) -> None:
    connect(make(), "opencode")
    script = user / ".config/opencode/plugins/threadline.js"
    script.write_bytes(script.read_bytes() + b"// mine\n")
    [change] = [one for one in disconnect(make(), "opencode").files if one.path == str(script)]
    assert change.action == "delete"
    assert change.backup is not None
    assert Path(change.backup).read_bytes().endswith(b"// mine\n")


def test_a_write_that_fails_leaves_everything_as_it_was(
    user: Path, make: Make, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of F3."""
    write(user, {".cursor/mcp.json": "{}"})
    before = tree(user)
    write_file = config_files.write

    def change_first(sight: Any, data: bytes) -> tuple[str, ...]:
        """Play another program that writes the file at that moment."""
        Path(sight.path).parent.mkdir(exist_ok=True)
        Path(sight.path).write_bytes((sight.data or b"") + b" ")
        return write_file(sight, data)

    monkeypatch.setattr(config_files, "write", change_first)
    plan = connect(make(), "cursor")
    assert actions(plan) == {"refused"}
    assert all("meanwhile" in str(change.reason) for change in plan.files)
    assert (user / ".cursor/mcp.json").read_bytes() == b"{} "
    assert copies(user) == []
    assert Ledger(home.folder, home.lock).rows() == {}
    assert before.keys() | {".cursor/hooks.json"} == tree(user).keys()


def test_a_process_that_dies_before_it_writes_leaves_nothing_to_undo(
    user: Path, make: Make, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of F3."""
    write(user, {".cursor/mcp.json": "{ }"})
    before = tree(user)

    def die(_: object, __: bytes) -> tuple[str, ...]:
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr(config_files, "write", die)
        with pytest.raises(KeyboardInterrupt):
            connect(make(), "cursor")
    assert actions(disconnect(make(), "cursor")) == {"unchanged"}
    assert (tree(user), copies(user)) == (before, [])
    with monkeypatch.context() as dying:
        dying.setattr(config_files, "write", die)
        with pytest.raises(KeyboardInterrupt):
            connect(make(), "cursor")
    connect(make(), "cursor")
    disconnect(make(), "cursor")
    assert (tree(user), copies(user)) == (before, [])
    assert Ledger(home.folder, home.lock).rows() == {}


def test_a_broken_file_that_never_had_anything_of_ours_is_no_obstacle_to_leaving(
    user: Path, make: Make
) -> None:
    write(user, {".cursor/mcp.json": "{", ".gemini/settings.json": "{ threadline"})
    plan = disconnect(make())
    refused = [Path(one.path).name for one in plan.files if one.action == "refused"]
    assert refused == ["settings.json"]


def test_what_we_made_ourselves_is_no_sign_of_an_agent(user: Path, make: Make) -> None:
    connect(make(), "vscode")
    assert (user / ".copilot").is_dir()
    assert "copilot" not in [one.agent for one in hosts_connect.find(make()) if one.installed]


def test_an_entry_is_removed_from_every_file_that_would_do(user: Path, make: Make) -> None:
    connect(make(), "opencode")
    write(user, {".config/opencode/opencode.jsonc": "{}"})
    disconnect(make(), "opencode")
    assert tree(user / ".config") == {"opencode": None, "opencode/opencode.jsonc": b"{}"}


def test_an_unknown_agent_is_answered_with_the_known_ones(make: Make) -> None:
    """Part of F3."""
    with pytest.raises(InvalidParamsError, match="known are antigravity, claude-code"):
        connect(make(), "clod")


def test_without_names_those_that_are_found_are_connected(user: Path, make: Make) -> None:
    """Part of F3."""
    write(user, {".cursor/x": "", ".codex/x": ""})
    tools = make()
    assert [each.agent for each in hosts_connect.find(tools) if each.installed] == [
        "codex",
        "cursor",
    ]
    plan = hosts_connect.connect(tools, ConnectParams())
    assert [connection.agent for connection in plan.connections] == ["codex", "cursor"]


def test_an_agent_without_files_at_a_level_says_so(make: Make) -> None:
    """Part of F3."""
    plan = connect(make(), "openclaw", level="project")
    assert plan.files == ()
    assert plan.connections[0].refusal == "it has no files of a project; use --user"


def test_a_plan_can_be_sent(user: Path, make: Make) -> None:
    write(user, EXISTING)
    plan = connect(make(), dry_run=True)
    assert msgspec.json.decode(msgspec.json.encode(plan), type=Plan) == plan


def test_copies_never_look_like_something_a_host_loads(user: Path, make: Make) -> None:
    write(user, EXISTING)
    connect(make())
    for name in copies(user):
        assert Path(name).suffix.startswith(".threadline-backup-")


def without_server(file: File) -> File:
    """Return a file as versions knew it that had no server yet."""
    older = copy.copy(file)
    older.server = None
    return older


def has_more(file: File) -> bool:
    return bool(file.hooks or file.plugin or file.template or file.is_rules)


@pytest.mark.parametrize("level", ["user", "project"])
@pytest.mark.parametrize("is_new", [True, False])
def test_a_connection_of_hooks_alone_gets_the_server_and_goes_to_the_byte(
    level: str, is_new: bool, user: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of F3."""
    if not is_new:
        write(user, EXISTING)
        write(user / "project", {".mcp.json": CLAUDE, ".cursor/mcp.json": "{}\n"})
    before = tree(user)
    with monkeypatch.context() as older:
        for host in assistant.find_all():
            files = tuple(without_server(file) for file in host.files if has_more(file))
            older.setattr(type(host), "files", files)
        connect(make(OLD), level=level)
        told = b"".join(data or b"" for data in tree(user).values())
        assert b"/old/threadline hook" in told
        assert b'"mcp"' not in told
    connect(make(), level=level)
    connected = tree(user)
    disconnect(make(), level=level)
    assert tree(user) == before
    assert copies(user) == []
    connect(make(), level=level)
    assert tree(user) == connected


def test_a_rules_file_follows_memory_and_goes_with_its_connection(user: Path, make: Make) -> None:
    """Part of F3."""
    before = tree(user)
    connect(make(), "windsurf", level="project")
    page = user / "project" / ".windsurf/rules/threadline.md"
    project = str(user / "project")
    sight = rules_writer.find(make().ledger.rows(), "windsurf", project)
    assert sight is not None
    rules_writer.renew("windsurf", sight, "We never log names.")
    assert rules_files.is_intact(page.read_text())
    assert "We never log names." in page.read_text()
    assert actions(connect(make(), "windsurf", level="project")) == {"unchanged"}
    disconnect(make(), "windsurf", level="project")
    assert tree(user) == before
    assert copies(user) == []


def test_a_rules_file_that_others_wrote_or_nobody_connected_is_not_ours_to_write(
    user: Path, make: Make
) -> None:
    """Part of F3."""
    page = user / "project" / ".windsurf/rules/threadline.md"
    project = str(user / "project")
    write(user, {"project/.windsurf/rules/threadline.md": rules_files.write("from a stranger")})
    assert rules_writer.find(make().ledger.rows(), "windsurf", project) is None
    connect(make(), "windsurf", level="project")
    assert rules_writer.find(make().ledger.rows(), "windsurf", project) is not None
    page.write_text(page.read_text() + "\nAnd this is mine.\n")
    assert rules_writer.find(make().ledger.rows(), "windsurf", project) is None
    page.unlink()
    assert rules_writer.find(make().ledger.rows(), "windsurf", project) is None
    (user / "elsewhere.md").write_text(rules_files.write("mine"))
    page.symlink_to(user / "elsewhere.md")
    assert rules_writer.find(make().ledger.rows(), "windsurf", project) is None
    assert (user / "elsewhere.md").read_text() == rules_files.write("mine")


def test_a_rules_file_that_was_edited_is_copied_before_it_goes(user: Path, make: Make) -> None:
    """Part of F3."""
    connect(make(), "windsurf", level="project")
    page = user / "project" / ".windsurf/rules/threadline.md"
    page.write_text(page.read_text() + "\nAnd this is mine.\n")
    disconnect(make(), "windsurf", level="project")
    assert not page.exists()
    [copy] = page.parent.iterdir()
    assert "And this is mine." in copy.read_text()
