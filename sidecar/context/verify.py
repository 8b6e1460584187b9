"""Check memories against the code at HEAD."""

import functools
import logging
import threading
from collections.abc import Collection, Mapping
from datetime import datetime

from msgspec import Struct

from protocol.errors import GitFailedError
from protocol.memories import Memory, Verdict
from sidecar.memory import drift as memory_drift
from sidecar.memory.codebases import Code
from sidecar.memory.rules import drift
from sidecar.memory.rules.drift import Fates
from sidecar.storage.derived import Fact
from sidecar.storage.vault import Vault
from sidecar.text import words

_REMEMBERED = 20_000

_log = logging.getLogger(__name__)


class Verified(Struct, frozen=True):
    """What became of some memories."""

    verdicts: Mapping[str, Verdict | None]
    elsewhere: frozenset[str]
    """Those that belong to branches which are not part of the current one."""


class _Findings(Struct):
    """Facts at one HEAD, by what names memories as they were, and for strays also what else the fact depends on."""

    head: str
    facts: dict[int, Fact]
    is_new: bool = False


class Verifier:
    """Remembers for each HEAD what became of memories: they are looked at once, by whichever process.

    What comes from commits that HEAD lacks is looked at again when the main line has moved, or when it was
    recorded in its session what became of commits.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self._findings: dict[str, _Findings] = {}
        """What is to be written down, by project."""
        self._mutex = threading.Lock()

    def verify(
        self,
        vault: Vault,
        memories: Collection[Memory],
        code: Code | None,
        most_branches: int | None = None,
    ) -> Verified:
        """Hold memories against HEAD; where there is no code to ask, what was last found out holds.

        Of the branches that HEAD lacks, no more than `most_branches` are looked at that nobody has looked at before,
        the latest; what comes from others counts as theirs until somebody has the time.
        """
        with self._mutex:
            try:
                facts = (
                    _stored(memories)
                    if code is None
                    else self._facts(vault, memories, code, most_branches)
                )
            except GitFailedError as error:
                _log.warning("memories could not be held against the code: %s", error)
                facts = _stored(memories)
        return Verified(
            {key: verdict for key, (verdict, _) in facts.items()},
            frozenset(key for key, (_, is_elsewhere) in facts.items() if is_elsewhere),
        )

    def _facts(
        self, vault: Vault, memories: Collection[Memory], code: Code, most_branches: int | None
    ) -> Mapping[str, Fact]:
        with code.held() as head:
            if head is None:
                return _stored(memories)
            findings = self._remembered(vault, head)
            plain = {one.memory_id: _name(one) for one in memories}
            known = _known(findings, plain)
            rest = [one for one in memories if one.memory_id not in known]
            strays = _stray_names(vault, rest, code) if rest else {}
            known |= _known(findings, strays)
            unknown = [one for one in memories if one.memory_id not in known]
            if not unknown:
                return known
            here = code.ages({sha for one in unknown for sha in drift.commits(one, Fates())})
            names = {
                one.memory_id: plain[one.memory_id]
                if _is_here(one, here)
                else strays[one.memory_id]
                for one in unknown
            }
            away = [one for one in unknown if names[one.memory_id] == strays[one.memory_id]]
            left = _beyond(away, most_branches)
            found = _look(vault, [one for one in unknown if one.memory_id not in left], code)
            findings.facts |= {names[key]: fact for key, fact in found.items()}
            findings.is_new |= bool(found)
            passed = {one.memory_id: (one.verdict, True) for one in away if one.memory_id in left}
            return {**known, **found, **passed}

    def _remembered(self, vault: Vault, head: str) -> _Findings:
        findings = self._findings.get(vault.project_id)
        if findings is None or findings.head != head:
            findings = _Findings(head, dict(vault.findings.read(head)))
            self._findings[vault.project_id] = findings
        return findings

    def keep(self, vault: Vault) -> None:
        """Write down what was found out, for other processes; the store's lock is held."""
        findings = self._findings.get(vault.project_id)
        if findings is not None and findings.is_new:
            findings.is_new = False
            # What was asked for long ago comes first, and may depend on what is no more.
            latest = list(findings.facts.items())[-_REMEMBERED:]
            vault.findings.write(findings.head, dict(latest))

    def has_news(self, vault: Vault) -> bool:
        """Return whether something was found out that is not written down."""
        findings = self._findings.get(vault.project_id)
        return findings is not None and findings.is_new


def _look(vault: Vault, memories: Collection[Memory], code: Code) -> dict[str, Fact]:
    if not memories:
        return {}
    became = memory_drift.find(vault, memories, code)
    away = memory_drift.elsewhere(memories, code, became)
    # What a session was about stays true, whatever became of the code.
    judged = [one for one in memories if one.type != "episodic"]
    found = memory_drift.check(judged, code, became)
    return {one.memory_id: (found.get(one.memory_id), one.memory_id in away) for one in memories}


def _known(findings: _Findings, names: Mapping[str, int]) -> dict[str, Fact]:
    return {key: findings.facts[name] for key, name in names.items() if name in findings.facts}


def _is_here(memory: Memory, here: Collection[str]) -> bool:
    """Return whether all commits that a memory comes from are behind HEAD: then nothing but HEAD decides about it."""
    return all(sha in here for sha in drift.commits(memory, Fates()))


def _stray_names(vault: Vault, memories: Collection[Memory], code: Code) -> dict[str, int]:
    sessions = {one.session_id for one in memories if one.session_id}
    states = vault.sessions.records.fingerprints(sessions)
    main_line = repr(code.main_line())
    return {
        one.memory_id: words.of_all((_name(one), main_line, states.get(one.session_id or "", 0)))
        for one in memories
    }


def _beyond(away: Collection[Memory], most_branches: int | None) -> set[str]:
    if most_branches is None:
        return set()
    latest: dict[str, datetime] = {}
    for one in away:
        branch = _branch(one)
        latest[branch] = max(latest.get(branch, one.occurred_at), one.occurred_at)
    looked = set(sorted(latest, key=lambda name: (latest[name], name))[-most_branches:])
    return {one.memory_id for one in away if _branch(one) not in looked}


def _branch(memory: Memory) -> str:
    return memory.branch or next(iter(drift.commits(memory, Fates())), "")


def _name(memory: Memory) -> int:
    return _hash(memory.memory_id, memory.updated_at, memory.checked_at)


@functools.lru_cache(maxsize=_REMEMBERED)
def _hash(memory_id: str, updated_at: datetime, checked_at: datetime | None) -> int:
    return words.of_all((memory_id, updated_at, checked_at))


def _stored(memories: Collection[Memory]) -> dict[str, Fact]:
    return {one.memory_id: (one.verdict, False) for one in memories}
