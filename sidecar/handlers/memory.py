"""Handlers for memory, search, enrichment and purge."""

import contextlib
import functools
import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from cachetools import LRUCache, TTLCache
from msgspec import Struct

from protocol import conversions
from protocol.enrichment import Compacted, EnrichedAll, JobParams, StartAllParams, StartParams
from protocol.errors import GitFailedError, InvalidParamsError, ModelFailedError, NotFoundError
from protocol.explanations import AboutParams, ExplainParams, Explanation, FileStory
from protocol.forgetting import ForgetParams, PurgeParams, PurgeReport
from protocol.jobs import Job, ProviderName
from protocol.memories import Memory, MemoryStatus
from protocol.methods import SessionParams
from protocol.projects import ProjectParams
from protocol.recall import (
    ListMemoriesParams,
    MemoryList,
    MemoryPage,
    ReadParams,
    SearchParams,
    SearchResult,
    UpdateParams,
    WriteParams,
    WriteResult,
)
from protocol.review import (
    DecideParams,
    ListProposalsParams,
    Proposals,
    Reviewed,
    WorthKnowing,
    WorthKnowingParams,
)
from protocol.settings import Settings
from protocol.turns import ENTRY_LIMIT, Activity
from protocol.values import Record
from sidecar.code.checkouts import Checkout
from sidecar.code.codebase import Codebase
from sidecar.conversations.rules.conversations import Report
from sidecar.handlers import context, everywhere, sharing
from sidecar.handlers.context import Dialogue, Setting
from sidecar.handlers.sharing import Teamwork
from sidecar.memory import drift, jobs
from sidecar.memory.rules import memories
from sidecar.privacy import cleaning
from sidecar.projects import personal
from sidecar.projects.progress import Tell, untold
from sidecar.search.meanings import Meanings
from sidecar.search.recall import Recall
from sidecar.sharing import agents
from sidecar.storage.home import Home
from sidecar.storage.prepared import PERSONAL_ID
from sidecar.storage.vault import Vault
from sidecar.text.token_counts import Caps
from sidecar.upkeep import maintenance

if TYPE_CHECKING:
    from sidecar.handlers.explain import Insight
    from sidecar.handlers.rules_files import Guidance
    from sidecar.hosts.rules_writer import Needles
    from sidecar.memory.llm.editors import Ask
    from sidecar.memory.llm.prompts import Model
    from sidecar.memory.stages import Reader, Tools


_LEARNING = 2.0
"""Seconds of the processor's time for the meaning of records, each time memory is tended."""
_UNASKED = 5
"""Sessions that are enriched at one go without being asked, so that an import starts no marathon."""
_TOLD = 100
"""Jobs that an answer lists; of more it only says what came of them."""
_PROBLEMS = 5
"""Reasons that are named of sessions that failed."""
_KNOWN_FOR = 60
"""Seconds for which a folder is taken for the repository that it was."""


class Surroundings(Struct, frozen=True):
    """What memory needs to know of the application it is part of."""

    home: Home
    meanings: Meanings
    vault: Callable[[str | None], Vault]
    """Opens the memory of the project that a request names."""
    place: Callable[[str | None], Path]
    """Gives a folder of the project that a request names."""
    name: Callable[[str | None], str]
    """Tells what that project is called."""
    is_offered: Callable[[str | None], bool]
    """Tells whether the person is still to be asked if the folder is a copy of another project."""
    checkout: Callable[[Path], Checkout | None]
    """Finds the working tree that a folder is in."""
    settings: Callable[[], Settings]
    is_for_people: Callable[[], bool]
    """Whether people ask, who may see what is only proposed."""
    is_paused: Callable[[Vault], bool]
    """Tells whether nothing of a project may be recorded now."""
    source: Callable[[], str]
    editor: "Callable[[], Ask | None]"
    """Gives the way to the client's own language model, if it has one."""
    keep_up: Callable[[Checkout], None]
    """Records what was committed in a working tree while nobody looked."""
    forget: Callable[[str], None]
    """Makes sure that a project is found anew."""


class Mind:
    """Serves the methods about memory."""

    def __init__(self, around: Surroundings) -> None:
        """Search nothing yet."""
        self.around = around
        self._codebases: TTLCache[Path, Codebase | None] = TTLCache(maxsize=64, ttl=_KNOWN_FOR)
        self._workbenches: LRUCache[Path, Codebase] = LRUCache(maxsize=8)
        """Code as whoever makes memory sees it: one at a time in a project."""
        self._mutex = threading.Lock()
        self.recall = Recall(self.around.meanings)
        self.dialogue = Dialogue(
            Setting(
                vault=self.around.vault,
                place=self.around.place,
                name=self.around.name,
                is_offered=self.around.is_offered,
                code=self._code_at,
                keep_up=self.around.keep_up,
                settings=self.around.settings,
                is_paused=self.around.is_paused,
                source=self.around.source,
                personal=lambda: personal.find(self.around.home),
                key=self.around.home.fence_key,
                meanings=self.around.meanings,
                recall=self.recall,
            )
        )
        self.teamwork = Teamwork(
            vault=self.around.vault, look=self.dialogue.look, source=self.around.source
        )
        if threading.active_count() > 1:
            # What was loaded with all this are new kinds of records, and others may read them at once.
            conversions.prepare()

    @functools.cached_property
    def insight(self) -> "Insight":
        """Give all that tells of code what memory knows, loaded when somebody points at code."""
        from sidecar.handlers.explain import Insight  # noqa: PLC0415  # needed late

        return Insight(
            vault=self.around.vault,
            place=self.around.place,
            checkout=self.around.checkout,
            code=self._code_at,
        )

    @functools.cached_property
    def guidance(self) -> "Guidance":
        """Give all that concerns rules files, loaded when somebody asks for them."""
        from sidecar.handlers.rules_files import Guidance  # noqa: PLC0415  # needed by few

        return Guidance(
            home=self.around.home,
            dialogue=self.dialogue,
            place=self.around.place,
            checkout=self.around.checkout,
        )

    def serve(self, name: str, params: ProjectParams) -> Record:
        """Answer a request about memory."""
        if name in sharing.SERVED:
            return self.teamwork.serve(name, params)
        if name in context.SERVED:
            return self.dialogue.serve(name, params)
        if name in _SERVICES:
            return _SERVICES[name](self.around.vault(params.project), params)
        return _METHODS[name](self, params)

    def explain(self, params: ExplainParams) -> Explanation:
        """Tell why a line is as it is."""
        return self.insight.explain(params)

    def tell(self, params: AboutParams) -> FileStory:
        """Tell what is known about a file."""
        return self.insight.tell(params)

    def enrich(self, params: StartParams, tell: Tell) -> Job:
        """Make memory from a session's events."""
        from sidecar.memory import pipeline  # noqa: PLC0415  # only who makes memory needs it

        vault, agent = self.around.vault(params.project), agents.author(params.agent_id)
        tools = self._tools(params.project, params.provider)
        return pipeline.start(vault, params.session_id, tools, tell, agent_id=agent)

    def enrich_all(self, params: StartAllParams, tell: Tell) -> EnrichedAll:
        """Make memory from all sessions that nobody has read, and say honestly what came of it."""
        from sidecar.memory import whole_history  # noqa: PLC0415  # likewise

        vault = self.around.vault(params.project)
        unread = [one for one in vault.sessions.newest() if one.enrichment_status != "completed"]
        ids = [one.session_id for one in reversed(unread)]
        done = whole_history.enrich(vault, ids, self._tools(params.project, params.provider), tell)
        failed = [job for job in done if job.status == "failed"]
        return EnrichedAll(
            sessions=len(done),
            memories=sum(job.created for job in done),
            proposed=sum(job.proposed for job in done),
            failed=len(failed),
            problems=tuple(dict.fromkeys(job.error or "unknown" for job in failed))[:_PROBLEMS],
            jobs=tuple(done) if len(done) <= _TOLD else (),
        )

    def retry(self, params: JobParams, tell: Tell) -> Job:
        """Go on with a job from the stage that failed, by the same reader."""
        from sidecar.memory import pipeline  # noqa: PLC0415  # likewise

        vault = self.around.vault(params.project)
        tools = self._tools(params.project, jobs.find(vault, params.job_id).provider)
        return pipeline.retry(vault, params.job_id, tools, tell)

    def tend(self, vault: Vault) -> None:
        """Learn what memories and records mean, and read sessions unasked where that is wanted."""
        from sidecar.memory import pipeline  # noqa: PLC0415  # likewise

        kept = [one for one in vault.memories.all() if one.status != "forgotten"]
        if self.around.meanings.absence is None:
            texts = {one.memory_id: memories.text(one) for one in kept}
            self.around.meanings.learn(vault, texts, untold)
            self.around.meanings.learn_passages(vault, _LEARNING)
        if self.around.settings().auto_enrich:
            for session_id in maintenance.neglected(vault)[:_UNASKED]:
                tools = self._tools(vault.project_id, None)
                pipeline.start(vault, session_id, tools, untold, automatic=True)

    def search(self, params: SearchParams) -> SearchResult:
        """Find memories; what belongs to another branch stays out, unless it is asked for."""
        vault = self.around.vault(params.project)
        params = msgspec.structs.replace(params, statuses=self._visible(params.statuses))
        if params.all_projects:
            found = everywhere.search(self.around.home, self.recall, params)
        else:
            code = self._code(params.project)
            branch = params.branch or (code.branch() if code else None)
            params = msgspec.structs.replace(params, branch=branch)
            found = self._search(vault, params, code)
        ids = tuple(one.memory.memory_id for one in found.memories)
        queries = tuple(filter(None, [cleaning.clean(params.query.strip())]))
        asked = Activity(
            tool="search_memories",
            category="search",
            input_summary=params.query[:ENTRY_LIMIT],
            output_summary=f"{len(ids)} found",
        )
        report = Report(queries=queries, memory_ids=ids)
        self.dialogue.note(vault, params.session_key, report, asked)
        return found

    def _search(self, vault: Vault, params: SearchParams, code: Codebase | None) -> SearchResult:
        """Search by words and meaning; without a question, find what is most useful now."""

        def elsewhere(some: list[Memory]) -> Collection[str]:
            return drift.commits_elsewhere(vault, some, code)

        return self.recall.search(vault, params, elsewhere)

    def list_memories(self, params: ListMemoriesParams) -> MemoryPage:
        """List memories, of whatever branch."""
        params = msgspec.structs.replace(params, statuses=self._visible(params.statuses))
        return self.recall.list_memories(self.around.vault(params.project), params)

    def read(self, params: ReadParams) -> MemoryList:
        """Read memories in full."""
        from sidecar.memory import remember  # noqa: PLC0415  # a start event does without

        vault = self.around.vault(params.project)
        found = remember.read(vault, params, with_proposals=self.around.is_for_people())
        own = personal.find(self.around.home) if found.missing else None
        if own is not None:
            # Every context names them.
            asked = msgspec.structs.replace(params, memory_ids=found.missing)
            others = remember.read(own, asked)
            found = MemoryList(memories=(*found.memories, *others.memories), missing=others.missing)
        titles = "; ".join(one.title for one in found.memories)
        looked = Activity(
            tool="read_memories", category="read", output_summary=titles[:ENTRY_LIMIT]
        )
        report = Report(memory_ids=params.memory_ids)
        self.dialogue.note(vault, params.session_key, report, looked)
        return found

    def write(self, params: WriteParams) -> WriteResult:
        """Keep a memory, unless it is known already."""
        from sidecar.memory import remember  # noqa: PLC0415  # likewise

        vault = self.around.vault(params.project)
        is_own = params.scope == "user"
        kept_in = self.around.vault(PERSONAL_ID) if is_own else vault
        written = remember.write(kept_in, params, self.around.meanings)
        title = written.memory.title
        kept = Activity(
            tool="write_memory",
            category="write",
            input_summary=title[:ENTRY_LIMIT],
            output_summary=written.outcome,
        )
        self.dialogue.note(vault, params.session_key, Report(remembered=(title,)), kept)
        return written

    def update(self, params: UpdateParams) -> Memory:
        """Change what a memory says."""
        from sidecar.memory import remember  # noqa: PLC0415  # likewise

        return remember.update(self.around.vault(params.project), params)

    def list_proposals(self, params: ListProposalsParams) -> Proposals:
        """List what waits for review; that is for people."""
        from sidecar.memory import review  # noqa: PLC0415  # likewise

        self._check_person()
        return review.list_proposals(self.around.vault(params.project), params)

    def decide(self, params: DecideParams) -> Reviewed:
        """Accept, edit or reject proposals."""
        from sidecar.memory import review  # noqa: PLC0415  # likewise

        self._check_person()
        return review.decide(self.around.vault(params.project), params)

    def worth_knowing(self, params: WorthKnowingParams) -> WorthKnowing:
        """Tell the best that is known of a project."""
        from sidecar.memory import worth_knowing  # noqa: PLC0415  # likewise

        vault = self.around.vault(params.project)
        return worth_knowing.find(vault, self._code(params.project), params)

    def _check_person(self) -> None:
        if not self.around.is_for_people():
            raise InvalidParamsError("what is only proposed is for people to review")

    def compact(self, params: SessionParams) -> Compacted:
        """Compress a closed session's events and say what it was about."""
        from sidecar.upkeep import maintenance  # noqa: PLC0415  # likewise

        return maintenance.compact(self.around.vault(params.project), params)

    def forget(self, params: ForgetParams) -> PurgeReport:
        """Remove memories from everything on the disk, and prove it."""
        from sidecar.upkeep import purge  # noqa: PLC0415  # likewise

        vault = self.around.vault(params.project)
        clear = self._find_rules(vault, purge.of_memories(vault, params.memory_ids))
        self._settle()
        self._retell(vault)
        logs, who = self.around.home.logs, params.agent_id
        return clear(purge.forget(vault, params.memory_ids, logs, agent_id=who))

    def purge(self, params: PurgeParams) -> PurgeReport:
        """Remove something from everything on the disk, and prove it."""
        from sidecar.upkeep import purge  # noqa: PLC0415  # likewise

        vault, logs = self.around.vault(params.project), self.around.home.logs
        clear = self._find_rules(vault, purge.of_request(vault, params))
        self._retell(vault)
        if params.everything:
            self.dialogue.buffer.discard(vault)
            self.around.forget(vault.project_id)
            return clear(purge.forget_everything(self.around.home, vault))
        self._settle()
        if params.memory_id is not None:
            return clear(purge.forget(vault, [params.memory_id], logs))
        if params.path is not None:
            return clear(purge.forget_path(vault, params.path, logs))
        return clear(purge.forget_phrase(vault, params.phrase or "", logs))

    def _find_rules(self, vault: Vault, needles: "Needles") -> Callable[[PurgeReport], PurgeReport]:
        """Find the files in which assistants read of a project, to be emptied once something of it is forgotten."""
        from sidecar.handlers import connections  # noqa: PLC0415  # needed by few

        project = vault.projects.get(vault.project_id)
        clear = connections.find_rules(self.around.home, project, self.around.checkout, needles)

        def report(done: PurgeReport) -> PurgeReport:
            stuck = clear()
            return msgspec.structs.replace(
                done, remaining=(*done.remaining, *stuck), verified=done.verified and not stuck
            )

        return report

    def _retell(self, vault: Vault) -> None:
        """Where the person's own memory is about to change, discard what was prepared of it in all projects."""
        if personal.is_personal(vault):
            for project in self.around.home.projects():
                self.around.home.vault(project.project_id).prepared.discard()

    def _visible(self, statuses: tuple[MemoryStatus, ...]) -> tuple[MemoryStatus, ...]:
        """Leave proposals to people: assistants get what somebody stands for, or nothing."""
        if self.around.is_for_people():
            return statuses
        if "proposed" in statuses:
            raise InvalidParamsError(
                "what is only proposed is for people to review", field="statuses"
            )
        return statuses or ("active", "superseded", "stale", "forgotten")

    def _settle(self) -> None:
        """Write what still waits, since it may say what is about to be forgotten."""
        self.dialogue.buffer.flush()

    def _tools(self, reference: str | None, provider: ProviderName | None) -> "Tools":
        """Put together what makes memory; its view of the code is its own, since it runs beside searches."""
        from sidecar.memory.stages import Tools  # noqa: PLC0415  # likewise

        known = self._code(reference)
        code = None if known is None else self._workbench(known.folder)
        from sidecar.memory.extract import commits  # noqa: PLC0415  # likewise

        chosen = provider or self.around.settings().model_provider
        return Tools(
            reader=self._reader(chosen, code),
            diffs=(lambda _shas: {}) if code is None else code.diffs,
            meanings=self.around.meanings,
            code=code,
            wants_diff=commits.wants_diff if chosen == "rules" else lambda _: True,
        )

    def _reader(self, provider: ProviderName, code: Codebase | None) -> "Reader":
        """Choose who reads events."""
        if provider == "rules":
            from sidecar.memory.readers import Rules  # noqa: PLC0415  # likewise

            return Rules() if code is None else Rules(standing=code.standing_names)
        from sidecar.memory.readers import Modelled  # noqa: PLC0415  # likewise

        chosen = self.around.settings()
        return Modelled(
            name=provider,
            model=self._model(provider),
            caps=Caps(per_job=chosen.model_tokens_per_job, per_day=chosen.model_tokens_per_day),
            spend=self.around.home.spend,
            today=lambda: self.around.home.ids.clock().date(),
        )

    def _model(self, provider: ProviderName) -> "Model":
        """Give the model that is asked; an assistant of the user's only where the user has chosen it."""
        chosen = self.around.settings()
        if provider == "editor":
            return self._editors_model()
        if provider == "http":
            return _http_model(chosen)
        from sidecar.memory.llm.assistants import AssistantModel  # noqa: PLC0415  # few need it

        if chosen.model_provider != provider and not self.around.is_for_people():
            raise InvalidParamsError(
                f"`{provider}` is asked only where the user's `threadline.modelProvider` names it",
                field="provider",
            )
        return AssistantModel(provider)

    def _editors_model(self) -> "Model":
        from sidecar.memory.llm.editors import EditorModel  # noqa: PLC0415  # few need it

        ask = self.around.editor()
        if ask is None:
            raise ModelFailedError(
                "this client has no language model to ask; choose another provider"
            )
        return EditorModel(ask, self.around.source())

    def _code(self, reference: str | None) -> Codebase | None:
        """Give the code at the place that a request names; None where there is no repository."""
        try:
            place = self.around.place(reference)
        except NotFoundError:
            return None
        return self._code_at(place)

    def _code_at(self, place: Path) -> Codebase | None:
        """Give the code of a folder; None where there is no repository."""
        with self._mutex:
            with contextlib.suppress(KeyError):
                return self._codebases[place]
            code = self._codebases[place] = self._find_code(place)
            return code

    def _find_code(self, place: Path) -> Codebase | None:
        """Find the repository of a folder; one that git cannot read is none."""
        try:
            found = self.around.checkout(place)
        except GitFailedError:
            return None
        return None if found is None else Codebase(found.folder, found)

    def _workbench(self, folder: Path) -> Codebase:
        with self._mutex:
            code = self._workbenches.get(folder)
            if code is None:
                code = self._workbenches[folder] = Codebase(folder)
            return code


def _http_model(chosen: Settings) -> "Model":
    """Prepare the model that the user's settings name; its key comes from nowhere near the project."""
    from sidecar.memory.llm import keys, servers  # noqa: PLC0415  # few need it

    if not chosen.model_base_url:
        raise ModelFailedError(
            "no model is set up; set `threadline.modelBaseUrl` and `threadline.modelName`"
        )
    found = keys.find(chosen.model_base_url, variable=chosen.model_key_variable or None)
    key = found.value if isinstance(found, keys.Key) else None
    return servers.connect(chosen.model_base_url, chosen.model_name, key)


_SERVICES: dict[str, Callable[[Vault, Any], Record]] = {
    "threadline/enrichment/cancel": jobs.cancel,
    "threadline/enrichment/jobs": jobs.list_jobs,
}
_METHODS: dict[str, Callable[[Mind, Any], Record]] = {
    "threadline/memories/search": Mind.search,
    "threadline/memories/list": Mind.list_memories,
    "threadline/memories/read": Mind.read,
    "threadline/memories/write": Mind.write,
    "threadline/memories/update": Mind.update,
    "threadline/review/list": Mind.list_proposals,
    "threadline/review/decide": Mind.decide,
    "threadline/worthKnowing": Mind.worth_knowing,
    "threadline/sessions/compact": Mind.compact,
    "threadline/memories/forget": Mind.forget,
    "threadline/purge": Mind.purge,
    "threadline/lines/explain": Mind.explain,
    "threadline/files/about": Mind.tell,
    "threadline/rules/list": lambda mind, params: mind.guidance.list_files(params),
    "threadline/rules/write": lambda mind, params: mind.guidance.write(params),
    "threadline/rules/refresh": lambda mind, params: mind.guidance.refresh(params),
    "threadline/rules/remove": lambda mind, params: mind.guidance.remove(params),
}
SERVED = frozenset({*_SERVICES, *_METHODS, *context.SERVED, *sharing.SERVED})
