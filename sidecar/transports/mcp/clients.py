"""The MCP client: who it is, its folder and conversation."""

import logging
import os
import threading
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from msgspec import UNSET

from protocol.errors import ForbiddenError, InvalidParamsError, NotFoundError
from protocol.messages import USER
from sidecar.app import Application
from sidecar.conversations import participants
from sidecar.hosts import client_names
from sidecar.storage.agent_keys import ENVIRONMENT, Access, AgentKey, AgentKeys
from sidecar.transports.addresses import path_of

_AT = {
    10: "You have used this memory ten times since the last checkpoint. If something was decided, call "
    "context_checkpoint.",
    25: "25 calls since the last checkpoint. Save decisions, constraints and a short summary with "
    "context_checkpoint before your context is cut.",
    50: "50 calls since the last checkpoint: whatever is not saved is lost when your context is cut. Call "
    "context_checkpoint now.",
}


def remind(calls: int) -> str | None:
    """Return what to say after so many calls without a checkpoint; mostly nothing."""
    return _AT.get(calls)


_FOLDERS = ("CLAUDE_PROJECT_DIR", "WORKSPACE_FOLDER_PATHS")
"""Where hosts say which folders they work in."""
_PLUGIN = "PLUGIN_ROOT"
"""Where hosts say in which folder the plugin is that names us."""
_HOST = "THREADLINE_HOST"
"""Names the host, in configuration that one host alone reads."""


_log = logging.getLogger(__name__)


class Talk(NamedTuple):
    """A conversation."""

    key: str
    is_followed: bool
    """Whether hooks of its host follow it, which give it its context."""


@dataclass
class Client:
    """What is known of the one client that a server has."""

    app: Application
    pinned: Path | None = None
    """The folder that the command line names."""
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    granted: Callable[[], tuple[Path, ...]] | None = None
    """The folders that its key opens, for a client whose own folders mean nothing here: it may be on another machine."""
    name: str = ""
    """What it calls itself."""
    agent: str | None = None
    """What its agent calls itself."""
    roots: tuple[Path, ...] | None = None
    """The folders that it says it works in; None before it was asked."""
    key: str = field(default_factory=lambda: participants.OWN + uuid.uuid4().hex)
    """The conversation, where no hooks follow it."""
    alone: dict[Path, str] = field(default_factory=dict)
    """The conversations that it led where no hooks follow them, by their folders."""
    _calls: int = 0
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """Whoever calls tools is an assistant, and is shown what one may see."""
        self.app.is_for_people = False

    @property
    def harness(self) -> str:
        """The program that the agent runs in."""
        return self.environment.get(_HOST) or client_names.find_program(self.name)

    @property
    def agent_id(self) -> str:
        """The agent, by its own name or its program's."""
        return self.agent or self.harness

    def hold_key(self) -> AgentKey | None:
        """Return the key it acts with, whose agent it then is; None where keys are off.

        Every call asks again: a key may be revoked, or keys turned on, while we run.
        """
        keys = AgentKeys(self.app.home.folder)
        if not keys.are_on():
            return None
        key = keys.find(self.environment.get(ENVIRONMENT))
        self.agent = key.name
        return key

    def admit(self, access: Access, folder: Path) -> None:
        """Raise ForbiddenError where its key does not allow this in a folder's project."""
        key = self.hold_key()
        if key is not None:
            key.check(access, self.app.project(str(folder)).project_id)

    def check_agent(self, name: object) -> None:
        """Refuse an agent that gives itself out as the person, or as another than its key names."""
        if isinstance(name, str) and name.strip().lower() == USER:
            raise InvalidParamsError(
                "an agent cannot act as the user; leave it out, or give a name of its own"
            )
        key = self.hold_key()
        if key is not None and name is not None and name != key.name:
            raise ForbiddenError(f"this key is for {key.name}, not for {name}; leave the name out")

    def introduce(self, agent: str | None, key: str | None) -> None:
        """Take what an agent says of itself when it starts."""
        self.agent = agent or self.agent
        self.key = key or self.key

    def conversation(self, folder: Path) -> "Talk":
        """Return which conversation it is in: the one that the hooks of its host follow, or one of its own."""
        if self.granted is not None:
            # Hooks follow conversations of this machine; one elsewhere is none of them.
            return Talk(self.key, is_followed=False)
        followed = self.app.dialogue.live(str(folder), self.harness)
        is_clear = len(followed) == 1 and self.key.startswith(participants.OWN)
        return Talk(followed[0] if is_clear else self.key, is_followed=bool(followed))

    def hear_roots(self, uris: Iterable[str]) -> None:
        """Take the folders that it says it works in."""
        self.roots = tuple(path for uri in uris if (path := path_of(uri)) and path.is_dir())

    def folders(self) -> tuple[Path, ...]:
        """Return the folders it works in: as pinned, as it says, as its environment says, or where it was started."""
        if self.granted is not None:
            return self.granted()
        if self.pinned is not None:
            return (self.pinned,)
        return self.roots or self._told() or (self.app.here,)

    @property
    def is_placed(self) -> bool:
        """Whether it is settled where it works, whatever it says."""
        return self.pinned is not None or self.granted is not None

    def is_guessed(self) -> bool:
        """Return whether nothing but the folder it was started in says where it works."""
        return not self.is_placed and not self.roots and not self._told()

    def projects(self) -> tuple[Path, ...]:
        """Return those of its folders that can be projects.

        A client of Agent Plugins starts us in the plugin's own folder, which says nothing about where it works.
        """
        plugin = self.environment.get(_PLUGIN)
        if plugin and self.is_guessed() and self.app.here.is_relative_to(Path(plugin).resolve()):
            return ()
        return tuple(folder for folder in self.folders() if _is_project(folder))

    def folder(self, wanted: str | None) -> Path:
        """Return the folder that a call concerns; never one that the client does not work in."""
        folders = self.projects()
        if not folders and self.granted is not None:
            raise ForbiddenError("the key opens no project that is on the server's machine")
        if not folders:
            raise InvalidParamsError(
                f"{self.folders()[0]} is no project; open the client in one, or start `threadline mcp --project PATH`",
                field="project",
            )
        if wanted is None and len(folders) > 1:
            names = ", ".join(map(str, folders))
            raise InvalidParamsError(f"name one of the folders: {names}", field="project")
        return folders[0] if wanted is None else self._among(wanted, folders)

    def _among(self, wanted: str, folders: tuple[Path, ...]) -> Path:
        ids = {self.app.project(str(one)).project_id: one for one in folders}
        if wanted in ids:
            return ids[wanted]
        if self.granted is not None:
            return self._granted_by_name(wanted, folders)
        try:
            found = self.app.project(str(folders[0] / Path(wanted).expanduser())).project_id
        except NotFoundError:
            found = ""
        if found not in ids:
            names = ", ".join(map(str, folders))
            raise InvalidParamsError(
                f"{wanted} is none of the folders that are open here: {names}", field="project"
            )
        return folders[0] / Path(wanted).expanduser()

    def _granted_by_name(self, wanted: str, folders: tuple[Path, ...]) -> Path:
        """Find a folder by its path or its project's name; no other path of this machine is looked at."""
        named = [
            folder
            for folder in folders
            if wanted in {str(folder), self.app.project(str(folder)).name}
        ]
        if len(named) != 1:
            names = ", ".join(map(str, folders))
            raise InvalidParamsError(
                f"{wanted} is none of the projects that the key opens: {names}", field="project"
            )
        return named[0]

    def _told(self) -> tuple[Path, ...]:
        names = [
            name
            for variable in _FOLDERS
            for name in self.environment.get(variable, "").split(os.pathsep)
        ]
        found = [Path(name) for name in names if name and Path(name).is_dir()]
        return tuple(found[:1])

    def end_conversations(self) -> None:
        """Save the conversations it led that nobody else follows."""
        for folder, key in self.alone.items():
            params = {"sessionKey": key, "harness": self.harness, "project": str(folder)}
            answer = self.app.answer(None, "threadline/context/end", params)
            if answer.error is not UNSET:
                _log.warning("the conversation could not be ended: %s", answer.error.message)

    def count(self, *, is_checkpoint: bool) -> str | None:
        """Count a call; give what to remind its agent of."""
        with self._mutex:
            self._calls = 0 if is_checkpoint else self._calls + 1
            return remind(self._calls)


def _is_project(folder: Path) -> bool:
    """Return whether somebody may work there: not in all of the disk, nor in all that is theirs."""
    return folder not in {Path(folder.anchor), Path.home()} and folder.is_dir()
