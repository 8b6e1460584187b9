"""Handlers for context, conversations and checkpoints."""

import contextlib
import functools
import itertools
import logging
import os
import threading
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec
from cachetools import TTLCache
from msgspec import UNSET

from protocol.checkpoints import (
    Checkpointed,
    CheckpointParams,
    ConversationParams,
    Digested,
    DigestParams,
    EndParams,
    Tracked,
    TrackParams,
)
from protocol.contexts import (
    Account,
    ContextParams,
    MessageItem,
    Receipt,
    ReceiptList,
    ReceiptsParams,
    Rendered,
    RenderParams,
    StartContext,
    Stats,
    StatsParams,
)
from protocol.errors import InvalidParamsError, NotFoundError, ThreadlineError
from protocol.turns import Activity, IngestedTurn, IngestTurnParams
from sidecar.code.codebase import Codebase
from sidecar.context import begin, gather, receipts, renew, start
from sidecar.context.gather import Gathered
from sidecar.context.scenes import Scene
from sidecar.context.start import Contexts
from sidecar.conversations import checkpoints, participants
from sidecar.conversations.finish import Idling
from sidecar.conversations.later import Buffer, MakeOps
from sidecar.conversations.participants import Tools
from sidecar.conversations.rules.conversations import Report, Who
from sidecar.conversations.spooled import Observation
from sidecar.handlers.workspaces import Workspace
from sidecar.project import Projects
from sidecar.projects import personal
from sidecar.search.recall import Recall
from sidecar.sharing import agents, messages
from sidecar.storage.collection import Op
from sidecar.storage.derived import Preparation
from sidecar.storage.vault import Vault
from sidecar.tasks import checks

_CUT = ("compact", "clear")
"""Occasions on which a conversation has lost what it was given."""
_PAUSED = "capture is paused; `threadline resume` ends it"

_NEWS = ("queued", "skipped")
"""What becomes of a turn that was not known."""
_GRACE = 1.0
"""Seconds after which what has fallen silent is surely silent."""
_BRANCHES = 32
"""Branches that are looked at anew while a host waits; who prepares a context looks at all."""
_SEATED_FOR = 60
"""Seconds for which a folder is taken to be where it was."""

Unasked = tuple[Scene, Gathered]
"""What an agent is about to be given."""

_log = logging.getLogger(__name__)


class Dialogue:
    """Serves the methods about context and conversations."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects
        self.recall = Recall(projects.meanings)
        self.buffer = Buffer()
        self._contexts = Contexts(self.buffer, projects.home.fence_key)
        self.gives_once = False
        """Whether one client asks, which gets a project's context unasked once, whatever it calls its conversations."""
        self._given_unasked: set[str] = set()
        self._numbers = itertools.count()
        self._idling = Idling(self._flush_idle)
        self._mutex = threading.Lock()
        self._seats: TTLCache[tuple[Path, Path | None], tuple[Path, Path]] = TTLCache(
            maxsize=64, ttl=_SEATED_FOR
        )

    def list_receipts(self, params: ReceiptsParams) -> ReceiptList:
        """List what conversations were given, also just now."""
        self.buffer.flush()
        return receipts.list_receipts(self._projects.vault(params.project), params)

    def count(self, params: StatsParams) -> Stats:
        """Count what was given and what came of it, also just now."""
        self.buffer.flush()
        return receipts.tell(self._projects.vault(params.project), params)

    def start(self, params: ContextParams) -> StartContext:
        """Tell an assistant what it should know."""
        scene = self._scene(params)
        started = self._contexts.start(scene)
        if not params.preview:
            self._given_unasked.add(scene.vault.project_id)
        return started

    def render(self, params: RenderParams) -> Rendered:
        """Tell the same as text for a host."""
        return self._contexts.render(self._scene(params), params)

    def explain(self, params: RenderParams) -> Account:
        """Return what a host would be given now, why, and what not; nothing is noted of that."""
        looked = msgspec.structs.replace(params, preview=True)
        return start.account(self._contexts, self._scene(looked), looked)

    def greet(
        self, params: RenderParams, *, is_lost: bool = False, unplaced: Sequence[Observation] = ()
    ) -> Rendered:
        """Tell a host's conversation what it should know: all of it at first and where that is lost, then what is new.

        While capture is paused, nothing is noted of that. Messages count as delivered once all is written down: a host that stops waiting before gets them another time.
        """
        if self._projects.is_paused(self._projects.vault(params.project)):
            params = msgspec.structs.replace(params, preview=True)
        scene = self._scene(params)
        scene = msgspec.structs.replace(
            scene,
            hand=lambda keys: self._hand_later(scene, keys),
            most_branches=_BRANCHES,
            unplaced=tuple(unplaced),
        )
        talk = renew.earlier(scene)
        is_lost = is_lost or params.occasion in _CUT
        if is_lost or not renew.was_told(scene.vault, talk):
            return self._contexts.render(scene, params)
        looked = msgspec.structs.replace(
            scene, params=msgspec.structs.replace(params, preview=True)
        )
        context = self._contexts.start(looked)
        rendered, receipt = renew.renew(scene, params, context, self._projects.home.fence_key())
        if receipt is not None and not params.preview:
            self._later(scene.vault, lambda vault: renew.note(vault, receipt))
        return rendered

    def draft(self, folder: str, host: str, home: Path) -> Preparation | None:
        """Write what the next conversation of a host in a folder would be told; nothing is noted of that."""
        from sidecar.context import prepare  # noqa: PLC0415  # who asks for context does without

        params = RenderParams(project=folder, host=host, harness=host, preview=True)

        def make_scene() -> Scene:
            code = self._meet(folder, None, host)[2]
            if code is not None and code.checkout is not None:
                self._projects.part(Workspace).keep_up(code.checkout)
            return self._scene(params)

        return prepare.prepare(self._contexts, make_scene, params, str(home))

    def note_given(self, params: RenderParams, given: Receipt) -> None:
        """Write down that a conversation was told what had been prepared."""
        from sidecar.context import prepare  # noqa: PLC0415  # likewise

        vault, who, _ = self._meet(params.project, params.agent_id, params.harness)
        with vault.transaction():
            vault.write(prepare.place(vault, params, who, given))
        vault.prepared.want(str(who.real_folder / who.inside), params.host)

    def hear(self, params: TrackParams) -> Tracked:
        """Note what was overheard of a conversation, to which nothing can be said in return."""
        from sidecar.conversations import turns  # noqa: PLC0415  # only agents at work need it

        vault, who, _ = self._meet(params.project, params.agent_id, params.harness)
        tracked = turns.track(vault, params, who, self._tools())
        self._listen(vault, params)
        self._expect(vault)
        return tracked

    def take(self, params: IngestTurnParams) -> IngestedTurn:
        """Take in one turn of a conversation."""
        from sidecar.conversations import turns  # noqa: PLC0415  # likewise

        vault, who, _ = self._meet(params.project, params.agent_id, params.harness)
        if self._projects.is_paused(vault):
            return turns.refuse(params)
        taken = turns.take(vault, params, who, self._tools())
        if params.role == "assistant" and taken.extraction_status in _NEWS:
            self._use(vault, turns.session_key(params), params.content)
        self._expect(vault)
        return taken

    def track(self, params: TrackParams) -> Tracked:
        """Note what was just seen of a conversation."""
        from sidecar.conversations import turns  # noqa: PLC0415  # only agents at work need it

        vault, who, _ = self._meet(params.project, params.agent_id, params.harness)
        if self._projects.is_paused(vault):
            return turns.ignore(vault, params)
        unasked = self.prepare(_asked(params))
        tracked = turns.track(vault, params, who, self._tools())
        start = self.give(unasked)
        self._listen(vault, params)
        self._expect(vault)
        return msgspec.structs.replace(tracked, start=start)

    def checkpoint(self, params: CheckpointParams) -> Checkpointed:
        """Keep what an agent wants to survive; messages that wait for it come back."""
        reference = self._refer(params.project, params.vault_id)
        vault, who, _ = self._meet(reference, params.agent_id, params.harness)
        kept = self._keep(vault, params, who)
        named = (params.agent_id, params.harness)
        reader = participants.leader(vault, params.agent_run_id, who, named).agent_id
        room = messages.AT_ONCE - len(_told(kept))
        given = messages.deliver(vault, reader, messages.pending(vault, reader, room))
        told = _with_messages(kept, tuple(map(gather.message, given)))
        left = messages.count_pending(vault, reader)
        return msgspec.structs.replace(told, other_pending_message_count=left)

    def digest(self, params: DigestParams) -> Digested:
        """Keep where an agent stands; one whose context is about to be cut needs nothing more in it."""
        vault, who, _ = self._meet(params.project, params.agent_id, params.harness)
        if self._projects.is_paused(vault):
            return Digested(checkpoint=None)
        is_cut = params.trigger == "pre_compaction"
        unasked = None if is_cut else self.prepare(_asked(params))
        made = checkpoints.digest(vault, params, who, self._tools())
        return msgspec.structs.replace(made, start=self.give(unasked))

    def end(self, params: EndParams) -> Digested:
        """End a conversation."""
        from sidecar.conversations import finish  # noqa: PLC0415  # likewise

        vault, who, _ = self._meet(params.project, params.agent_id, params.harness)
        if self._projects.is_paused(vault):
            return Digested(checkpoint=None)
        return finish.end(vault, params, who, self._tools())

    def note(self, vault: Vault, session_key: str | None, report: Report, done: Activity) -> None:
        """Let it be written down what a conversation did with memory."""
        if session_key is not None and not self._projects.is_paused(vault):
            from sidecar.conversations import turns  # noqa: PLC0415  # likewise

            self._later(vault, lambda vault: turns.note(vault, session_key, report, [done]))

    def prepare(self, params: ContextParams) -> Unasked | None:
        """Put together the context of an agent that works without having asked for it.

        First of all, since what it is told must not repeat what it has just said; it is given last, so that
        it is not lost where the agent's own wish fails.
        """
        try:
            vault = self._projects.vault(self._refer(params.project, params.vault_id))
            was_given = self.gives_once and vault.project_id in self._given_unasked
            if was_given or self._projects.is_paused(vault) or _has_begun(vault, params):
                return None
            scene = self._scene(params)
            return scene, self._contexts.prepare(scene)
        except ThreadlineError as error:
            _log.warning("the start context could not be prepared: %s", error)
            return None

    def give(self, unasked: Unasked | None) -> StartContext | None:
        """Return an agent what it did not ask for; once, and never at the cost of what it came for."""
        if unasked is None:
            return None
        scene, gathered = unasked
        key = scene.params.session_key or ""
        try:
            if not begin.claim(scene.vault, key, scene.who):
                return None
            self._given_unasked.add(scene.vault.project_id)
            try:
                return self._contexts.give(scene, gathered)
            except BaseException:
                self._given_unasked.discard(scene.vault.project_id)
                begin.release(scene.vault, key)
                raise
        except ThreadlineError as error:
            _log.warning("the start context could not be given: %s", error)
            return None

    def live(self, reference: str | None, harness: str) -> tuple[str, ...]:
        """Return the conversations of a program that go on in a folder, as its hooks tell."""
        from sidecar.conversations import participants  # noqa: PLC0415  # likewise

        vault, who, _ = self._meet(reference, None, harness)
        return participants.live(vault, harness, who.real_folder)

    def close(self) -> None:
        """Write what still waits; who opens the project next looks after what has fallen silent."""
        self._idling.cancel()
        self.buffer.flush()

    def _meet(
        self, reference: str | None, agent_id: str | None, harness: str | None
    ) -> tuple[Vault, Who, Codebase | None]:
        """Open a project's memory, and say who asks and where, and of which code."""
        vault = self._projects.vault(reference)
        folder, code = self._stand(reference, vault)
        program = harness or self._projects.source
        name = (agent_id or "").strip() or program
        root, inside = self._seat(folder, code)
        who = Who(
            agent_id=name,
            harness=program,
            folder=folder,
            real_folder=root,
            inside=inside,
            is_placed=reference is None or Path(reference).expanduser().exists(),
            label=agents.label(name, program),
        )
        return vault, who, code

    def _seat(self, folder: Path, code: Codebase | None) -> tuple[Path, Path]:
        """Return where a working tree really is, and where in it a folder is; as long as its code is known."""
        key = (folder, code.real_folder if code else None)
        with self._mutex:
            with contextlib.suppress(KeyError):
                return self._seats[key]
            real = Path(os.path.realpath(folder))
            root = code.real_folder if code else real
            inside = real.relative_to(root) if real.is_relative_to(root) else Path()
            self._seats[key] = root, inside
            return root, inside

    def _stand(self, reference: str | None, vault: Vault) -> tuple[Path, Codebase | None]:
        """Return a folder of a project, and its code; its memory's own, where the project is nowhere on this machine."""
        try:
            folder = self._projects.folder(reference)
        except NotFoundError:
            return vault.folder, None
        return folder, self._projects.code_at(folder)

    def _refer(self, project: str | None, vault_id: str | None) -> str | None:
        """Return which project is meant, by either of its names."""
        if vault_id is None:
            return project
        if project is None:
            try:
                return self._projects.vault(vault_id).project_id
            except NotFoundError as error:
                raise NotFoundError(str(error), field="vaultId") from error
        if self._projects.vault(project).project_id != vault_id:
            raise InvalidParamsError(
                f"{project} is another project than {vault_id}; name one of them", field="vaultId"
            )
        return project

    def _scene(self, params: ContextParams) -> Scene:
        reference = self._refer(params.project, params.vault_id)
        vault, who, code = self._meet(reference, params.agent_id, params.harness)
        who = participants.leader(vault, params.session_key, who, (params.agent_id, params.harness))
        if code is not None and code.checkout is not None and not params.preview:
            self._projects.part(Workspace).keep_up(code.checkout)
        place = code.standing() if code else None
        return Scene(
            vault=vault,
            params=params,
            who=who,
            name=lambda: self._projects.project(reference).name,
            settings=self._projects.settings,
            recall=self.recall,
            meanings=self._projects.meanings,
            code=code,
            place=place,
            branch=params.branch or (place.branch if place else None),
            look=checks.look(who.real_folder, code),
            summary=lambda: _summary(params, who.harness),
            hand=functools.partial(messages.hand, vault, who.agent_id),
            is_noted=not self._projects.is_paused(vault),
            is_offered=bool(self._projects.located(reference).offers),
            personal=personal.find(self._projects.home),
        )

    def _hand_later(self, scene: Scene, keys: Collection[str]) -> set[str]:
        agent_id, number = scene.who.agent_id, next(self._numbers)

        def make_ops(vault: Vault) -> list[Op]:
            return messages.note(vault, agent_id, keys)

        if keys:
            self.buffer.add(scene.vault, f"messages:{number}", make_ops)
        return messages.taken(scene.vault, agent_id, keys)

    def _keep(self, vault: Vault, params: CheckpointParams, who: Who) -> Checkpointed:
        """Keep what an agent wants to survive, unless nothing may be recorded now."""
        if self._projects.is_paused(vault):
            return checkpoints.refuse(params, _PAUSED)
        unasked = self.prepare(_run(params)) if params.agent_run_id is not None else None
        kept = checkpoints.checkpoint(vault, params, who, self._tools())
        return msgspec.structs.replace(kept, start=self.give(unasked))

    def _listen(self, vault: Vault, params: TrackParams) -> None:
        if said := params.response:
            self._use(vault, params.session_key, said)

    def _use(self, vault: Vault, session_key: str, said: str) -> None:
        from sidecar.conversations import turns  # noqa: PLC0415  # likewise

        self._later(vault, lambda vault: turns.listen(vault, session_key, said))

    def _expect(self, vault: Vault) -> None:
        self._idling.expect(vault, self._projects.settings.idle_flush_ms / 1000 + _GRACE)

    def _flush_idle(self, vault: Vault) -> bool:
        from sidecar.conversations import collect, finish  # noqa: PLC0415  # likewise

        if not vault.exists:
            # To write to a project that was forgotten would bring its folder back.
            return False
        self.buffer.flush()
        finish.flush(vault, self._projects.settings)
        return bool(collect.waiting(vault))

    def _tools(self) -> Tools:
        from sidecar.conversations.rules import signals  # noqa: PLC0415  # its rules take long to load

        return Tools(
            settings=self._projects.settings,
            hear=signals.detect,
            meanings=self._projects.meanings,
            buffer=self.buffer,
        )

    def _later(self, vault: Vault, make_ops: MakeOps) -> None:
        self.buffer.add(vault, f"use:{next(self._numbers)}", make_ops, has_words=True)


def _has_begun(vault: Vault, params: ContextParams) -> bool:
    talk = participants.find(vault, params.session_key or "")
    return talk is not None and talk.began is not None


def _asked(params: ConversationParams) -> ContextParams:
    return ContextParams(
        project=params.project,
        session_key=params.session_key,
        agent_id=params.agent_id,
        harness=params.harness,
    )


def _with_messages(kept: Checkpointed, given: tuple[MessageItem, ...]) -> Checkpointed:
    """Return messages where they are looked for, also those that came with the context of an agent's first report."""
    start = kept.start
    if start is None:
        return msgspec.structs.replace(kept, pending_messages=given)
    told = _told(kept)
    bare = msgspec.structs.replace(start, pending_messages=(), other_pending_message_count=UNSET)
    return msgspec.structs.replace(kept, start=bare, pending_messages=(*told, *given))


def _told(kept: Checkpointed) -> tuple[MessageItem, ...]:
    return (kept.start.pending_messages if kept.start else None) or ()


def _run(params: CheckpointParams) -> ContextParams:
    return ContextParams(
        project=params.project,
        vault_id=params.vault_id,
        session_key=params.agent_run_id,
        agent_id=params.agent_id,
        harness=params.harness,
    )


def _summary(params: ContextParams, harness: str) -> str | None:
    from sidecar.hosts import transcripts  # noqa: PLC0415  # few have one

    if params.transcript_path is None:
        return None
    return transcripts.summary(params.transcript_path, harness, Path.home())
