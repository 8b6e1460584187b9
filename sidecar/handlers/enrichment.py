"""Handlers that make memory from sessions, and choose who reads them."""

from protocol.enrichment import EnrichedAll, JobParams, StartAllParams, StartParams
from protocol.errors import InvalidParamsError, ModelFailedError
from protocol.jobs import Job, ProviderName
from protocol.settings import Settings
from sidecar.code.codebase import Codebase
from sidecar.memory import jobs, pipeline, whole_history
from sidecar.memory.extract import commits
from sidecar.memory.llm.prompts import Model
from sidecar.memory.readers import Modelled, Rules
from sidecar.memory.rules import memories
from sidecar.memory.stages import Reader, Tools
from sidecar.project import Projects
from sidecar.projects.progress import Tell, untold
from sidecar.sharing import agents
from sidecar.storage.vault import Vault
from sidecar.text.token_counts import Caps
from sidecar.upkeep import maintenance

_LEARNING = 2.0
"""Seconds of the processor's time for the meaning of records, each time memory is tended."""
_UNASKED = 5
"""Sessions that are enriched at one go without being asked, so that an import starts no marathon."""
_TOLD = 100
"""Jobs that an answer lists; of more it only says what came of them."""
_PROBLEMS = 5
"""Reasons that are named of sessions that failed."""


def enrich(projects: Projects, params: StartParams, tell: Tell) -> Job:
    """Make memory from a session's events."""
    vault, agent = projects.vault(params.project), agents.author(params.agent_id)
    tools = _tools(projects, params.project, params.provider)
    return pipeline.start(vault, params.session_id, tools, tell, agent_id=agent)


def enrich_all(projects: Projects, params: StartAllParams, tell: Tell) -> EnrichedAll:
    """Make memory from all sessions that nobody has read, and count honestly what came of it."""
    vault = projects.vault(params.project)
    unread = [one for one in vault.sessions.newest() if one.enrichment_status != "completed"]
    ids = [session.session_id for session in reversed(unread)]
    tools = _tools(projects, params.project, params.provider)
    done = whole_history.enrich(vault, ids, tools, tell)
    failed = [job for job in done if job.status == "failed"]
    return EnrichedAll(
        sessions=len(done),
        memories=sum(job.created for job in done),
        proposed=sum(job.proposed for job in done),
        failed=len(failed),
        problems=tuple(dict.fromkeys(job.error or "unknown" for job in failed))[:_PROBLEMS],
        jobs=tuple(done) if len(done) <= _TOLD else (),
    )


def retry(projects: Projects, params: JobParams, tell: Tell) -> Job:
    """Go on with a job from the stage that failed, by the same reader."""
    vault = projects.vault(params.project)
    tools = _tools(projects, params.project, jobs.find(vault, params.job_id).provider)
    return pipeline.retry(vault, params.job_id, tools, tell)


def tend(projects: Projects, vault: Vault) -> None:
    """Learn what memories and records mean, and read sessions unasked where that is wanted."""
    if projects.meanings.absence is None:
        kept = [memory for memory in vault.memories.all() if memory.status != "forgotten"]
        texts = {memory.memory_id: memories.text(memory) for memory in kept}
        projects.meanings.learn(vault, texts, untold)
        projects.meanings.learn_passages(vault, _LEARNING)
    if projects.settings.auto_enrich:
        for session_id in maintenance.neglected(vault)[:_UNASKED]:
            tools = _tools(projects, vault.project_id, None)
            pipeline.start(vault, session_id, tools, untold, automatic=True)


def _tools(projects: Projects, reference: str | None, provider: ProviderName | None) -> Tools:
    code = projects.workbench(reference)
    chosen = provider or projects.settings.model_provider
    return Tools(
        reader=_reader(projects, chosen, code),
        diffs=(lambda _shas: {}) if code is None else code.diffs,
        meanings=projects.meanings,
        code=code,
        wants_diff=commits.wants_diff if chosen == "rules" else lambda _: True,
    )


def _reader(projects: Projects, provider: ProviderName, code: Codebase | None) -> Reader:
    if provider == "rules":
        return Rules() if code is None else Rules(standing=code.standing_names)
    chosen = projects.settings
    return Modelled(
        name=provider,
        model=_model(projects, provider),
        caps=Caps(per_job=chosen.model_tokens_per_job, per_day=chosen.model_tokens_per_day),
        spend=projects.home.spend,
        today=lambda: projects.home.ids.clock().date(),
    )


def _model(projects: Projects, provider: ProviderName) -> Model:
    """Return the model that is asked; an assistant of the user's only where the user has chosen it."""
    if provider == "editor":
        return _editors_model(projects)
    if provider == "http":
        return _http_model(projects.settings)
    from sidecar.memory.llm.assistants import AssistantModel  # noqa: PLC0415  # few need it

    if projects.settings.model_provider != provider and not projects.is_for_people:
        raise InvalidParamsError(
            f"`{provider}` is asked only where the user's `threadline.modelProvider` names it",
            field="provider",
        )
    return AssistantModel(provider)


def _editors_model(projects: Projects) -> Model:
    from sidecar.memory.llm.editors import EditorModel  # noqa: PLC0415  # few need it

    if projects.ask_editor is None:
        raise ModelFailedError("this client has no language model to ask; choose another provider")
    return EditorModel(projects.ask_editor, projects.source)


def _http_model(chosen: Settings) -> Model:
    """Prepare the model that the user's settings name; its key comes from nowhere near the project."""
    from sidecar.memory.llm import keys, servers  # noqa: PLC0415  # few need it

    if not chosen.model_base_url:
        raise ModelFailedError(
            "no model is set up; set `threadline.modelBaseUrl` and `threadline.modelName`"
        )
    found = keys.find(chosen.model_base_url, variable=chosen.model_key_variable or None)
    key = found.value if isinstance(found, keys.Key) else None
    return servers.connect(chosen.model_base_url, chosen.model_name, key)
