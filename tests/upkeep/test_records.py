"""Records of every kind: what concerns one of them concerns all, also those that come later."""

from pathlib import Path

import msgspec
import pytest
from msgspec import inspect

from protocol.checkpoints import Checkpoint
from protocol.contexts import Feedback, Receipt
from protocol.conversations import Agent, Conversation, Note
from protocol.messages import Handling, Message
from protocol.tasks import Task
from sidecar.capture.changes import Follower
from sidecar.privacy import cleaning, scrubbing
from sidecar.storage.vault import Vault
from sidecar.tasks.rules import conditions
from sidecar.upkeep import purge
from tests import records
from tests.memory.test_remember import write
from tests.support import NOON, reopen

PHRASE = "four blue herons"
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
UUID = "3f2b8c1e-dead-4bee-8a55-0123456789ab"
LEFT = (
    "tasks messages documents revisions links agents conversations checkpoints receipts feedback".split()  # noqa: SIM905
)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_every_text_is_either_somebodys_or_ours(vault: Vault) -> None:
    """Part of H3: a field that is new must be named in one of two lists."""
    for table, kind in records.kinds(vault).items():
        for field, type_ in records.fields(kind):
            if not isinstance(type_, inspect.StrType | inspect.LiteralType):
                continue
            said = scrubbing.texts(table, {field: PHRASE})
            is_free = isinstance(type_, inspect.StrType) and type_.pattern is None
            is_ours = not is_free or field in records.OURS.get(table, ())
            said = said or scrubbing.texts(table, {field: {PHRASE: 1}})
            assert bool(said) is not is_ours, f"{table}.{field}"


def test_a_phrase_is_forgotten_in_every_field_of_every_record(vault: Vault, logs: Path) -> None:
    """Part of H3."""
    records.keep_everything(vault, f"about {PHRASE} here")
    assert PHRASE.encode() in everything(vault.folder)
    report = purge.forget_phrase(vault, PHRASE, logs)
    assert (report.verified, report.remaining) == (True, ())
    assert PHRASE.encode() not in everything(vault.folder)
    other = reopen(vault)
    counts = {name: len(shelf.by_id()) for name, shelf in records.shelves(other).items()}
    assert {name for name, count in counts.items() if not count} <= {"unsettled", "caches"}
    assert other.documents.ids() == other.agents.ids() == ["about [FORGOTTEN] here"]
    assert list(other.messages.all()[0].handlings) == ["about [FORGOTTEN] here"]
    other.close()


def test_a_file_is_forgotten_in_every_field_of_every_record(vault: Vault, logs: Path) -> None:
    """Part of H3."""
    records.keep_everything(vault, "secrets/plan.md")
    report = purge.forget_path(vault, "secrets/plan.md", logs)
    assert (report.verified, report.remaining) == (True, ())
    assert b"plan.md" not in everything(vault.folder)
    (talk,) = vault.conversations.all()
    assert talk.files == ()


def test_what_still_stands_somewhere_is_reported(vault: Vault) -> None:
    """Part of H3: also where it is only the name under which something is kept."""
    from sidecar.storage import erasure  # noqa: PLC0415  # only this test looks into files itself

    made = records.filled("agents", Agent, "quiet")
    with vault.transaction():
        vault.write([vault.agents.put(PHRASE, made)])
    assert erasure.search(vault, [scrubbing.needle(PHRASE)])[1] == ["vault.sqlite: agents"]


def test_two_names_that_become_the_same_stay_two(vault: Vault, logs: Path) -> None:
    """Part of H3: forgetting words loses nothing else."""
    with vault.transaction():
        vault.write(
            [
                vault.agents.put(name, records.filled("agents", Agent, name))
                for name in ("red fox", "red  fox")
            ]
        )
    purge.forget_phrase(vault, "red fox", logs)
    assert sorted(vault.agents.ids()) == ["…", "… 2"]


def test_a_phrase_leaves_ids_states_and_known_names_alone(vault: Vault, logs: Path) -> None:
    """Part of H3."""
    talk = msgspec.structs.replace(
        records.filled("conversations", Conversation, "x"), session_key=UUID, given=(UUID,)
    )
    message = msgspec.structs.replace(
        records.filled("messages", Message, "for the user"), target_id="user", category="info"
    )
    job = records.filled("jobs", records.kinds(vault)["jobs"], "dedup by user info")
    with vault.transaction():
        vault.write(
            [
                vault.conversations.put(UUID, talk),
                vault.messages.put(records.ULID, message),
                vault.jobs.put(records.ULID, job),
            ]
        )
    for phrase in ("dead", "user", "info", "dedup"):
        assert purge.forget_phrase(vault, phrase, logs).verified
    other = reopen(vault)
    assert other.conversations.all() == [talk]
    (kept,) = other.messages.all()
    assert (kept.target_id, kept.category, kept.content) == ("user", "info", "for the …")
    assert other.jobs.all()[0].stages[0].name == "dedup"
    other.close()


def test_a_forgotten_memory_leaves_no_trace_in_what_repeats_it(vault: Vault, logs: Path) -> None:
    """Part of H3."""
    text = "The safe opens with four blue herons and one red fox in the morning"
    memory = write(vault, text).memory
    clip = "The safe opens with four blue herons and one…"
    kept = records.keep_everything(vault, "something else")
    talk = msgspec.structs.replace(
        kept["conversations"],
        notes=(Note(type="fact", text=f"Mind: {text}!", at=NOON),),
        remembered=(text,),
        queries=("an own question",),
        given=(memory.memory_id,),
    )
    saved = msgspec.structs.replace(
        kept["checkpoints"], digest=f"Kept:\n- {clip}\n- {text}\nGo on."
    )
    receipt = msgspec.structs.replace(kept["receipts"], query=text)
    opinion = msgspec.structs.replace(kept["feedback"], memory_id=memory.memory_id, note="blue?")
    with vault.transaction():
        vault.write(
            [
                vault.conversations.put("talk", talk),
                vault.checkpoints.put(UUID, saved),
                vault.receipts.put("receipt", receipt),
                vault.feedback.put("opinion", opinion),
            ]
        )
    report = purge.forget(vault, [memory.memory_id], logs)
    assert (report.verified, report.said_elsewhere) == (True, False)
    assert b"blue" not in everything(vault.folder)
    left = vault.conversations.get("talk")
    assert left is not None
    assert (left.notes[0].text, left.remembered) == ("Mind: [FORGOTTEN]!", ("[FORGOTTEN]",))
    assert (left.queries, left.given) == (("an own question",), (memory.memory_id,))
    checkpoint = vault.checkpoints.get(UUID)
    assert checkpoint is not None
    assert checkpoint.digest == "Kept:\n- [FORGOTTEN]\n- [FORGOTTEN]\nGo on."
    assert "opinion" not in vault.feedback


def test_words_that_a_task_says_too_stay_there(vault: Vault, logs: Path) -> None:
    """Part of H3."""
    memory = write(vault, "Sign the uploads before release").memory
    task = msgspec.structs.replace(
        records.filled("tasks", Task, "x"), title="Sign the\nuploads before release"
    )
    with vault.transaction():
        vault.write([vault.tasks.put(task.task_id, task)])
    report = purge.forget(vault, [memory.memory_id], logs)
    assert (report.verified, report.said_elsewhere) == (True, True)
    assert vault.tasks.all() == [task]


def test_a_short_title_takes_no_letters_out_of_other_words(vault: Vault, logs: Path) -> None:
    """Part of H3."""
    memory = write(vault, "ox").memory
    saved = records.filled("checkpoints", Checkpoint, "boxes")
    with vault.transaction():
        vault.write([vault.checkpoints.put(UUID, saved)])
    assert purge.forget(vault, [memory.memory_id], logs).verified
    assert vault.checkpoints.all() == [saved]


def test_a_task_about_a_forgotten_file_never_completes_by_itself(vault: Vault, logs: Path) -> None:
    """Part of F11 and H3."""
    task = msgspec.structs.replace(
        records.filled("tasks", Task, "x"), done_when="path gone: secrets/plan.md"
    )
    with vault.transaction():
        vault.write([vault.tasks.put(task.task_id, task)])
    purge.forget_path(vault, "secrets", logs)
    (left,) = vault.tasks.all()
    assert conditions.parse(left.done_when or "") is None


@pytest.mark.parametrize("table", LEFT)
def test_a_secret_is_taken_out_of_every_record_before_it_is_served(
    vault: Vault, table: str
) -> None:
    """Part of E11."""
    kind = records.kinds(vault)[table]
    cleaned = cleaning.clean_record(records.filled(table, kind, f"the token {TOKEN} works"))
    shown = msgspec.to_builtins(cleaned)
    keys = {"sessionKey", "previousSessionKey", "id", "given", "heard"}
    said = set(scrubbing.texts(table, scrubbing.each_text(table, shown, str.upper, but=keys)))
    assert {text for text in said if text.isupper()} == {"THE TOKEN [REDACTED] WORKS"}
    plain = records.filled(table, kind, "nothing to hide")
    assert cleaning.clean_record(plain) is plain


def test_a_host_finds_its_conversation_again_whatever_its_key_looks_like() -> None:
    """Part of E11: a key is no text."""
    talk = records.filled("conversations", Conversation, TOKEN)
    cleaned = cleaning.clean_record(talk)
    assert (cleaned.session_key, cleaned.queries) == (TOKEN, ("[REDACTED]",))


@pytest.mark.parametrize("table", ["messages", "tasks", "documents", "links", "conversations"])
def test_what_others_change_is_told(vault: Vault, table: str) -> None:
    """Part of F9: whoever changed it."""
    follower = Follower(vault, lambda _: True)
    other = reopen(vault)
    shelf = records.shelves(other)[table]
    with other.transaction():
        other.write([shelf.put("one", records.filled(table, shelf._kind, "words"))])
    (change,) = follower.changes()
    assert (change.what, change.ids) == (table, ("one",))
    assert follower.changes() == []
    with other.transaction():
        other.write([shelf.drop("one")])
    assert [one.ids for one in follower.changes()] == [("one",)]
    other.close()


def test_records_of_other_kinds_are_nobodys_news(vault: Vault) -> None:
    follower = Follower(vault, lambda _: True)
    with vault.transaction():
        vault.write(
            [
                vault.receipts.put("one", records.filled("receipts", Receipt, "x")),
                vault.feedback.put("one", records.filled("feedback", Feedback, "x")),
                vault.agents.put("one", records.filled("agents", Agent, "x")),
            ]
        )
    assert follower.changes() == []


def test_who_has_read_a_message_is_forgotten_with_its_name() -> None:
    """Part of H3."""
    handling = msgspec.to_builtins(Handling(delivered_at=NOON))
    scrub = scrubbing.phrase("grey goose")
    document = {"handlings": {"grey goose": handling, "owl": handling}}
    assert scrub("messages", document) == {"handlings": {"…": handling, "owl": handling}}
