"""What a person wants remembered everywhere: told in every project, theirs alone, listed and forgotten like the rest."""

import json
from pathlib import Path

import pytest

from protocol.contexts import RenderParams
from protocol.errors import Code
from sidecar.app import Application
from sidecar.context import personal_items
from sidecar.handlers.background import Background
from sidecar.handlers.context import Dialogue
from sidecar.storage import prepared
from sidecar.storage.agent_keys import ALL, AgentKeys
from sidecar.storage.prepared import PERSONAL_ID
from sidecar.transports.exits import Exit
from tests.desks import Desk
from tests.mcps import Assistant, Host
from tests.support import NOON, FixedClock, Repository, holding, threadline

WISH = "I prefer small commits with a reason"


@pytest.fixture
def other(tmp_path: Path) -> Repository:
    repository = Repository.create(tmp_path / "other")
    repository.commit("begin", at=NOON)
    return repository


def told_in(desk: Desk, repository: Repository) -> str:
    params = RenderParams(project=str(repository.path), host="claude-code", preview=True)
    return desk.app.part(Dialogue).render(params).text


def start_hook(folder: Path, key: str) -> str:
    """Begin a conversation as Claude Code does; give what it is told."""
    message = {"session_id": key, "hook_event_name": "SessionStart", "source": "startup"}
    stdin = json.dumps({**message, "cwd": str(folder)}).encode()
    return threadline("hook", "claude-code", cwd=folder, stdin=stdin).stdout.decode()


def keep(desk: Desk, text: str = WISH, **more: object) -> str:
    written = desk.ask(
        "memories/write", scope="user", type="preference", title=text[:60], content=text, **more
    )
    return str(written["memory"]["memoryId"])


def test_what_is_kept_for_the_person_is_told_in_every_project(
    desk: Desk, other: Repository
) -> None:
    """Part of D17: and marked, so that no team ever gets it."""
    key = keep(desk, "The token is ghp_" + "a1B2" * 9 + " and tabs are eight wide")
    assert WISH not in told_in(desk, other)
    keep(desk)
    for repository in (desk.repository, other):
        told = told_in(desk, repository)
        assert "### Yours, in every project" in told
        assert WISH in told
        assert "ghp_" not in told
    assert not desk.vault.memories.all()
    listed = desk.ask("memories/list", project=PERSONAL_ID)["memories"]
    assert {one["scope"] for one in listed} == {"user"}
    read = desk.ask("memories/read", memoryIds=[key])
    assert [one["memoryId"] for one in read["memories"]] == [key]
    written = desk.ask("memories/write", type="fact", title="Here", content="Only here")
    assert "scope" not in written["memory"]


def test_it_has_a_small_room_of_its_own(desk: Desk) -> None:
    """Part of D17: the most important fit, and the project's own memory loses nothing to it."""
    for number in range(30):
        keep(desk, f"Wish {number}: {'word ' * 8}{number * 7919}", dedup=False)
    pinned = keep(desk, "Pinned above all others", pinned=True, importance=1, dedup=False)
    context = desk.ask("context/start", preview=True)
    told = personal_items.choose(desk.home.vault(PERSONAL_ID))
    assert context["personal"][0]["memoryId"] == pinned
    assert [one["memoryId"] for one in context["personal"]] == [one.memory_id for one in told]
    assert 3 < len(told) < 12
    text = told_in(desk, desk.repository)
    section = text.partition("### Yours, in every project\n")[2].partition("\n\n")[0]
    lines = [line for line in section.splitlines() if "Wish" in line or "Pinned" in line]
    assert 0 < sum(len(line) + 1 for line in lines) <= personal_items.ROOM


def test_a_change_is_told_at_once_and_what_is_forgotten_is_nowhere(
    desk: Desk, other: Repository
) -> None:
    """Part of D17: edited, forgotten and purged like the rest, also where contexts were prepared of it."""
    project = desk.app.project(str(other.path))
    vault = desk.app.vault(project)
    key = keep(desk, "Write zanzibar in every test")
    place = (str(other.path), "claude-code")
    vault.prepared.want(*place)
    desk.app.part(Background).prepare(vault)
    home = str(desk.home.folder)
    ready = prepared.read(home, project.project_id, place, "")
    assert ready is not None
    assert ready.is_latest
    assert "zanzibar" in ready.text
    desk.ask("memories/update", project=PERSONAL_ID, memoryId=key, content="Write samarkand there")
    assert prepared.read(home, project.project_id, place, "") is None
    assert "samarkand" in told_in(desk, other)
    desk.app.part(Background).prepare(vault)
    report = desk.ask("memories/forget", project=PERSONAL_ID, memoryIds=[key])
    assert report["verified"]
    assert prepared.read(home, project.project_id, place, "") is None
    assert "samarkand" not in told_in(desk, other)
    desk.close()
    assert holding(desk.home.folder, b"samarkand", b"zanzibar") == []


def test_an_agent_keeps_only_preferences_for_all_projects(desk: Desk) -> None:
    """Part of D17."""
    decision = {"scope": "user", "type": "decision", "title": "x", "content": "Use locks"}
    assert desk.refused("memories/write", **decision, agentId="cursor")["data"]["field"] == "scope"
    files = {"scope": "user", "type": "preference", "title": "x", "content": "y", "files": ["a.py"]}
    assert desk.refused("memories/write", **files)["code"] == Code.INVALID_PARAMS

    async def story(one: Assistant) -> None:
        written = await one.use(
            "write_memory", type="preference", title="Tabs", content="Tabs it is", scope="user"
        )
        assert written["memory"]["scope"] == "user"
        assert "Tabs" in json.dumps((await one.use("session_start"))["personal"])

    Host().run(desk.app, story)


def test_all_projects_are_searched_for_the_person_and_for_no_agent_without_permission(
    desk: Desk, other: Repository, clock: FixedClock
) -> None:
    """Part of D17."""
    there = Desk(desk.home, other, clock)
    there.ask("memories/write", type="fact", title="Export", content="The zebra export is nightly")
    desk.ask("memories/write", type="fact", title="Import", content="The zebra import is weekly")
    keep(desk, "I like zebra stripes in tables")
    assert desk.ask("memories/search", query="zebra")["total"] == 1
    everything = desk.ask("memories/search", query="zebra", allProjects=True)
    assert {hit["project"] for hit in everything["hits"]} == {"repository", "other", "everywhere"}
    assert everything["total"] == 3

    async def refused(one: Assistant) -> None:
        said = await one.fail("search_memories", query="zebra", allProjects=True)
        assert "--vaults all" in said

    async def allowed(one: Assistant) -> None:
        found = await one.use("search_memories", query="zebra", allProjects=True)
        assert len(found["hits"]) == 3
        assert "[other]" in json.dumps(found)

    Host().run(desk.app, refused)
    keys = AgentKeys(desk.home.folder)
    here = keys.create("narrow", (desk.vault.project_id,), "write", NOON)
    Host(environment={"THREADLINE_KEY": here}).run(desk.app, refused)

    async def stays(one: Assistant) -> None:
        said = await one.fail(
            "write_memory", type="preference", title="x", content="y", scope="user"
        )
        assert "not for all projects" in said

    Host(environment={"THREADLINE_KEY": here}).run(desk.app, stays)
    wide = keys.create("wide", (ALL,), "read", NOON)
    Host(environment={"THREADLINE_KEY": wide}).run(desk.app, allowed)


@pytest.mark.slow
def test_a_person_keeps_lists_exports_and_forgets_it_on_the_command_line(
    repository: Repository, other: Repository
) -> None:
    """D17: real processes; a hook in another repository tells it."""
    repository.commit("begin", at=NOON)
    empty = threadline("search", "--everywhere", cwd=repository.path)
    assert b"remember --everywhere" in empty.stderr
    kept = threadline("remember", "--everywhere", WISH, "--json", cwd=repository.path)
    memory = json.loads(kept.stdout)["memory"]
    assert (memory["type"], memory["scope"]) == ("preference", "user")
    assert WISH in start_hook(other.path, "one")
    assert WISH in threadline("context", cwd=other.path).stdout.decode()
    for arguments in (("search", "--everywhere"), ("export", "--everywhere")):
        assert WISH in threadline(*arguments, cwd=other.path).stdout.decode()
    found = threadline("search", "small commits", "--all-projects", "--json", cwd=other.path)
    assert json.loads(found.stdout)["hits"][0]["project"] == "everywhere"
    assert WISH not in threadline("export", cwd=other.path).stdout.decode()
    gone = threadline("forget", "--everywhere", memory["memoryId"][-8:], cwd=other.path)
    assert gone.returncode == Exit.OK, gone.stderr
    assert WISH not in start_hook(other.path, "another")
    keep_again = threadline("remember", "--everywhere", WISH, cwd=other.path)
    assert keep_again.returncode == Exit.OK
    purged = threadline("purge", "--everywhere", "--everything", "--yes", cwd=other.path)
    assert purged.returncode == Exit.OK, purged.stderr
    assert WISH not in threadline("context", cwd=other.path).stdout.decode()


def test_without_any_of_it_nothing_is_made(desk: Desk) -> None:
    """Part of D17: no vault, no section."""
    assert "personal" not in desk.ask("context/start", preview=True)
    assert not (desk.home.folder / "projects" / PERSONAL_ID / "vault.sqlite").exists()
    assert isinstance(desk.app, Application)
