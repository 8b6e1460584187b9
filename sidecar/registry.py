"""Which function answers which method. To add a method: declare it in `protocol/methods.py`, and name its handler here.

Handlers are loaded when they are first called. A function of a feature takes the project's vault and the params; one of
`handlers/` takes all projects and the params; a method belongs to the process's one instance of its class. A long method's
handler is also given a callable that tells how far it is.
"""

import functools
import importlib
from collections.abc import Callable
from typing import Any

from protocol.errors import UnknownMethodError
from protocol.methods import METHODS
from protocol.rows import Method
from protocol.values import Record
from sidecar.project import Projects

HANDLERS = {
    "threadline/ingest": "handlers.capture:ingest",
    "threadline/scan": "handlers.capture:scan_history",
    "threadline/capture/pause": "handlers.capture:pause_capture",
    "threadline/capture/resume": "handlers.capture:resume_capture",
    "threadline/sessions/list": "capture.timeline:list_sessions",
    "threadline/sessions/get": "capture.timeline:show_session",
    "threadline/sessions/events": "capture.timeline:list_events",
    "threadline/sessions/close": "capture.timeline:close_session",
    "threadline/sessions/compact": "upkeep.maintenance:compact",
    "threadline/commits/get": "capture.timeline:show_commit",
    "threadline/timeline": "capture.timeline:picture",
    "threadline/projects/list": "handlers.projects:list_projects",
    "threadline/projects/why": "handlers.projects:explain",
    "threadline/projects/link": "handlers.projects:link",
    "threadline/projects/unlink": "handlers.projects:unlink",
    "threadline/status": "handlers.health:status",
    "threadline/doctor": "handlers.health:examine",
    "threadline/version": "handlers.health:version",
    "threadline/memories/search": "handlers.memory:search",
    "threadline/memories/list": "handlers.memory:list_memories",
    "threadline/memories/read": "handlers.memory:read",
    "threadline/memories/write": "handlers.memory:write",
    "threadline/memories/update": "memory.remember:update",
    "threadline/memories/forget": "handlers.forgetting:forget",
    "threadline/memories/link": "sharing.links:link",
    "threadline/memories/unlink": "sharing.links:unlink",
    "threadline/memories/graph": "sharing.links:graph",
    "threadline/purge": "handlers.forgetting:purge",
    "threadline/review/list": "handlers.memory:list_proposals",
    "threadline/review/decide": "handlers.memory:decide",
    "threadline/check": "handlers.guard:check",
    "threadline/worthKnowing": "handlers.memory:worth_knowing",
    "threadline/enrichment/start": "handlers.enrichment:enrich",
    "threadline/enrichment/startAll": "handlers.enrichment:enrich_all",
    "threadline/enrichment/retry": "handlers.enrichment:retry",
    "threadline/enrichment/cancel": "memory.jobs:cancel",
    "threadline/enrichment/jobs": "memory.jobs:list_jobs",
    "threadline/context/start": "handlers.context:Dialogue.start",
    "threadline/context/render": "handlers.context:Dialogue.render",
    "threadline/context/explain": "handlers.context:Dialogue.explain",
    "threadline/context/track": "handlers.context:Dialogue.track",
    "threadline/context/checkpoint": "handlers.context:Dialogue.checkpoint",
    "threadline/context/digest": "handlers.context:Dialogue.digest",
    "threadline/context/end": "handlers.context:Dialogue.end",
    "threadline/context/receipts": "handlers.context:Dialogue.list_receipts",
    "threadline/context/stats": "handlers.context:Dialogue.count",
    "threadline/context/feedback": "context.receipts:judge",
    "threadline/context/retract": "context.receipts:retract",
    "threadline/checkpoints/list": "conversations.checkpoints:list_checkpoints",
    "threadline/turns/ingest": "handlers.context:Dialogue.take",
    "threadline/tasks/create": "handlers.sharing:create_tasks",
    "threadline/tasks/update": "handlers.sharing:update_task",
    "threadline/tasks/list": "tasks.plan:list_tasks",
    "threadline/messages/send": "handlers.sharing:send",
    "threadline/messages/read": "handlers.sharing:read",
    "threadline/messages/ack": "handlers.sharing:acknowledge",
    "threadline/messages/thread": "sharing.messages:thread",
    "threadline/documents/list": "sharing.documents:list_documents",
    "threadline/documents/read": "sharing.documents:read",
    "threadline/documents/write": "sharing.documents:write",
    "threadline/agents/list": "sharing.agents:list_agents",
    "threadline/lines/explain": "handlers.explain:Insight.explain",
    "threadline/files/about": "handlers.explain:Insight.tell",
    "threadline/rules/list": "handlers.rules_files:list_files",
    "threadline/rules/write": "handlers.rules_files:write",
    "threadline/rules/refresh": "handlers.rules_files:refresh",
    "threadline/rules/remove": "handlers.rules_files:remove",
    "threadline/team/init": "handlers.team:init",
    "threadline/team/join": "handlers.team:join",
    "threadline/team/leave": "upkeep.team:leave",
    "threadline/team/status": "upkeep.team:status",
    "threadline/team/preview": "upkeep.team:preview",
    "threadline/team/push": "upkeep.team:push",
    "threadline/team/pull": "upkeep.team:pull",
    "threadline/team/key": "upkeep.team:keep_key",
    "threadline/team/history": "upkeep.team:history",
}

Handler = Callable[..., Record]

_METHODS = {method.name: method for method in METHODS}


def declaration(name: str) -> Method:
    """Return what the protocol says of a method."""
    try:
        return _METHODS[name]
    except KeyError:
        raise UnknownMethodError(
            f"there is no method {name}; `threadline call` lists them"
        ) from None


@functools.cache
def handler(name: str) -> Handler:
    """Load the handler of a method; it is called with all projects, the params and, where it is long, `tell`."""
    module, _, function = HANDLERS[name].partition(":")
    loaded = importlib.import_module(f"sidecar.{module}")
    owner, _, method = function.rpartition(".")
    if owner:
        return _of_part(getattr(loaded, owner), method)
    called = getattr(loaded, function)
    return called if module.startswith("handlers.") else _of_vault(called)


def _of_part(kind: type, method: str) -> Handler:
    return lambda projects, *given: getattr(projects.part(kind), method)(*given)


def _of_vault(function: Handler) -> Handler:
    def handle(projects: Projects, params: Any) -> Record:  # noqa: ANN401  # as the protocol declares it
        return function(projects.vault(params.project), params)

    return handle
