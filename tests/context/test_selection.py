"""Choosing: out of all that is known, what helps here and now, and nothing that is not so any more."""

import itertools
import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import msgspec
import pytest

from protocol.memories import Evidence, Memory
from sidecar.code.codebase import Codebase
from sidecar.context.verify import Verifier
from sidecar.memory.rules import digests
from tests.desks import DECISION, SUBJECTS, Desk, elsewhere, fill, memory, titles
from tests.support import HOUR, NOON, Repository

pytestmark = pytest.mark.slow

CODE = "def take(name):\n    return lock(name)\n\n\ndef give(name):\n    return unlock(name)\n"


LOGINS = (
    "Tokens of the login expire at noon",
    "Every third login asks for a captcha",
    "Guests read prices without any login",
    "A failed login is written down nowhere",
    "The form for the login stays on one page",
    "Old phones use a login by text message",
    "Login happens on a server of its own",
    "Staff have their login from the directory",
    "A login from abroad needs a second key",
    "Robots never get past our login",
    "Login costs forty milliseconds at most",
    "Names in a login are folded to lower case",
)


def facts(desk: Desk, **params: Any) -> list[str]:
    return titles(desk.look(**params)["sessionContext"]["importantFacts"])


def test_records_that_answer_the_question_are_quoted_with_author_and_date(desk: Desk) -> None:
    """Part of D2 and C13: a commit and what was said elsewhere, from no memory at all."""
    desk.commit("Pin the gizmo compiler\n\nNewer gizmos miscompile the turbine loop.")
    turn = {"role": "user", "content": "The gizmo compiler stays pinned until the turbine is gone"}
    desk.ask("turns/ingest", sessionKey="other", harness="claude-code", **turn)
    asked = {"query": "why is the gizmo compiler pinned?", "sessionKey": "run"}
    found = {item["type"]: item for item in desk.look(**asked)["queryResults"]}
    assert found["commit"]["title"] == "Pin the gizmo compiler"
    assert found["commit"]["text"] == "Newer gizmos miscompile the turbine loop."
    assert found["commit"]["origin"].endswith(" by Ada")
    assert found["turn"]["title"] == turn["content"]
    rendered = desk.ask("context/render", host="claude-code", **asked)["text"]
    assert "Newer gizmos miscompile the turbine loop." in rendered
    own = {**asked, "sessionKey": "other"}
    assert "turn" not in {item["type"] for item in desk.look(**own)["queryResults"]}
    assert not desk.look().get("queryResults")


@pytest.mark.parametrize("why", ["query", "branch", "open file", "saved file"])
def test_what_concerns_the_work_comes_before_what_is_new(desk: Desk, why: str) -> None:
    """Part of D1."""
    old = desk.remember("Passwords are hashed with argon2", files=["login.py"])
    desk.clock.pass_(2 * HOUR)
    desk.remember("Charts are drawn on the server", files=["charts.py"])
    assert facts(desk, maxFacts=1) == ["Charts are drawn on the server"]
    asked: dict[str, Any] = {}
    if why == "query":
        asked = {"query": "password hash"}
    elif why == "branch":
        desk.change(old, branch="main")
    elif why == "open file":
        asked = {"filesAtHand": ["login.py"]}
    else:
        desk.ask("ingest", events=[{"kind": "save", "files": [{"path": "login.py"}]}])
    found = desk.look(maxFacts=1, **asked)
    told = found["sessionContext"]["importantFacts"] + found["queryResults"]
    assert "Passwords are hashed with argon2" in titles(told)
    if why != "query":
        assert titles(told) == ["Passwords are hashed with argon2"]


def test_a_question_brings_its_answers_and_hides_nothing_that_binds(desk: Desk) -> None:
    """Part of D2."""
    fill(desk)
    usual = desk.look()["sessionContext"]
    asked = desk.look(query="how are passwords hashed?")
    assert all("asswords" in title for title in titles(asked["queryResults"]))
    heart = asked["sessionContext"]
    assert "passwords" in titles(heart["constraints"])[0]
    assert [len(heart[name]) for name in heart] == [len(usual[name]) for name in usual]
    every = [
        *titles(asked["queryResults"]),
        *(one for name in heart for one in titles(heart[name])),
    ]
    assert len(every) == len(set(every))


def test_a_question_about_nothing_known_hides_nothing(desk: Desk) -> None:
    """Part of D2."""
    fill(desk, 3)
    plain, asked = (desk.look(query=query)["sessionContext"] for query in ("", "zzzzqqqq"))
    assert set(titles(asked["constraints"])) == set(titles(plain["constraints"]))


def decide(desk: Desk) -> None:
    """Make a memory from a commit."""
    desk.commit(DECISION, "locks.py", content=CODE)
    desk.enrich()
    assert given(desk)


def given(desk: Desk) -> list[Any]:
    """Find the decision in what is told."""
    context = desk.look()
    found = [*context["sessionContext"]["importantFacts"], *context["queryResults"]]
    return [item for item in found if "advisory locks" in item["title"]]


def test_what_has_changed_is_told_as_changed(desk: Desk) -> None:
    """Part of C9."""
    decide(desk)
    assert not given(desk)[0].get("hasChanged", False)
    changed = "def take(name):\n    return database.advise(name, wait=True)\n"
    desk.commit("Rewrite it", "locks.py", content=changed)
    (item,) = given(desk)
    assert item["hasChanged"]
    rendered = desk.ask("context/render", agentId="claude-code", preview=True)["text"]
    assert "the code has changed since" in rendered


def remove(desk: Desk) -> None:
    desk.repository.git("rm", "--quiet", "locks.py")
    desk.repository.git("commit", "--quiet", "-m", "Remove the locks", at=desk.clock.now)


def revert(desk: Desk) -> None:
    desk.repository.git("revert", "--no-edit", "HEAD", at=desk.clock.now)


def leave(desk: Desk) -> None:
    desk.repository.git("checkout", "--quiet", "-b", "other", "HEAD~1")


def refuse(desk: Desk) -> None:
    key = given(desk)[0]["memoryId"]
    desk.ask("context/feedback", memoryId=key, verdict="wrong")


def supersede(desk: Desk) -> None:
    desk.change(given(desk)[0]["memoryId"], status="superseded")


def forget(desk: Desk) -> None:
    desk.ask("memories/forget", memoryIds=[given(desk)[0]["memoryId"]])


@pytest.mark.parametrize("end", [remove, revert, refuse, supersede, forget])
def test_what_does_not_hold_any_more_is_never_told(desk: Desk, end: Callable[[Desk], None]) -> None:
    """Part of C9."""
    decide(desk)
    end(desk)
    assert given(desk) == []
    assert given(desk.second()) == []


def test_what_belongs_to_another_branch_is_told_there(desk: Desk) -> None:
    """Part of C9."""
    desk.repository.git("checkout", "--quiet", "-b", "feature")
    decide(desk)
    desk.repository.git("checkout", "--quiet", "main")
    assert given(desk) == []
    receipt = explained(desk)
    assert "other branch" in {one["reason"] for one in receipt["leftOut"]}
    desk.repository.git("checkout", "--quiet", "feature")
    assert given(desk)
    desk.repository.git("checkout", "--quiet", "main")
    desk.repository.git("merge", "--quiet", "--no-ff", "--no-edit", "feature", at=desk.clock.now)
    assert given(desk)


def test_what_one_section_tells_no_other_leaves_out(desk: Desk) -> None:
    """Part of D6: asked for or not, it is given."""
    for fact in LOGINS:
        desk.remember(fact)
    told = desk.ask("context/explain", query="login", host="claude-code")["receipt"]
    given = {one["id"] for one in told["items"]}
    assert {one["section"] for one in told["items"]} >= {"queryResults", "importantFacts"}
    assert told["leftOut"]
    assert given.isdisjoint(one["id"] for one in told["leftOut"])


def explained(desk: Desk) -> Any:
    """Give the receipt of what is told now."""
    context = desk.start("explainer")
    desk.app.flush()
    (receipt,) = desk.ask("context/receipts", receiptId=context["receiptId"])["receipts"]
    return receipt


def test_a_branch_that_is_merged_elsewhere_counts_at_once(desk: Desk, tmp_path: Path) -> None:
    """Part of C9."""
    desk.repository.git("checkout", "--quiet", "-b", "feature")
    decide(desk)
    desk.repository.git("checkout", "--quiet", "-b", "mine", "main")
    assert given(desk) == []
    tree = tmp_path / "tree"
    desk.repository.git("worktree", "add", "--quiet", str(tree), "main")
    desk.repository.git(
        "-C", str(tree), "merge", "--quiet", "--no-ff", "--no-edit", "feature", at=desk.clock.now
    )
    assert given(desk)


def test_what_only_moved_is_told(desk: Desk) -> None:
    """Part of C9."""
    decide(desk)
    desk.repository.git("mv", "locks.py", "advisory.py")
    desk.repository.git("commit", "--quiet", "-m", "Move it", at=desk.clock.now)
    assert not given(desk)[0].get("hasChanged", False)
    revert(desk)
    assert given(desk)


def test_a_revert_that_is_reverted_brings_it_back(desk: Desk) -> None:
    """Part of C9."""
    decide(desk)
    revert(desk)
    assert given(desk) == []
    revert(desk)
    assert given(desk)


def test_nothing_is_said_twice(desk: Desk) -> None:
    desk.remember("Invoices are numbered per year", agentId="one")
    desk.remember("Invoices are numbered per year.", "decision", agentId="two")
    desk.remember("invoices are numbered per year", "constraint", agentId="three")
    desk.remember("Invoices are numbered per month", agentId="four")
    heart = desk.look(query="invoices")["sessionContext"]
    found = desk.look(query="invoices")["queryResults"]
    every = [*titles(found), *titles(heart["importantFacts"]), *titles(heart["constraints"])]
    assert len([one for one in every if "per year" in one]) == 1
    assert len([one for one in every if "per month" in one]) == 1


def test_a_flood_by_one_agent_gets_two_places(desk: Desk) -> None:
    desk.remember(SUBJECTS[0], agentId="quiet")
    desk.clock.pass_(HOUR)
    for number in range(300):
        desk.remember(
            f"Buy the great product number {number} now today", agentId="noisy", importance=5
        )
    desk.remember(SUBJECTS[1], agentId="calm")
    told = facts(desk, mode="full")
    assert len([title for title in told if "great product" in title]) == 2
    assert {SUBJECTS[0], SUBJECTS[1]} <= set(told)


def test_a_digest_stands_for_the_summaries_it_covers(desk: Desk) -> None:
    """Part of C11."""
    day = desk.clock.now
    covered = [desk.episode(f"Worked on this: {one}", day) for one in SUBJECTS[:3]]
    desk.clock.pass_(HOUR)
    desk.episode("Began something else", desk.clock.now)
    desk.episode("A day of three things", day, agent_id=digests.AGENT, covers=tuple(covered))
    told = titles(desk.look(mode="full")["sessionContext"]["recentSessions"])
    assert sorted(told) == ["A day of three things", "Began something else"]


def test_what_happened_long_before_the_latest_session_is_not_recent(desk: Desk) -> None:
    """Part of D5: it is told where it answers a question."""
    desk.episode("Signed all uploads with a key", desk.clock.now - 100 * 24 * HOUR)
    desk.commit("Go on")
    old = desk.look(mode="full")["sessionContext"]["recentSessions"]
    assert titles(old) == ["Signed all uploads with a key"]  # old news is better than none
    desk.episode("Began something else", desk.clock.now - 80 * 24 * HOUR)
    look = desk.look(mode="full")
    assert titles(look["sessionContext"]["recentSessions"]) == ["Began something else"]
    asked = desk.look(mode="full", query="how are uploads signed")
    assert "Signed all uploads with a key" in titles(asked["queryResults"])


def test_nothing_of_another_project_is_told(desk: Desk, tmp_path: Path) -> None:
    """Part of A8."""
    other = elsewhere(tmp_path / "other", desk)
    fill(other, 3)
    other.message("A secret of theirs")
    other.document("instructions", "Theirs.")
    context = desk.start(query=SUBJECTS[0])
    assert SUBJECTS[0] not in str(context)
    assert "heirs" not in str(context)
    assert SUBJECTS[0] in str(other.start(query=SUBJECTS[0]))


def test_an_opinion_counts_at_once_and_for_good(desk: Desk) -> None:
    """Part of D6."""
    first = desk.remember("Webhooks are retried seven times")
    second = desk.remember("Charts are drawn on the server")

    def judge(key: str, verdict: str) -> list[str]:
        desk.ask("context/feedback", memoryId=key, verdict=verdict)
        told = facts(desk)
        assert facts(desk.second()) == told
        return told

    assert facts(desk) == ["Charts are drawn on the server", "Webhooks are retried seven times"]
    assert judge(second, "stale") == [
        "Webhooks are retried seven times",
        "Charts are drawn on the server",
    ]
    assert len(judge(second, "stale")) == len(judge(second, "stale")) == 2
    assert judge(second, "wrong") == ["Webhooks are retried seven times"]
    assert judge(second, "stale") == ["Webhooks are retried seven times"]
    assert judge(second, "useful") == [
        "Webhooks are retried seven times",
        "Charts are drawn on the server",
    ]
    for _ in range(6):
        judge(second, "useful")
    assert facts(desk)[0] == "Charts are drawn on the server"
    assert memory(desk, first).feedback == 0.0


def test_an_opinion_about_nothing_is_refused(desk: Desk) -> None:
    unknown = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
    error = desk.refused("context/feedback", memoryId=unknown, verdict="wrong")
    assert error["data"]["field"] == "memoryId"


@pytest.mark.slow
def test_many_ask_at_once_while_the_branch_changes(desk: Desk) -> None:
    """Part of C9."""
    desk.repository.git("checkout", "--quiet", "-b", "feature")
    for subject, name in ((DECISION, "locks.py"), ("Never write into a user's home", "home.py")):
        desk.commit(subject, name)
    desk.enrich()
    problems: list[object] = []
    over = threading.Event()

    def ask(method: str) -> None:
        numbers = itertools.count()
        while not over.is_set():
            params = {"query": f"locks {next(numbers)}"} | (
                {"preview": True} if "start" in method else {}
            )
            answer = desk.app.answer(1, f"threadline/{method}", params)
            if answer.error is not msgspec.UNSET:
                problems.append(answer.error)

    threads = [
        threading.Thread(target=ask, args=(method,))
        for method in ("context/start", "memories/search", "context/start")
    ]
    for thread in threads:
        thread.start()
    for branch in ("main", "feature") * 6:
        desk.repository.git("checkout", "--quiet", branch)
    over.set()
    for thread in threads:
        thread.join()
    assert problems == []
    assert given(desk)
    desk.repository.git("checkout", "--quiet", "main")
    assert given(desk) == []


class Restless(Codebase):
    """Code whose HEAD moves while it is looked at."""

    def ages(self, shas: Collection[str]) -> dict[str, int]:
        Repository(self.folder).git("checkout", "--quiet", "main")
        return super().ages(shas)


def test_head_that_came_back_is_not_where_it_was_all_the_time(desk: Desk) -> None:
    """Part of C9."""
    code = Codebase(desk.repository.path)
    before = code.standing()
    assert code.standing() == before
    for branch in ("-bfeature", "main"):
        desk.repository.git("checkout", "--quiet", branch)
        if branch != "main":
            desk.commit("Begin", "locks.py")
        with code.held():
            pass
    after = code.standing()
    assert (after.head, after.branch) == (before.head, before.branch)
    assert after != before


def test_what_is_found_out_while_head_moves_is_not_said_of_where_it_was(desk: Desk) -> None:
    """Part of C9."""
    desk.repository.git("checkout", "--quiet", "-b", "feature")
    decide(desk)
    memories = desk.vault.memories.all()
    verifier = Verifier()
    verifier.verify(desk.vault, memories, Restless(desk.repository.path))
    desk.repository.git("checkout", "--quiet", "feature")
    settled = Codebase(desk.repository.path)
    assert verifier.verify(desk.vault, memories, settled) == Verifier().verify(
        desk.vault, memories, settled
    )


class Counted(Codebase):
    """Code that counts how many stray commits are looked at."""

    looked = 0

    def twins(self, shas: Collection[str]) -> dict[str, str]:
        self.looked = max(self.looked, len(shas))
        return super().twins(shas)


def test_no_more_branches_are_looked_at_than_there_is_time_for_and_none_twice(desk: Desk) -> None:
    """D15: part of it; what was found out of a branch is known to every process, as long as HEAD stays."""
    memories = []
    for number in range(6):
        desk.repository.git("checkout", "--quiet", "-b", f"feature-{number}", "main")
        sha = desk.repository.commit(f"Part {number}", name=f"part{number}.py")
        stray = Memory(
            memory_id=desk.vault.ids.next(),
            project_id=desk.vault.project_id,
            type="fact",
            title=f"Part {number}",
            content="It stands alone.",
            branch=f"feature-{number}",
            evidence=(Evidence(quote=f"Part {number}", commit_sha=sha),),
            occurred_at=NOON + number * HOUR,
            created_at=NOON,
            updated_at=NOON,
        )
        memories.append(stray)
    desk.repository.git("checkout", "--quiet", "main")
    hurried, code = Verifier(), Counted(desk.repository.path)
    assert len(hurried.verify(desk.vault, memories, code, 2).elsewhere) == len(memories)
    assert code.looked == 2
    patient, code = Verifier(), Counted(desk.repository.path)
    found = patient.verify(desk.vault, memories, code)
    assert code.looked == 6
    patient.keep(desk.vault)
    again, code = Verifier(), Counted(desk.repository.path)
    assert again.verify(desk.vault, memories, code, 2) == found
    assert code.looked == 0
