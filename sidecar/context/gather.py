"""Collect everything a context may contain."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from protocol.contexts import (
    AgentItem,
    CompletedTask,
    ContextItem,
    DocumentItem,
    GivenItem,
    MessageItem,
    SessionContext,
    StartContext,
    TaskItem,
    UngivenItem,
    VaultCounts,
)
from protocol.documents import SOUL
from protocol.messages import Message
from protocol.recall import Hit
from protocol.tasks import Task
from sidecar.context import catch_up, personal_items, select
from sidecar.context.catch_up import Authors
from sidecar.context.rules import items
from sidecar.context.rules.choosing import Choice
from sidecar.context.scenes import Scene
from sidecar.context.verify import Verifier
from sidecar.conversations import checkpoints
from sidecar.conversations.checkpoints import Recollection, Sources
from sidecar.memory import health
from sidecar.sharing import agents, documents
from sidecar.sharing import messages as sharing_messages
from sidecar.storage.vault import Vault
from sidecar.tasks import open_tasks
from sidecar.tasks.completion import Endings
from sidecar.tasks.rules.conditions import Change
from sidecar.text import clipping

_KEPT = 256
"""Pieces that are kept."""

_Made = TypeVar("_Made")


class Parts:
    """Keeps pieces, each for as long as what it was made of stays the same."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._kept: dict[Hashable, tuple[object, Any]] = {}

    def keep(self, key: Hashable, made_of: object, make: Callable[[], _Made]) -> _Made:
        """Return a piece as it was made, or make it; `made_of` was looked at before."""
        known = self._kept.get(key)
        if known is not None and known[0] == made_of:
            found: _Made = known[1]
            return found
        made = make()
        if len(self._kept) >= _KEPT:
            self._kept.clear()
        self._kept[key] = (made_of, made)
        return made


MESSAGES = "pendingMessages"
_MESSAGE = 1_000
"""Characters of a message that are told at once."""
_LATELY = timedelta(days=1)
"""How far back an agent is told of tasks that was never here."""
_SHARE = 4
"""The part of an answer that one document may take."""
_Part = TypeVar("_Part")
_OFFER = (
    "This folder has the root commit and remote of a project that is remembered already, perhaps a clone of it or "
    "moved; its memory starts empty. The person can share that memory with `threadline link`, or keep this folder "
    "apart with `threadline link --no`."
)
INTACT = ("resume", "fork")
"""Occasions on which the host still has the conversation as it was."""


class Gathered(Struct, frozen=True, kw_only=True):
    """All that is told if there is room for it, and why."""

    context: StartContext
    given: tuple[GivenItem, ...]
    ungiven: tuple[UngivenItem, ...]
    recollection: Recollection | None = None
    """What more is known of the conversation that is continued."""


class Gatherer(Struct):
    """Gathers; what it has found out and cannot become otherwise it keeps."""

    verifier: Verifier = field(default_factory=Verifier)
    endings: Endings = field(default_factory=Endings)
    authors: Authors = field(default_factory=Authors)
    parts: Parts = field(default_factory=Parts)

    def gather(self, scene: Scene) -> Gathered:
        """Put together all that may be worth telling; what is only looked at does not change."""
        vault, who = scene.vault, scene.who
        last = catch_up.last_here(scene)
        done = _done(scene, last)
        finished = {one.task_id for one in done}
        due = self._kept(scene, open_tasks.open_for, "tasks")
        todo = [one for one in due if one.task_id not in finished]
        todo = todo[: select.limits(scene)[select.TASKS]]
        messages = sharing_messages.pending(vault, who.agent_id)
        choices = select.select(scene, self.verifier, taken=len(todo))
        quotes = _untold(select.quotes(scene), choices)
        recollection = self._recollection(scene)
        context = StartContext(
            project_id=vault.project_id,
            agent_label=_label(scene),
            is_first_connection=last is None,
            introduction="" if last else documents.introduction(scene.name()),
            link_offer=_OFFER if scene.is_offered else UNSET,
            personal=(own := self._personal(scene)) or UNSET,
            session_context=self._heart(scene, choices, todo),
            recovery=recollection.tell(scene.settings.recovery_budget_chars)
            if recollection
            else None,
            query_results=(
                *self._items(scene, choices, select.RESULTS),
                *map(items.from_record, quotes),
            ),
            pending_messages=tuple(map(message, messages)),
            other_pending_message_count=_others_waiting(scene, messages),
            changes_since_last_session=catch_up.catch_up(scene, last) if last else None,
            documents=tuple(_documents(scene)),
            available_documents=(names := tuple(documents.available(vault))),
            missing_documents=_missing(scene, names),
            tasks_auto_completed=tuple(done),
            tasks_suggested_done=tuple(
                self._kept(scene, self._suggest_done, "tasks", _commits(vault, due))
            ),
            other_open_task_count=self._kept(scene, open_tasks.count_others, "tasks"),
            recent_agents=tuple(self._kept(scene, _recent, "agents", scene.minute())),
            vaults=(_counts(scene),),
            memory_health=health.memory_health(
                vault, scene.meanings, scene.recall.standings(vault)
            ),
        )
        return Gathered(
            context=context,
            given=(
                *_quoted(quotes),
                *_given(choices),
                *(GivenItem(id=one.memory_id, section=personal_items.SECTION) for one in own),
                *_others(context, todo),
            ),
            ungiven=tuple(one for choice in choices.values() for one in choice.ungiven),
            recollection=recollection,
        )

    def _kept(
        self, scene: Scene, make: Callable[[Vault, str], _Part], table: str, *others: object
    ) -> _Part:
        """Return what an agent is told of a table; it is made anew once the table or something else has changed."""
        vault, agent_id = scene.vault, scene.who.agent_id
        made_of = (vault.changes((table,)), others)
        return self.parts.keep(
            (vault.project_id, agent_id, make), made_of, lambda: make(vault, agent_id)
        )

    def _personal(self, scene: Scene) -> tuple[ContextItem, ...]:
        own = scene.personal
        if own is None or scene.params.mode == "none":
            return ()
        return self.parts.keep(
            personal_items.SECTION, own.changes(("memories",)), lambda: personal_items.choose(own)
        )

    def _suggest_done(self, vault: Vault, agent_id: str) -> list[CompletedTask]:
        return open_tasks.suggest_done(vault, agent_id, self.endings.judge(vault))

    def _recollection(self, scene: Scene) -> Recollection | None:
        """Find what is known of an earlier conversation; what a host's own summary has left changes each time."""
        vault, params = scene.vault, scene.params
        if params.occasion == "compact" or scene.unplaced:
            return _recollect(scene)
        revisions = vault.changes(("conversations", "checkpoints"))
        made_of = (revisions, vault.sessions.records.revision, scene.settings, scene.minute())
        key = (vault.project_id, scene.who, params)
        return self.parts.keep(key, made_of, lambda: _recollect(scene))

    def _heart(
        self, scene: Scene, choices: Mapping[str, Choice], todo: Sequence[Task]
    ) -> SessionContext:
        return SessionContext(
            recent_sessions=self._items(scene, choices, "recentSessions"),
            important_facts=self._items(scene, choices, "importantFacts"),
            active_tasks=(*_tasks(scene, todo), *_intents(scene, choices)),
            constraints=self._items(scene, choices, "constraints"),
        )

    def _items(
        self, scene: Scene, choices: Mapping[str, Choice], section: str
    ) -> tuple[ContextItem, ...]:
        chosen = [one.memory for one in choices.get(section, Choice()).chosen]
        names = self.authors.of(scene.vault, chosen)
        return tuple(
            items.from_memory(
                one, author=names.get(one.memory_id), summary_only=scene.params.summary_only
            )
            for one in chosen
        )


def _commits(vault: Vault, due: Sequence[Task]) -> Sequence[Change]:
    return vault.commits.since(min(one.created_at for one in due)) if due else ()


def _recent(vault: Vault, agent_id: str) -> list[AgentItem]:
    return agents.recent(vault, agent_id, vault.clock())


def _done(scene: Scene, last: datetime | None) -> list[CompletedTask]:
    """Return which tasks turn out to be done now, after those that did since an agent was last here."""
    earlier = open_tasks.completed_since(scene.vault, last or scene.vault.clock() - _LATELY)
    find = open_tasks.would_complete if scene.params.preview else open_tasks.complete_due
    return [*earlier, *find(scene.vault, scene.look)]


def _label(scene: Scene) -> str:
    known = scene.vault.agents.get(scene.who.agent_id)
    return known.label if known else agents.label(scene.who.agent_id, scene.who.harness)


def _tasks(scene: Scene, todo: Iterable[Task]) -> Iterator[TaskItem]:
    return (items.from_task(one, summary_only=scene.params.summary_only) for one in todo)


def _intents(scene: Scene, choices: Mapping[str, Choice]) -> Iterator[TaskItem]:
    chosen = choices.get(select.TASKS, Choice()).chosen
    return (items.from_intent(one.memory, summary_only=scene.params.summary_only) for one in chosen)


def message(sent: Message) -> MessageItem:
    """Tell a message: it is told once, so as much of it as is bearable."""
    content, is_clipped = clipping.clip_lines(sent.content, _MESSAGE)
    whole = items.from_message(sent, summary_only=False)
    return msgspec.structs.replace(whole, content=content, is_clipped=is_clipped)


def _others_waiting(scene: Scene, told: Sequence[Message]) -> int | UnsetType:
    """Count the messages that wait beside those that are told; nobody needs to hear that there are none."""
    return sharing_messages.count_pending(scene.vault, scene.who.agent_id) - len(told) or UNSET


def _documents(scene: Scene) -> Iterator[DocumentItem]:
    if scene.params.mode == "none" and not scene.params.include_documents:
        return
    limit = scene.params.max_response_chars // _SHARE
    for document in documents.find(scene.vault, (SOUL, *scene.params.include_documents)):
        yield items.from_document(document, limit)


def _missing(scene: Scene, names: Sequence[str]) -> tuple[str, ...] | UnsetType:
    """Return the documents that were asked for and do not exist."""
    wanted = dict.fromkeys(scene.params.include_documents)
    return tuple(name for name in wanted if name not in names and name != SOUL) or UNSET


def _recollect(scene: Scene) -> Recollection | None:
    """Find where an earlier conversation stood, unless the host still has it as it was."""
    if scene.params.occasion in INTACT:
        return None
    summary = scene.summary() if scene.params.occasion == "compact" else None
    sources = Sources(settings=scene.settings, summary=summary, unplaced=scene.unplaced)
    return checkpoints.recollect(scene.vault, scene.params, scene.who, sources)


def _counts(scene: Scene) -> VaultCounts:
    vault = scene.vault
    return VaultCounts(
        vault_id=vault.project_id,
        name=scene.name(),
        memories=health.count_active(scene.recall.standings(vault)),
        tasks=len(vault.tasks),
        documents=len(vault.documents),
        sessions=vault.sessions.count(),
    )


def _untold(quotes: Iterable[Hit], choices: Mapping[str, Choice]) -> list[Hit]:
    told = {
        piece.commit_sha
        for choice in choices.values()
        for one in choice.chosen
        for piece in one.memory.evidence
    }
    return [hit for hit in quotes if not hit.commit or hit.commit not in told]


def _quoted(quotes: Iterable[Hit]) -> Iterator[GivenItem]:
    for hit in quotes:
        yield GivenItem(id=hit.id, section=select.RESULTS, score=hit.score, why=hit.why)


def _given(choices: Mapping[str, Choice]) -> Iterator[GivenItem]:
    for section, choice in choices.items():
        for one in choice.chosen:
            yield GivenItem(id=one.memory.memory_id, section=section, score=one.score, why=one.why)


def _others(context: StartContext, todo: Iterable[Task]) -> Iterator[GivenItem]:
    """Name what is given without having been ranked."""
    for task in todo:
        yield GivenItem(id=task.task_id, section=select.TASKS)
    for sent in context.pending_messages or ():
        yield GivenItem(id=sent.message_id, section=MESSAGES)
    for document in context.documents or ():
        yield GivenItem(id=document.name, section="documents")
    for done in context.tasks_auto_completed or ():
        yield GivenItem(id=done.task_id, section="tasksAutoCompleted")
    for seeming in context.tasks_suggested_done or ():
        yield GivenItem(id=seeming.task_id, section="tasksSuggestedDone")
    if context.recovery:
        yield GivenItem(id=context.recovery.checkpoint_id or "recovery", section="recovery")
