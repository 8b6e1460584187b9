"""Build the start context, or return the cached one."""

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec
from cachetools import LRUCache
from msgspec import UNSET, Struct

from protocol.contexts import Account, Receipt, Rendered, RenderParams, StartContext, UngivenItem
from protocol.errors import BusyError, StorageFailedError
from sidecar.context import begin, gather, receipts, select
from sidecar.context.gather import Gathered, Gatherer
from sidecar.context.rules import fitting
from sidecar.context.rules import rendering as rules_rendering
from sidecar.context.rules.fitting import Fitted
from sidecar.context.rules.rendering import Rendering
from sidecar.context.scenes import Scene
from sidecar.context.verify import Verifier
from sidecar.conversations.later import Buffer
from sidecar.conversations.rules import conversations
from sidecar.hosts import assistant
from sidecar.privacy import cleaning
from sidecar.search.rules.standing import REFUSED
from sidecar.storage import prepared
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault
from sidecar.tasks import open_tasks
from sidecar.tasks.completion import Endings

_KEPT = 64
"""Answers that are kept."""
_WORTHWHILE = 100
"""Characters of free room that are worth another try."""
_UNNAMED = "0" * 20
"""Stands for a receipt's name while the answer is measured."""
Stamp = tuple[Any, ...]


class Told(Struct, frozen=True, kw_only=True):
    """An answer, and why it is as it is."""

    context: StartContext
    text: str = ""
    """The same for a host."""
    receipt: Receipt


class Contexts:
    """Answers requests for context; an answer holds until anything that it depends on has changed."""

    def __init__(self, buffer: Buffer, key: Callable[[], bytes]) -> None:
        """Keep receipts through a buffer; `key` makes fences that nobody can guess."""
        self._buffer = buffer
        self._key = key
        self._gatherer = Gatherer()
        self._answers: LRUCache[Any, tuple[Stamp, Told]] = LRUCache(maxsize=_KEPT)
        self._times: Counter[str] = Counter()
        self._paths: dict[str, tuple[object, tuple[str, ...]]] = {}
        self._mutex = threading.Lock()

    def start(self, scene: Scene) -> StartContext:
        """Tell an assistant what it should know."""
        return self.tell(scene).context

    def render(self, scene: Scene, params: RenderParams) -> Rendered:
        """Tell the same as text for a host."""
        told = self.tell(scene, params)
        return Rendered(
            host=params.host,
            text=told.text,
            chars=len(told.text),
            cap=told.receipt.cap,
            receipt_id=told.receipt.receipt_id if _is_noted(scene, told) else None,
            left_out=told.context.left_out,
        )

    def tell(self, scene: Scene, host: RenderParams | None = None) -> Told:
        """Answer, from what is kept or anew; what was given is noted."""
        key = (scene.vault.project_id, scene.who, host or scene.params)
        stamp = self._stamp(scene)
        with self._mutex:
            known = self._answers.get(key)
        # What a host has left of a conversation is not ours to follow.
        if known is not None and known[0] == stamp and scene.params.occasion != "compact":
            told = known[1]
        else:
            told = self._make(scene, host)
            # Where HEAD has moved meanwhile, and be it to and fro, this is no answer for where it was.
            if scene.code is None or scene.code.standing() == scene.place:
                with self._mutex:
                    self._answers[key] = (stamp, told)
        if _is_noted(scene, told):
            self._note(scene, told)
        return told

    def _stamp(self, scene: Scene) -> Stamp:
        """Return what an answer depends on; any write of any process that matters makes another one."""
        vault = scene.vault
        revisions = vault.changes(prepared.MADE_OF)
        return (
            revisions,
            scene.personal and scene.personal.changes(("memories",)),
            [scene.look.path_exists(path) for path in self._watched(vault, revisions)],
            scene.place,
            scene.branch,
            scene.settings,
            scene.is_noted,
            scene.is_offered,
            scene.meanings.absence,
            scene.minute(),
        )

    def _watched(self, vault: Vault, revisions: object) -> tuple[str, ...]:
        """Return the paths that tasks speak of; they are read again once something was written."""
        seen, paths = self._paths.get(vault.project_id, (None, ()))
        if seen != revisions:
            paths = open_tasks.watched(vault)
            self._paths[vault.project_id] = (revisions, paths)
        return paths

    def prepare(self, scene: Scene) -> Gathered:
        """Put together what an assistant will be given once its own wish is fulfilled; nothing changes yet."""
        params = msgspec.structs.replace(scene.params, preview=True)
        return self._gatherer.gather(msgspec.structs.replace(scene, params=params))

    def draft(self, scene: Scene, host: RenderParams) -> tuple[Told, bool]:
        """Write what a new conversation would be told, without what can be given only once; tell whether that is all."""
        gathered = self.prepare(scene)
        self._keep_findings(scene.vault)
        messages = {one.message_id for one in gathered.context.pending_messages or ()}
        told = self._fit(scene, host, _without(gathered, messages))
        return told, not messages

    def give(self, scene: Scene, gathered: Gathered) -> StartContext:
        """Return what was prepared."""
        open_tasks.complete_due(scene.vault, scene.look)
        told = self._settle(scene, None, gathered)
        self._note(scene, told)
        return told.context

    def _make(self, scene: Scene, host: RenderParams | None) -> Told:
        gathered = self._gatherer.gather(scene)
        self._keep_findings(scene.vault)
        if scene.params.preview:
            return self._fit(scene, host, gathered)
        return self._settle(scene, host, gathered)

    def _settle(self, scene: Scene, host: RenderParams | None, gathered: Gathered) -> Told:
        told = self._fit(scene, host, gathered)
        if scene.is_noted:
            # An assistant that waits for its context must not wait for a store that is stuck or full.
            with contextlib.suppress(BusyError, StorageFailedError):
                recovery = told.context.recovery or None
                begin.begin(scene.vault, scene.params, scene.who, recovery)
        sent = {one.id for one in told.receipt.items if one.section == gather.MESSAGES}
        taken = scene.hand(sent)
        return self._fit(scene, host, _without(gathered, taken)) if taken else told

    def _fit(self, scene: Scene, host: RenderParams | None, gathered: Gathered) -> Told:
        """Fit an answer into its cap; where that leaves room, the recovery may have twice its own, at nothing's cost."""
        told = self._fit_as_it_is(scene, host, gathered)
        usual, free = scene.settings.recovery_budget_chars, told.receipt.cap - told.receipt.chars
        if not gathered.context.recovery or not gathered.recollection or free < _WORTHWHILE:
            return told
        # A part of the room is for the signs that quoting and JSON add.
        recovery = gathered.recollection.tell(usual + min(usual, free * 9 // 10))
        context = msgspec.structs.replace(gathered.context, recovery=recovery)
        roomier = msgspec.structs.replace(gathered, context=context)
        grown = self._fit_as_it_is(scene, host, roomier)
        return grown if grown.context.left_out == told.context.left_out else told

    def _fit_as_it_is(self, scene: Scene, host: RenderParams | None, gathered: Gathered) -> Told:
        if host is None:
            name = UNSET if scene.params.preview else _UNNAMED
            named = msgspec.structs.replace(gathered.context, receipt_id=name)
            fitted = fitting.fit(named, scene.params.max_response_chars)
            return _signed(scene, gathered, fitted)
        cap = assistant.cap(host.host, host.max_chars)
        rendering = rules_rendering.render(gathered.context, cap, self._key())
        return _rendered(scene, gathered, rendering, host)

    def _keep_findings(self, vault: Vault) -> None:
        """Let it be written down, soon, what was found out: a process that begins later need not look."""
        self._keep(vault, "findings", self._gatherer.verifier)
        self._keep(vault, "endings", self._gatherer.endings)

    def _keep(self, vault: Vault, name: str, known: Verifier | Endings) -> None:
        def make_ops(vault: Vault) -> list[Op]:
            known.keep(vault)
            return []

        if known.has_news(vault):
            self._buffer.add(vault, name, make_ops)

    def _note(self, scene: Scene, told: Told) -> None:
        """Let it be written down, soon, that this was given, and to whom."""
        receipt, now, key = told.receipt, scene.vault.clock(), scene.params.session_key
        with self._mutex:
            self._times[receipt.receipt_id] += 1

        def make_ops(vault: Vault) -> list[Op]:
            with self._mutex:
                times = self._times.pop(receipt.receipt_id, 0)
            again = msgspec.structs.replace(receipt, times=times, last_given_at=now)
            ids = [one.id for one in receipt.items if one.id in vault.memories]
            told_to = begin.given(vault, key, ids) if key else []
            return [*receipts.keep(vault, again), *told_to]

        has_words = bool(receipt.query)
        name = f"receipt:{receipt.receipt_id}"
        self._buffer.add(scene.vault, name, make_ops, has_words=has_words)


def _is_noted(scene: Scene, told: Told) -> bool:
    """Return whether there is something to keep a receipt of: who only looks, or is told nothing, gets none."""
    is_given = scene.is_noted and not scene.params.preview
    return is_given and (told.receipt.host is None or bool(told.text))


def _without(gathered: Gathered, taken: Collection[str]) -> Gathered:
    pending = gathered.context.pending_messages or ()
    left = tuple(one for one in pending if one.message_id not in taken)
    context = msgspec.structs.replace(gathered.context, pending_messages=left)
    given = tuple(one for one in gathered.given if one.id not in taken)
    return msgspec.structs.replace(gathered, context=context, given=given)


def _signed(scene: Scene, gathered: Gathered, fitted: Fitted) -> Told:
    """Return an answer its receipt's name, which has the length of what stands for it."""
    made = _Given(
        content=msgspec.json.encode(fitted.context),
        dropped=fitted.dropped,
        sizes=fitted.sizes,
        chars=fitted.chars,
        cap=scene.params.max_response_chars,
    )
    receipt = _receipt(scene, gathered, made)
    if fitted.context.receipt_id is UNSET:
        return Told(context=fitted.context, receipt=receipt)
    context = msgspec.structs.replace(fitted.context, receipt_id=receipt.receipt_id)
    return Told(context=context, receipt=receipt)


def _rendered(scene: Scene, gathered: Gathered, rendering: Rendering, host: RenderParams) -> Told:
    made = _Given(
        content=rendering.text.encode(),
        dropped=rendering.dropped,
        sizes=rendering.sizes,
        chars=len(rendering.text),
        cap=assistant.cap(host.host, host.max_chars),
        host=host.host,
    )
    context = msgspec.structs.replace(gathered.context, left_out=rendering.left_out)
    return Told(context=context, text=rendering.text, receipt=_receipt(scene, gathered, made))


class _Given(Struct, frozen=True):
    """What was made of all that was gathered."""

    content: bytes
    dropped: Collection[tuple[str, str]]
    sizes: Mapping[tuple[str, str], int]
    chars: int
    cap: int
    host: str | None = None


def _receipt(scene: Scene, gathered: Gathered, made: _Given) -> Receipt:
    params, now = scene.params, scene.vault.clock()
    dropped = set(made.dropped)
    left = [
        UngivenItem(id=one.id, section=one.section, reason="cap", score=one.score)
        for one in gathered.given
        if (one.section, one.id) in dropped
    ]
    recovery = gathered.context.recovery or None
    query = cleaning.clean(params.query)
    request = (scene.vault.project_id, params.session_key, scene.who.agent_id, made.host)
    asked = (params.mode, query, params.occasion, made.cap)
    return Receipt(
        receipt_id=receipts.name(msgspec.json.encode((*request, *asked)), made.content),
        project_id=scene.vault.project_id,
        session_key=conversations.known_as(params.session_key) if params.session_key else None,
        agent_id=scene.who.agent_id,
        host=made.host,
        mode=params.mode,
        query=query,
        occasion=params.occasion,
        items=tuple(
            msgspec.structs.replace(one, chars=made.sizes[one.section, one.id])
            for one in gathered.given
            if (one.section, one.id) in made.sizes
        ),
        left_out=(*left, *gathered.ungiven),
        recovered_from=recovery.checkpoint_id if recovery else None,
        chars=made.chars,
        cap=made.cap,
        given_at=now,
        last_given_at=now,
    )


_WRONG = 50
"""Memories somebody called wrong that are named at the most."""


def account(contexts: Contexts, scene: Scene, params: RenderParams) -> Account:
    """Return what is given, why, what is not, and what all of it says."""
    rendered, told = contexts.render(scene, params), contexts.tell(scene, params)
    receipt = _completed(scene.vault, told.receipt)
    named = [*(one.id for one in receipt.items), *(one.id for one in receipt.left_out)]
    words = receipts.find(scene.vault, list(dict.fromkeys(named)))
    if recovery := told.context.recovery or None:
        key = recovery.checkpoint_id or "recovery"
        words[key] = receipts.say(f"Conversation {recovery.session_key}", recovery.text)
    return Account(rendered=rendered, receipt=receipt, words=words)


def _completed(vault: Vault, receipt: Receipt) -> Receipt:
    """Name also what somebody called wrong, the latest first: it does not even come into question."""
    named = {*(one.id for one in receipt.items), *(one.id for one in receipt.left_out)}
    told = vault.memories.glimpses(vault.memories.ids(), "type", "status", "feedback")
    wrong = [
        UngivenItem(id=key, section=select.section(kind), reason="wrong")
        for key, (kind, status, feedback) in told.items()
        if key not in named and status == "active" and (feedback or 0.0) <= REFUSED
    ]
    wrong.sort(key=lambda one: one.id, reverse=True)
    return msgspec.structs.replace(receipt, left_out=(*receipt.left_out, *wrong[:_WRONG]))
