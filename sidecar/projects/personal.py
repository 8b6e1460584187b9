"""The vault of the person: what holds in all of their projects.

It is a project without a folder, so that listing, changing, forgetting, exporting and searching it need no code of their
own. It belongs to the person alone: whoever shares records with a team leaves this vault out, and every memory in it says
`scope: user`, so that none slips through where it was copied.
"""

from protocol.projects import Project
from sidecar.storage.home import Home
from sidecar.storage.prepared import PERSONAL_ID
from sidecar.storage.vault import Vault

_NAME = "everywhere"


def ensure(home: Home) -> Project:
    """Return the person's own project, made when it is first named."""
    vault = home.vault(PERSONAL_ID)
    known = vault.projects.get(PERSONAL_ID) if vault.exists else None
    if known is None:
        known = Project(project_id=PERSONAL_ID, name=_NAME, folders=(), created_at=home.ids.clock())
        with home.transaction():
            home.put(known)
    return known


def find(home: Home) -> Vault | None:
    """Return the person's vault, or None where nothing was ever kept in it."""
    vault = home.vault(PERSONAL_ID)
    return vault if vault.exists else None


def is_personal(vault: Vault) -> bool:
    """Whether a vault is the person's own, and none of its memories may be shared."""
    return vault.project_id == PERSONAL_ID
