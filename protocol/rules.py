"""Rules: files of a project that assistants read by themselves, and what we write into them when we are told to."""

from typing import Literal

from protocol.projects import ProjectParams
from protocol.rows import Method
from protocol.values import Record

Target = Literal["agents", "cursor", "windsurf"]
"""`agents`: a marked block in AGENTS.md. `cursor`: .cursor/rules/threadline.mdc. `windsurf`: .windsurf/rules/threadline.md."""
RulesState = Literal["absent", "written", "edited", "refused"]
RulesOutcome = Literal["created", "updated", "unchanged", "kept", "removed", "absent", "refused"]


class WriteRulesParams(ProjectParams, frozen=True, kw_only=True):
    """Which file to write."""

    target: Target
    """Who is to read it."""
    force: bool = False
    """Also replace what somebody has edited by hand."""


class RulesParams(ProjectParams, frozen=True, kw_only=True):
    """Which files to refresh or to remove."""

    target: Target | None = None
    """Who reads it; all that are there where absent."""
    force: bool = False
    """Also replace or remove what somebody has edited by hand."""


class RulesFile(Record, frozen=True, kw_only=True):
    """One file that assistants read."""

    target: Target
    """Who reads it."""
    path: str
    """Where it is on this machine."""
    state: RulesState
    """`written`: our words are in it as we wrote them. `edited`: somebody has changed them by hand.
    `refused`: it must not be touched, for the reason that is given."""
    reason: str | None = None
    """Why it is left as it is."""
    chars: int = 0
    """How long our words in it are."""


class RulesList(Record, frozen=True, kw_only=True):
    """All files that assistants read, also those that are not there."""

    files: tuple[RulesFile, ...]


class RulesChange(RulesFile, frozen=True, kw_only=True):
    """What became of one file."""

    outcome: RulesOutcome
    """`kept`: it was edited by hand and stays so, unless `force` is said."""


class RulesChanges(Record, frozen=True, kw_only=True):
    """What became of the files that are there."""

    files: tuple[RulesChange, ...]


RULES: tuple[Method, ...] = (
    Method(
        name="threadline/rules/list",
        params=ProjectParams,
        result=RulesList,
        doc="Tell which files assistants read by themselves have words of ours.",
    ),
    Method(
        name="threadline/rules/write",
        params=WriteRulesParams,
        result=RulesChange,
        doc="Write what assistants should know into a file that they read by themselves.",
    ),
    Method(
        name="threadline/rules/refresh",
        params=RulesParams,
        result=RulesChanges,
        doc="Renew such files where they are there.",
    ),
    Method(
        name="threadline/rules/remove",
        params=RulesParams,
        result=RulesChanges,
        doc="Remove such files, and our words from files of others, without a trace.",
    ),
)
