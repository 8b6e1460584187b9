"""Find the repository of a folder, cached between processes."""

import contextlib
from pathlib import Path

from msgspec import Struct

from protocol.errors import InvalidParamsError
from sidecar.code import checkouts, identity
from sidecar.projects.rules.identities import Facts
from sidecar.storage.home import Home, Landmark


class Scout(Struct, frozen=True):
    """Knows repositories again by their landmarks; git is asked where there are none."""

    home: Home

    def identify(self, folder: Path, believe: identity.Believe) -> Facts:
        """Return what identifies the project of a folder."""
        sight, known = self._recognise(folder)
        if known is not None:
            return known.facts
        facts = identity.facts(folder, believe)
        checkout = checkouts.enclosing(folder) if sight and facts.root else None
        if sight is not None and checkout is not None:
            landmark = Landmark(
                stamp=sight.stamp,
                gitdir=str(checkout.gitdir),
                common=str(checkout.common),
                folder=str(checkout.folder),
                facts=facts,
            )
            # A name that is no text cannot be written down.
            with contextlib.suppress(UnicodeEncodeError):
                self.home.remember(sight.root, landmark)
        return facts

    def checkout(self, folder: Path) -> checkouts.Checkout | None:
        """Find the working tree that a folder is in."""
        _, known = self._recognise(folder)
        if known is None:
            return checkouts.enclosing(folder)
        return checkouts.Checkout(Path(known.gitdir), Path(known.common), Path(known.folder))

    def _recognise(self, folder: Path) -> tuple[checkouts.Sight | None, Landmark | None]:
        sight = checkouts.sight(folder)
        return sight, sight and self.home.landmark(*sight)


def own_commits(folder: Path) -> str:
    """Say whose commits are the user's own, as git knows the user here."""
    email = identity.user_email(folder)
    if email is None:
        raise InvalidParamsError(
            "git does not know who you are here (user.email is unset); name an author, or ask for all of them",
            field="author",
        )
    return f"<{email}>"
