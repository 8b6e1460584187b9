"""Search in all projects of a person at once, for the person and for agents whose key says so."""

import logging

import msgspec

from protocol.errors import ThreadlineError
from protocol.recall import Found, Hit, SearchParams, SearchResult
from sidecar.search.recall import Recall
from sidecar.storage.home import Home

_log = logging.getLogger(__name__)


def search(home: Home, recall: Recall, params: SearchParams) -> SearchResult:
    """Return the best of every project; no repository is looked at, so what is on another branch is found, too.

    A project whose store cannot be opened is left out, and the log says why.
    """
    hits: list[Hit] = []
    memories: list[Found] = []
    total, is_semantic = 0, False
    wanted = msgspec.structs.replace(params, all_projects=False, all_branches=True)
    for project in home.projects():
        vault = home.vault(project.project_id)
        if not vault.exists:
            continue
        try:
            found = recall.search(vault, wanted, lambda _: ())
        except ThreadlineError as error:
            _log.warning("%s is not searched: %s", project.name, error)
            continue
        hits += [msgspec.structs.replace(hit, project=project.name) for hit in found.hits]
        memories += found.memories
        total, is_semantic = total + found.total, is_semantic or found.semantic
    hits.sort(key=lambda hit: hit.score, reverse=True)
    memories.sort(key=lambda one: one.score, reverse=True)
    return SearchResult(
        memories=tuple(memories[: params.top_k]),
        hits=tuple(hits[: params.top_k]),
        total=total,
        semantic=is_semantic,
    )
