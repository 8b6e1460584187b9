"""Rules files: written, refreshed and removed on command, in real working trees, without a trace."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.errors import Code, ConflictError
from protocol.rules import RulesParams, WriteRulesParams
from sidecar.capture.rules.sessions import Rule
from sidecar.handlers import connections
from sidecar.hosts import rules_files, rules_writer
from sidecar.storage.home import Home
from sidecar.storage.ledgers import Ledger
from sidecar.storage.ulids import Ids
from tests.desks import Desk, elsewhere
from tests.support import HOUR, FixedClock, Repository

pytestmark = pytest.mark.slow

KNOWN = "Never write into a user's repository"
PLACES = {
    "agents": "AGENTS.md",
    "cursor": ".cursor/rules/threadline.mdc",
    "windsurf": ".windsurf/rules/threadline.md",
}
TARGETS = list(PLACES)
AGENTS = {
    "none": None,
    "empty": b"",
    "plain": b"# Rules\n\nUse tabs.\n",
    "no final newline": b"Use tabs.",
    "CRLF": b"# Rules\r\n\r\nUse tabs.\r\n",
    "CRLF, no final newline": b"# Rules\r\nUse tabs.",
    "mixed": b"one\r\ntwo\nthree\r",
    "BOM": b"\xef\xbb\xbf# Rules\n",
    "BOM alone": b"\xef\xbb\xbf",
    "blank lines": b"\n\n\nUse tabs.\n\n\n",
    "other scripts": "Verwende Tabulatoren ✓ 日本語\n".encode(),
    "fences": b"```\n<!-- threadline -->\n```\n<!-- threadline:memory -->\n",
}


def tree(desk: Desk) -> dict[str, bytes | None]:
    """Give everything in the working tree, and git's folder as one thing."""
    root = desk.repository.path
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
        for path in sorted(root.rglob("*"))
        if ".git" not in path.relative_to(root).parts
    }


def write(desk: Desk, name: str, data: bytes) -> Path:
    path = desk.repository.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def read(desk: Desk, target: str) -> str:
    return (desk.repository.path / PLACES[target]).read_bytes().decode()


def outcomes(told: Mapping[str, Any]) -> dict[str, str]:
    return {file["target"]: file["outcome"] for file in told["files"]}


def states(desk: Desk) -> dict[str, str]:
    return {file["target"]: file["state"] for file in desk.ask("rules/list")["files"]}


def test_context_goes_into_files_on_command_and_leaves_no_trace(desk: Desk) -> None:
    """D12. What a person inserts, copies and opens in a chat is tried in real editors: `tests/editor/host/context.test.cjs`."""
    desk.remember(KNOWN, "constraint")
    desk.repository.write("AGENTS.md", "Use tabs.\r\n")
    before = tree(desk)
    rendered = desk.ask("context/render", host="clipboard")
    assert KNOWN in rendered["text"]
    assert tree(desk) == before
    assert states(desk) == dict.fromkeys(TARGETS, "absent")
    for target in TARGETS:
        assert desk.ask("rules/write", target=target)["outcome"] == "created"
        assert KNOWN in read(desk, target)
    assert read(desk, "agents").startswith("Use tabs.\r\n\r\n<!-- threadline:rules")
    assert read(desk, "cursor").startswith("---\ndescription: ")
    assert "\nalwaysApply: true\n---\n" in read(desk, "cursor")
    assert read(desk, "windsurf").startswith("---\ntrigger: always_on\n---\n")
    written = tree(desk)
    desk.remember("Money is kept in cents")
    assert tree(desk) == written
    assert set(outcomes(desk.ask("rules/refresh")).values()) == {"updated"}
    assert all("Money is kept in cents" in read(desk, target) for target in TARGETS)
    assert set(outcomes(desk.ask("rules/refresh")).values()) == {"unchanged"}
    assert set(outcomes(desk.ask("rules/remove")).values()) == {"removed"}
    assert tree(desk) == before
    assert states(desk) == dict.fromkeys(TARGETS, "absent")


@pytest.mark.parametrize("content", AGENTS.values(), ids=AGENTS)
def test_agents_md_is_given_back_to_the_byte(content: bytes | None, desk: Desk) -> None:
    """Part of D12."""
    desk.remember(KNOWN, "constraint")
    if content is not None:
        write(desk, "AGENTS.md", content)
    before = tree(desk)
    assert desk.ask("rules/write", target="agents")["outcome"] == "created"
    written = (desk.repository.path / "AGENTS.md").read_bytes()
    assert written.startswith(content or b"")
    assert KNOWN in written.decode()
    desk.remember("Money is kept in cents")
    assert desk.ask("rules/write", target="agents")["outcome"] == "updated"
    assert desk.ask("rules/write", target="agents")["outcome"] == "unchanged"
    desk.ask("rules/remove", target="agents")
    assert tree(desk) == before
    assert desk.ask("rules/remove", target="agents")["files"][0]["outcome"] == "absent"


@settings(max_examples=60, deadline=None)
@given(st.binary() | st.text().map(str.encode), st.text(max_size=40))
def test_whatever_is_in_agents_md_it_is_refused_or_given_back(data: bytes, told: str) -> None:
    """Part of D12."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        home = Home(folder / "home", Ids(FixedClock()), Rule())
        tools = rules_writer.Tools(
            str(folder), Ledger(home.folder, home.lock), lambda _target, _most: told
        )
        path = folder / "AGENTS.md"
        path.write_bytes(data)
        try:
            rules_writer.write(tools, WriteRulesParams(target="agents"))
        except ConflictError:
            assert path.read_bytes() == data
            return
        assert path.read_bytes().startswith(data)
        rules_writer.remove(tools, RulesParams(target="agents"))
        assert path.read_bytes() == data
        assert {one.name for one in folder.iterdir()} == {"AGENTS.md", "home"}
        home.close()


def test_another_process_without_the_ledger_removes_what_was_written(desk: Desk) -> None:
    """Part of D12."""
    before = tree(desk)
    for target in TARGETS:
        desk.ask("rules/write", target=target)
    (desk.home.folder / "connections.json").unlink()
    other = desk.second()
    assert set(outcomes(other.ask("rules/refresh")).values()) == {"unchanged"}
    assert set(outcomes(other.ask("rules/remove")).values()) == {"removed"}
    left = {name for name in tree(desk) if name not in before}
    assert left <= {".cursor", ".cursor/rules", ".windsurf", ".windsurf/rules"}
    other.close()


def test_what_others_put_beside_and_around_stays(desk: Desk) -> None:
    """Part of D12."""
    for target in TARGETS:
        desk.ask("rules/write", target=target)
    write(desk, ".cursor/rules/mine.mdc", b"mine")
    path = desk.repository.path / "AGENTS.md"
    path.write_bytes(b"Before.\n\n" + path.read_bytes() + b"\nAfter.\n")
    desk.remember(KNOWN, "constraint")
    assert set(outcomes(desk.ask("rules/refresh")).values()) == {"updated"}
    assert path.read_text().startswith("Before.\n\n<!-- ")
    assert path.read_text().endswith(" -->\n\nAfter.\n")
    desk.ask("rules/remove")
    assert path.read_bytes() == b"Before.\n\nAfter.\n"
    assert (desk.repository.path / ".cursor/rules/mine.mdc").read_bytes() == b"mine"
    assert not (desk.repository.path / ".windsurf").exists()


@pytest.mark.parametrize("target", TARGETS)
def test_what_was_edited_by_hand_is_kept_until_somebody_insists(target: str, desk: Desk) -> None:
    """Part of D12."""
    desk.remember(KNOWN, "constraint")
    before = tree(desk)
    desk.ask("rules/write", target=target)
    path = desk.repository.path / PLACES[target]
    path.write_text(path.read_text().replace(KNOWN, "Write wherever you like"))
    edited = path.read_bytes()
    assert states(desk)[target] == "edited"
    told = desk.ask("rules/write", target=target)
    assert (told["outcome"], told["state"]) == ("kept", "edited")
    assert "edited by hand" in told["reason"]
    assert outcomes(desk.ask("rules/refresh")) == {target: "kept"}
    assert outcomes(desk.ask("rules/remove")) == {target: "kept"}
    assert path.read_bytes() == edited
    assert desk.ask("rules/write", target=target, force=True)["outcome"] == "updated"
    assert KNOWN in path.read_text()
    path.write_bytes(edited)
    assert outcomes(desk.ask("rules/remove", force=True)) == {target: "removed"}
    assert tree(desk) == before


def test_refreshing_makes_nothing(desk: Desk) -> None:
    """Part of D12."""
    before = tree(desk)
    assert desk.ask("rules/refresh") == {"files": []}
    assert desk.ask("rules/refresh", target="cursor")["files"][0]["outcome"] == "absent"
    assert desk.ask("rules/remove") == {"files": []}
    assert tree(desk) == before


BLOCK = rules_files.put_block("", "Something.")
BAD = {
    "not UTF-8": b"\xff\xfe\x00",
    "a zero": b"a\0b",
    "no beginning": f"one\n{rules_files.END}\n".encode(),
    "no end": BLOCK.replace(rules_files.END, "").encode(),
    "twice": (BLOCK + BLOCK).encode(),
    "wrong order": "\n".join(reversed(BLOCK.splitlines())).encode(),
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_a_file_that_cannot_be_understood_stays_as_it_is(content: bytes, desk: Desk) -> None:
    """Part of D12."""
    write(desk, "AGENTS.md", content)
    before = tree(desk)
    for method in ("write", "refresh", "remove"):
        error = desk.refused(f"rules/{method}", target="agents", force=True)
        assert (error["code"], error["data"]["field"]) == (Code.CONFLICT, "target")
        assert "AGENTS.md is left as it is" in error["message"]
    assert states(desk)["agents"] == "refused"
    assert tree(desk) == before
    assert not (desk.home.folder / "connections.json").exists()


HOW = ("read-only", "a link", "a link outside", "a folder", "a pipe", "two names")


@pytest.mark.parametrize(
    ("how", "target"),
    [(how, target) for how in HOW for target in TARGETS]
    + [("a linked folder", target) for target in ("cursor", "windsurf")],
)
def test_a_file_that_must_not_be_touched_is_not(how: str, target: str, desk: Desk) -> None:
    """Part of D12."""
    root = desk.repository.path
    path = root / PLACES[target]
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / path.name).write_text("theirs\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    if how == "read-only":
        path.write_text(rules_files.write("x", target) if target != "agents" else "Use tabs.\n")
        path.chmod(0o444)
    elif how == "a link":
        (root / "real.md").write_text("")
        path.symlink_to(root / "real.md")
    elif how == "a link outside":
        path.symlink_to(outside / path.name)
    elif how == "a linked folder":
        path.parent.rmdir()
        path.parent.symlink_to(outside)
    elif how == "a folder":
        path.mkdir()
    elif how == "a pipe":
        os.mkfifo(path)
    elif how == "two names":
        (root / "real.md").write_text("")
        path.hardlink_to(root / "real.md")
    before = tree(desk)
    error = desk.refused("rules/write", target=target, force=True)
    assert error["code"] == Code.CONFLICT
    assert PLACES[target] in error["message"]
    desk.ask("rules/refresh", force=True)
    desk.ask("rules/remove", force=True)
    assert tree(desk) == before
    assert (outside / path.name).read_text() == "theirs\n"
    assert [entry.name for entry in outside.iterdir()] == [path.name]


def test_a_file_of_that_name_that_is_not_ours_is_never_replaced(desk: Desk) -> None:
    """Part of D12."""
    write(desk, PLACES["cursor"], b"---\nalwaysApply: true\n---\nmine\n")
    before = tree(desk)
    assert "not ours" in desk.refused("rules/write", target="cursor", force=True)["message"]
    assert "not ours" in desk.refused("rules/remove", target="cursor", force=True)["message"]
    assert desk.ask("rules/refresh", force=True) == {"files": []}
    assert tree(desk) == before


def test_one_damaged_file_does_not_keep_the_others_from_being_renewed(desk: Desk) -> None:
    """Part of D12."""
    for target in TARGETS:
        desk.ask("rules/write", target=target)
    path = desk.repository.path / "AGENTS.md"
    path.write_text(path.read_text().replace(rules_files.END, ""))
    damaged = path.read_bytes()
    desk.remember(KNOWN, "constraint")
    told = desk.ask("rules/refresh")
    assert outcomes(told) == {"agents": "refused", "cursor": "updated", "windsurf": "updated"}
    assert "damaged" in told["files"][0]["reason"]
    assert path.read_bytes() == damaged


def test_a_disk_that_refuses_changes_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Part of D12."""
    write(desk, "AGENTS.md", b"Use tabs.\n")
    before = tree(desk)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sidecar.hosts.config_files.os.fsync", fail)
    assert desk.refused("rules/write", target="agents")["code"] == Code.STORAGE_FAILED
    monkeypatch.undo()
    assert tree(desk) == before
    assert desk.ask("rules/remove") == {"files": []}


def test_nothing_is_written_into_git(desk: Desk, tmp_path: Path) -> None:
    """Part of D12."""
    git = desk.repository.path / ".git"
    error = desk.refused("rules/write", target="agents", project=str(git / "refs"))
    assert "no working tree" in error["message"]
    assert not list(git.rglob("AGENTS.md"))
    bare = Repository(tmp_path / "bare.git")
    bare.path.mkdir()
    bare.git("init", "--quiet", "--bare")
    error = desk.refused("rules/write", target="agents", project=str(bare.path))
    assert "no working tree" in error["message"]
    assert not (bare.path / "AGENTS.md").exists()


def test_a_folder_of_a_project_its_id_and_a_worktree_mean_their_own_root(
    desk: Desk, tmp_path: Path
) -> None:
    """Part of D12."""
    (desk.repository.path / "src").mkdir()
    told = desk.ask("rules/write", target="agents", project=str(desk.repository.path / "src"))
    assert told["path"] == str(desk.repository.path.resolve() / "AGENTS.md")
    told = desk.ask("rules/write", target="agents", project=desk.vault.project_id)
    assert told["outcome"] == "unchanged"
    worktree = tmp_path / "worktree"
    desk.repository.git("worktree", "add", "--quiet", str(worktree))
    told = desk.ask("rules/write", target="agents", project=str(worktree))
    assert (told["path"], told["outcome"]) == (str(worktree.resolve() / "AGENTS.md"), "created")
    other = elsewhere(tmp_path / "other", desk)
    assert set(states(other).values()) == {"absent"}


def test_a_file_holds_what_lasts_and_nothing_of_a_conversation(desk: Desk) -> None:
    """Part of D12."""
    desk.remember(KNOWN, "constraint")
    desk.start(sessionKey="c1")
    desk.ask("context/digest", sessionKey="c1", digest="State: half of it is done.")
    for target in TARGETS:
        desk.message("Only for you to read", target=target)
    for _ in range(7):
        desk.message("Only for you to read", target="*")
    desk.clock.pass_(HOUR)
    for target in TARGETS:
        desk.ask("rules/write", target=target)
        assert "Only for you" not in read(desk, target)
        assert "messages wait" not in read(desk, target)
        assert "half of it is done" not in read(desk, target)
    assert desk.ask("context/receipts")["total"] == 1
    assert len(desk.look("windsurf")["pendingMessages"]) == 5


def test_secrets_do_not_get_into_a_file(desk: Desk) -> None:
    """Part of D12."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    key = desk.remember("The deploy token is in the vault", "constraint")
    desk.change(key, title=f"The deploy token is {secret}", content=f"It is {secret}")
    for target in TARGETS:
        desk.ask("rules/write", target=target)
        assert "The deploy token is" in read(desk, target)
        assert secret not in read(desk, target)


def test_what_is_forgotten_leaves_all_files_at_once(desk: Desk) -> None:
    """Part of D12."""
    write(desk, "AGENTS.md", b"Use tabs.")
    before = tree(desk)
    key = desk.remember(KNOWN, "constraint")
    for target in TARGETS:
        desk.ask("rules/write", target=target)
    desk.ask("memories/forget", memoryIds=[key])
    for target in TARGETS:
        assert KNOWN not in read(desk, target)
        assert "Nothing is known yet." in read(desk, target)
    desk.ask("rules/remove")
    assert tree(desk) == before


@pytest.mark.parametrize("how", ["edited", "damaged"])
def test_an_edited_file_that_still_says_what_is_forgotten_is_named(how: str, desk: Desk) -> None:
    """Part of D12."""
    key = desk.remember(KNOWN, "constraint")
    desk.ask("rules/write", target="agents")
    told = read(desk, "agents")
    path = write(desk, "AGENTS.md", told.replace("###", "####").encode())
    if how == "damaged":
        path.write_text(told.replace(rules_files.END, ""))
    said = desk.ask("purge", phrase="said by nobody at all")
    assert (said["remaining"], said["verified"]) == ([], True)
    for asked in ({"memoryId": key}, {"phrase": KNOWN}, {"everything": True}):
        report = desk.ask("purge", **asked)
        assert (report["remaining"], report["verified"]) == ([str(path)], False)
    assert KNOWN in path.read_text()


def test_what_is_not_ours_any_more_is_not_named_when_all_is_forgotten(desk: Desk) -> None:
    """Part of D12."""
    desk.remember(KNOWN, "constraint")
    for target in TARGETS:
        desk.ask("rules/write", target=target)
    write(desk, PLACES["agents"], b"Use tabs.\n")
    write(desk, PLACES["cursor"], b"Use tabs.\n")
    (desk.repository.path / PLACES["windsurf"]).unlink()
    before = tree(desk)
    report = desk.ask("purge", everything=True)
    assert (report["remaining"], report["verified"]) == ([], True)
    assert tree(desk) == before


def test_the_file_of_a_connected_agent_is_one_and_the_same(desk: Desk) -> None:
    """Part of D12."""
    from protocol.connections import ConnectParams  # noqa: PLC0415  # only this test connects
    from sidecar.hosts import connect  # noqa: PLC0415  # likewise

    before = tree(desk)
    params = ConnectParams(agents=("windsurf", "cursor"), level="project")
    desk.ask("rules/write", target="cursor")
    connect.connect(connections.prepare(desk.app, "project"), params)
    assert states(desk)["windsurf"] == "written"
    desk.remember(KNOWN, "constraint")
    assert outcomes(desk.ask("rules/refresh"))["windsurf"] == "updated"
    assert desk.ask("rules/write", target="windsurf")["outcome"] == "unchanged"
    desk.ask("rules/remove", target="cursor")
    connect.disconnect(connections.prepare(desk.app, "project"), params)
    assert tree(desk) == before
