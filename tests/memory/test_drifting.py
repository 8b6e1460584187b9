"""Memories are held against the code: what is stale is found, what only moved is left in peace."""

import os
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from benchmarks import drift as drift_module
from benchmarks import evolving
from protocol.memories import Anchor, Evidence, Memory
from sidecar.code.codebase import Codebase
from sidecar.memory import drift
from sidecar.memory.rules.drafts import Draft
from sidecar.memory.rules.drift import Fates
from sidecar.text import paths
from tests.code.test_git import booby_trap, put_before_git, snapshot
from tests.support import NOON, Repository

pytestmark = pytest.mark.slow

CODE = "def load(a):\n    return a + {}\n\n\ndef save(a):\n    return a - {}\n"
ODD = b"caf\xe9\\xe9 :(glob)*.py"


@dataclass
class Desk:
    """A repository, and the memories that were made of it."""

    repository: Repository
    memories: dict[str, Memory] = field(default_factory=dict)

    def put(self, files: dict[str, str | None], subject: str = "change") -> str:
        for name, content in files.items():
            if content is None:
                (self.repository.path / name).unlink()
            else:
                self.repository.write(name, content)
        return self.commit(subject)

    def commit(self, subject: str = "change") -> str:
        self.repository.git("add", "--all")
        self.repository.git("commit", "--quiet", "--allow-empty", "-m", subject, at=NOON)
        return self.repository.git("rev-parse", "HEAD")

    def remember(self, name: str, *shas: str, **fields: tuple[str, ...]) -> Memory:
        """Make a memory, with the anchors it gets now."""
        draft = Draft(
            type="fact",
            title=f"About {name}",
            content=f"It is about {name}.",
            evidence=tuple(Evidence(quote=name, commit_sha=sha) for sha in shas),
            files=fields.get("files", ()),
            entities=fields.get("entities", ()),
        )
        (anchored,) = drift.anchor([draft], self.code())
        number = len(self.memories)
        memory = evolving.memory(anchored, number)
        self.memories[name] = msgspec.structs.replace(memory, entities=draft.entities)
        return self.memories[name]

    def code(self) -> Codebase:
        return Codebase(self.repository.path)

    def check(self, fates: Fates | None = None) -> dict[str, str]:
        """Tell the verdict on each memory, by its name; those elsewhere are said to be so."""
        fates = fates or Fates()
        verdicts = drift.check(self.memories.values(), self.code(), fates)
        away = drift.elsewhere(self.memories.values(), self.code(), fates)
        assert not verdicts.keys() & away
        said: dict[str, str] = dict.fromkeys(away, "elsewhere") | dict(verdicts)
        return {
            name: said[memory.memory_id]
            for name, memory in self.memories.items()
            if memory.memory_id in said
        }


@pytest.fixture
def desk(repository: Repository) -> Desk:
    return Desk(repository)


@pytest.mark.slow
def test_staleness_is_found_and_freshness_left_in_peace(tmp_path: Path) -> None:
    """C9. On histories with a known end."""
    tally = drift_module.told(evolving.evolve(tmp_path / "evolved", rounds=2, seed=3))
    assert drift_module.share(tally, "stale", "stale") >= drift_module.FOUND, tally
    assert drift_module.share(tally, "fresh", "stale") < drift_module.FALSE, tally
    assert drift_module.share(tally, "elsewhere", "elsewhere") == 1, tally
    assert drift_module.share(tally, "fresh", "elsewhere") == 0, tally


@pytest.mark.slow
def test_going_on_finds_what_beginning_anew_finds(tmp_path: Path) -> None:
    """Part of C9: what is remembered from an earlier HEAD changes no verdict."""
    history = evolving.evolve(tmp_path / "evolved", rounds=1, seed=4)
    repository = Repository(history.folder)
    kept = Codebase(history.folder)
    drafts = drift.anchor([one.draft for one in history.told], kept)
    memories = [evolving.memory(draft, number) for number, draft in enumerate(drafts)]
    for head in ("main~40", "main~20", "main~7", "main~1", "main", "main~9", "main"):
        repository.git("checkout", "--quiet", "--detach", head)
        fresh = Codebase(history.folder)
        assert drift.check(memories, kept, history.fates) == drift.check(
            memories, fresh, history.fates
        )
        assert drift.elsewhere(memories, kept, history.fates) == drift.elsewhere(
            memories, fresh, history.fates
        )


def test_a_memory_is_anchored_to_commit_blob_and_symbol(desk: Desk) -> None:
    """Part of C9."""
    desk.put({"src/a.py": CODE.format(1, 1)})
    sha = desk.put({"src/a.py": CODE.format(1, 2), "notes.md": "Notes.\n"})
    memory = desk.remember("saving", sha)
    blob = desk.repository.git("rev-parse", "HEAD:src/a.py")
    first, second = memory.anchors
    assert first.digest
    assert first == Anchor(
        path="src/a.py", commit_sha=sha, blob=blob, symbol="save", digest=first.digest
    )
    assert second.path == "notes.md"
    assert second.symbol is None


def test_a_note_without_a_commit_is_anchored_in_the_code_as_it_is(desk: Desk) -> None:
    """Part of C9."""
    head = desk.put({"a.py": CODE.format(1, 1), "b.txt": "b\n"})
    named = desk.remember("noted", files=("a.py", "nowhere.py"), entities=("load",))
    assert [(one.symbol, one.commit_sha) for one in named.anchors] == [("load", head)]
    whole = desk.remember("whole", files=("b.txt",))
    assert [(one.path, one.symbol) for one in whole.anchors] == [("b.txt", None)]
    assert desk.remember("thought").anchors == ()
    desk.put({"a.py": CODE.format(2, 1), "b.txt": None})
    assert desk.check() == {"noted": "changed", "whole": "gone"}


def test_a_draft_keeps_the_anchors_it_has(desk: Desk) -> None:
    """Part of C9."""
    sha = desk.put({"a.py": CODE.format(1, 1)})
    given = Draft(
        type="fact",
        title="t",
        content="c",
        evidence=(Evidence(quote="q", commit_sha=sha),),
        anchors=(Anchor(path="x.py"),),
    )
    assert drift.anchor([given], desk.code()) == [given]


def test_an_anchor_that_a_client_gave_needs_no_blob(desk: Desk) -> None:
    """Part of C9."""
    desk.put({"a.py": CODE.format(1, 1)})
    for name, anchor in {
        "symbol": Anchor(path="a.py", symbol="load"),
        "no symbol": Anchor(path="a.py", symbol="fly"),
        "file": Anchor(path="a.py"),
        "no file": Anchor(path="b.py"),
    }.items():
        memory = desk.remember(name)
        desk.memories[name] = msgspec.structs.replace(memory, anchors=(anchor,))
    assert desk.check() == {
        "symbol": "fresh",
        "no symbol": "gone",
        "file": "fresh",
        "no file": "gone",
    }


def test_a_deletion_is_fresh_while_the_file_stays_away(desk: Desk) -> None:
    """Part of C9."""
    desk.put({"old.py": CODE.format(1, 1), "a.txt": "a\n"})
    desk.remember("deletion", desk.put({"old.py": None}))
    assert desk.check() == {"deletion": "fresh"}
    desk.put({"old.py": CODE.format(1, 1)})
    assert desk.check() == {"deletion": "changed"}


def test_of_several_commits_the_last_state_is_remembered(desk: Desk) -> None:
    """Part of C9."""
    first = desk.put({"a.py": CODE.format(1, 1)})
    second = desk.put({"a.py": CODE.format(2, 1)})
    desk.remember("both", first, second)
    desk.remember("reversed", second, first)
    desk.remember("first", first, entities=("load",))
    assert desk.check() == {"both": "fresh", "reversed": "fresh", "first": "changed"}


def test_items_of_an_unmerged_branch_stay_there(desk: Desk) -> None:
    """Part of C9."""
    desk.put({"a.py": CODE.format(1, 1)})
    desk.repository.git("checkout", "--quiet", "-b", "topic")
    sha = desk.put({"a.py": CODE.format(2, 1)})
    desk.remember("branched", sha)
    desk.remember("noted", files=("a.py",), entities=("load",))
    assert desk.check() == {"branched": "fresh", "noted": "fresh"}
    desk.repository.git("checkout", "--quiet", "main")
    assert desk.check() == {"branched": "elsewhere", "noted": "elsewhere"}
    desk.repository.git("merge", "--quiet", "--no-ff", "-m", "merge", "topic")
    assert desk.check() == {"branched": "fresh", "noted": "fresh"}


def test_a_branch_that_only_removed_something_is_not_taken_for_merged(desk: Desk) -> None:
    """Part of C9."""
    desk.put({"notes.md": "".join(f"Line {number}.\n" for number in range(20))})
    desk.repository.git("checkout", "--quiet", "-b", "topic")
    text = "".join(f"Line {number}.\n" for number in range(20) if number != 7)
    desk.remember("removal", desk.put({"notes.md": text}))
    desk.repository.git("checkout", "--quiet", "main")
    assert desk.check() == {"removal": "elsewhere"}


def test_an_amended_commit_keeps_its_memories(desk: Desk) -> None:
    """Part of C9: by what the events know of it, even where its change is another."""
    desk.put({"a.py": CODE.format(1, 1)})
    old = desk.put({"a.py": CODE.format(2, 1)})
    desk.remember("amended", old)
    desk.repository.write("b.py", CODE.format(3, 3))
    desk.repository.git("add", "--all")
    desk.repository.git("commit", "--quiet", "--amend", "-m", "better")
    new = desk.repository.git("rev-parse", "HEAD")
    fates = Fates(became={old: new})
    assert desk.check(fates) == {"amended": "fresh"}
    desk.repository.git("revert", "--no-edit", new)
    assert desk.check(fates) == {"amended": "gone"}


def test_a_rebased_commit_keeps_its_memories(desk: Desk) -> None:
    """Part of C9: by patch-id, where no event knows of it."""
    desk.put({"a.py": CODE.format(1, 1)})
    desk.repository.git("checkout", "--quiet", "-b", "topic")
    desk.remember("rebased", desk.put({"a.py": CODE.format(2, 1)}))
    desk.repository.git("checkout", "--quiet", "main")
    desk.put({"b.py": CODE.format(1, 1)})
    desk.repository.git("rebase", "--quiet", "main", "topic")
    desk.put({"a.py": CODE.format(3, 1)})
    assert desk.check() == {"rebased": "changed"}
    desk.repository.git("revert", "--no-edit", "HEAD~1", "--strategy-option=theirs")
    assert desk.check() == {"rebased": "gone"}


def test_what_was_dropped_stays_out(desk: Desk) -> None:
    """Part of C9: also after git has forgotten the commit."""
    desk.put({"a.py": CODE.format(1, 1)})
    sha = desk.put({"a.py": CODE.format(2, 1)})
    desk.remember("dropped", sha)
    desk.repository.git("reset", "--quiet", "--hard", "HEAD~1")
    assert desk.check() == {"dropped": "elsewhere"}
    desk.repository.git("reflog", "expire", "--expire=now", "--all")
    desk.repository.git("gc", "--quiet", "--prune=now")
    assert desk.check(Fates(dropped=frozenset({sha}))) == {"dropped": "elsewhere"}
    assert desk.check() == {"dropped": "changed"}


@pytest.mark.slow
def test_a_shallow_clone_judges_by_what_it_has(desk: Desk, tmp_path: Path) -> None:
    """Part of C9: commits it never had are no sign of another branch."""
    old = desk.put(
        {"a.py": CODE.format(1, 1), "b.py": CODE.format(2, 2), "n.md": "n\n", "gone.py": "x = 1\n"}
    )
    for name in ("a.py", "b.py", "n.md", "gone.py"):
        desk.remember(name, old, files=(name,))
    desk.repository.git("mv", "a.py", "moved.py")
    desk.put({"b.py": CODE.format(3, 3), "n.md": "other\n", "gone.py": None})
    desk.put({"c.py": "c = 1\n"})
    clone = tmp_path / "clone"
    desk.repository.git(
        "clone", "--quiet", "--depth=1", f"file://{desk.repository.path}", str(clone)
    )
    expected = {"a.py": "fresh", "b.py": "changed", "gone.py": "gone"}
    assert desk.check() == expected | {"n.md": "changed"}
    assert Desk(Repository(clone), desk.memories).check() == expected | {"n.md": "fresh"}


@pytest.mark.slow
def test_a_partial_clone_judges_by_what_it_has(desk: Desk, tmp_path: Path) -> None:
    """Part of C9: contents that are missing are never fetched."""
    desk.put({"a.py": CODE.format(1, 1), "b.py": CODE.format(1, 1)})
    desk.repository.git("checkout", "--quiet", "-b", "topic")
    desk.remember("topic", desk.put({"a.py": CODE.format(9, 1)}))
    desk.repository.git("checkout", "--quiet", "main")
    sha = desk.put({"a.py": CODE.format(2, 1), "b.py": CODE.format(7, 7)})
    desk.remember("kept", sha, files=("a.py",))
    desk.remember("deleted", sha, files=("b.py",))
    desk.put({"a.py": "# new\n" + CODE.format(2, 1), "b.py": None})
    desk.repository.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    source = f"file://{desk.repository.path}"
    desk.repository.git("clone", "--quiet", "--filter=blob:none", source, str(clone))
    assert Desk(Repository(clone), desk.memories).check() == {
        "topic": "elsewhere",
        "kept": "fresh",
        "deleted": "gone",
    }


def test_an_unborn_head_and_a_plain_folder_judge_nothing(desk: Desk, tmp_path: Path) -> None:
    """Part of C9."""
    desk.memories["unborn"] = evolving.memory(
        Draft(
            type="fact",
            title="t",
            content="c",
            evidence=(Evidence(quote="q", commit_sha="a" * 40),),
            anchors=(Anchor(path="a.py", commit_sha="a" * 40, blob="b" * 40),),
        ),
        0,
    )
    assert desk.check() == {}
    assert desk.remember("noted", files=("a.py",)).anchors == ()
    (tmp_path / "plain").mkdir()
    assert Desk(Repository(tmp_path / "plain"), desk.memories).check() == {}


def test_a_detached_head_is_judged_as_it_stands(desk: Desk) -> None:
    """Part of C9."""
    first = desk.put({"a.py": CODE.format(1, 1)})
    second = desk.put({"a.py": CODE.format(2, 1)})
    desk.remember("first", first, entities=("load",))
    desk.remember("second", second)
    desk.repository.git("checkout", "--quiet", "--detach", first)
    assert desk.check() == {"first": "fresh"}
    assert desk.code().branch() is None


def test_the_main_line_is_known_on_every_branch_and_a_branch_only_on_its_own(desk: Desk) -> None:
    """Part of C9."""
    desk.put({"a.py": CODE.format(1, 1)})
    desk.repository.git("checkout", "--quiet", "-b", "feature")
    desk.remember("feature", desk.put({"b.py": CODE.format(2, 2)}))
    desk.repository.git("checkout", "--quiet", "main")
    desk.remember("main", desk.put({"c.py": CODE.format(3, 3)}))
    assert desk.check() == {"feature": "elsewhere", "main": "fresh"}
    desk.repository.git("checkout", "--quiet", "feature")
    assert desk.check() == {"feature": "fresh"}
    desk.repository.git("checkout", "--quiet", "-b", "other", "main")
    assert desk.check() == {"feature": "elsewhere", "main": "fresh"}


def test_names_that_are_no_text_are_followed_too(desk: Desk) -> None:
    """Part of C9."""
    old, new = (Path(desk.repository.path, os.fsdecode(name)) for name in (ODD, b"\xff-new.py"))
    old.write_text(CODE.format(1, 1))
    desk.remember("odd", desk.commit(), entities=("load",))
    assert desk.memories["odd"].anchors[0].path == paths.read(ODD)
    assert desk.check() == {"odd": "fresh"}
    old.rename(new)
    desk.commit()
    assert desk.check() == {"odd": "fresh"}
    new.unlink()
    desk.commit()
    assert desk.check() == {"odd": "gone"}


@pytest.mark.slow
def test_a_booby_trapped_repository_runs_nothing(desk: Desk, tmp_path: Path) -> None:
    """Part of C9, B7."""
    desk.put({"a.py": CODE.format(1, 1), "b.txt": "b\n"})
    desk.remember("code", desk.put({"a.py": CODE.format(2, 1)}))
    desk.remember("text", desk.put({"b.txt": "b\nc\n"}))
    desk.put({"a.py": "def other(): ...\n", "b.txt": "x\n"})
    marker = tmp_path / "marker"
    booby_trap(desk.repository, marker)
    before = snapshot(desk.repository.path)
    assert desk.check() == {"code": "gone", "text": "changed"}
    assert desk.remember("again", desk.memories["code"].evidence[0].commit_sha or "").anchors
    assert not marker.exists(), marker.read_text()
    assert snapshot(desk.repository.path) == before


@pytest.mark.slow
def test_many_memories_need_no_more_of_git_than_few(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of C9: one batch for all, and nothing but a look at HEAD while it stays."""
    shas = [desk.put({f"{number}.py": CODE.format(number, 0)}) for number in range(40)]
    desk.put({f"{number}.py": CODE.format(number, 1) for number in range(0, 40, 2)})
    desk.put({f"{number}.py": None for number in range(0, 40, 4)})
    for number, sha in enumerate(shas):
        desk.remember(f"memory {number}", sha)
    memories = list(desk.memories.values())
    log = tmp_path / "log"
    put_before_git(f'echo "$*" >> {log}\nexec {{git}} "$@"', tmp_path, monkeypatch)

    def calls(some: list[Memory], code: Codebase) -> int:
        log.write_text("")
        drift.check(some, code)
        return len(log.read_text().splitlines())

    few = calls(memories[:8], desk.code())
    code = desk.code()
    assert calls(memories, code) <= few <= 20
    assert calls(memories, code) == 0
