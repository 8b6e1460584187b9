"""Drain the hook spool in the background."""

from collections.abc import Callable
from pathlib import Path

from protocol.settings import Settings
from sidecar.code import git, processes
from sidecar.code.ignored_files import Ignores
from sidecar.conversations.hook_ingest import Overhearing, Tools
from sidecar.handlers.context import Dialogue
from sidecar.hosts import transcripts
from sidecar.storage.vault import Vault


def prepare(
    home: Path, dialogue: Dialogue, vault: Callable[[Path], Vault], settings: Callable[[], Settings]
) -> Overhearing:
    """Give who places what hooks of this home have heard."""
    return Overhearing(
        home,
        Tools(
            vault=vault,
            hear=dialogue.hear,
            digest=dialogue.digest,
            end=dialogue.end,
            give=dialogue.note_given,
            last_words=_last_words,
            ignored=lambda root: Ignores(root).ignored,
            settings=settings,
            is_running=processes.is_running,
            within=git.within,
        ),
    )


def _last_words(path: str, host: str) -> str:
    said = [text for who, text in transcripts.turns(path, host, Path.home()) if who == "assistant"]
    return said[-1] if said else ""
