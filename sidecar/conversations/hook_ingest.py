"""Drain the hook spool into conversations and sessions."""

import itertools
import json
import logging
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from protocol.checkpoints import DigestParams, EndParams, TrackParams
from protocol.contexts import Receipt, RenderParams
from protocol.errors import BusyError, GitFailedError, StorageFailedError, ThreadlineError
from protocol.events import FileChange, NewEvent
from protocol.settings import Settings
from protocol.turns import ENTRY_LIMIT, Activity
from sidecar.capture import pause, record, timeline
from sidecar.capture.pause import IsRunning
from sidecar.capture.rules import pauses, saves
from sidecar.capture.rules.saves import Save
from sidecar.capture.saves import Ignored, Places
from sidecar.conversations import participants
from sidecar.conversations.rules import conversations
from sidecar.conversations.spooled import SUMMARY, Observation
from sidecar.privacy import secret_files
from sidecar.storage import spool
from sidecar.storage.spool import Batches
from sidecar.storage.vault import Vault
from sidecar.text import paths

UNPLACED = "unplaced.jsonl"
"""Where observations are kept that belong nowhere; in the folder of the logs, from which forgetting takes them, too."""
_UNPLACED_MOST = 1024 * 1024
_TRIES = 3
"""How often an observation is tried before it is parked."""
_MOST = 50
"""Files and activities of one report."""
_RECENT = 300
"""Events that are looked at for the same save."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Tools:
    """What is done with an observation, by whoever can."""

    vault: Callable[[Path], Vault]
    """Opens the memory of the project that a folder belongs to."""
    hear: Callable[[TrackParams], object]
    digest: Callable[[DigestParams], object]
    end: Callable[[EndParams], object]
    give: Callable[[RenderParams, Receipt], object]
    """Notes that a conversation was told what had been prepared."""
    last_words: Callable[[str, str], str]
    """Reads what the agent said last, from a transcript of a host."""
    ignored: Callable[[Path], Ignored]
    settings: Callable[[], Settings]
    is_running: IsRunning
    within: Callable[[float], AbstractContextManager[None]]
    """Limits the seconds that all questions to git take together."""


@dataclass(frozen=True)
class Limits:
    """How far to go."""

    deadline: float | None = None
    """When to stop, by the clock of `time.monotonic`."""
    patience: float = 0.0
    """Seconds to wait for somebody else who is at it."""
    before: str = ""
    """The key of the observation to stop at: what was just said is no news to who said it."""
    share: float = 10.0
    """Seconds that the observations of one folder may take; after that the others have their turn."""

    def are_reached(self, line: bytes, placed: int) -> bool:
        """Return whether to stop before this line; something is placed however little time there is."""
        is_late = self.deadline is not None and time.monotonic() > self.deadline
        return (is_late and placed > 0) or bool(self.before and self.before.encode() in line)


class Overhearing:
    """Places what waits in the inbox of a home."""

    def __init__(self, home: Path, tools: Tools) -> None:
        """Stand on a home whose inbox may not exist yet."""
        self._home = home
        self._tools = tools
        self._places = Places()

    def place(self, limits: Limits) -> int:
        """Place what waits, as far as the limits allow; tell how many observations that was."""
        if spool.is_empty(str(self._home)):
            return 0
        try:
            return self._place_all(limits)
        except (BusyError, StorageFailedError, OSError) as error:
            _log.warning("%s; what was overheard is placed later", error)
            return 0

    def _place_all(self, limits: Limits) -> int:
        """Place one line after the other; what is beyond the limits stays."""
        batches = Batches(str(self._home), limits.patience)
        try:
            return _Drain(self, batches, limits).run()
        finally:
            batches.close()

    def put(self, lines: Sequence[bytes], seconds: float) -> bool:
        """Place some lines; what belongs nowhere is kept aside, and not tried again. False for what failed."""
        try:
            seen = [msgspec.json.decode(line, type=Observation) for line in lines]
            with self._tools.within(seconds):
                self._observe(seen)
        except (BusyError, StorageFailedError):
            raise
        except GitFailedError as error:
            _log.warning("an observation could not be placed: %s", error)
            return False
        except (ThreadlineError, msgspec.DecodeError, UnicodeDecodeError) as error:
            self._keep_aside(lines, str(error))
        except Exception:  # noqa: BLE001  # one that cannot be placed must not keep the others waiting
            _log.exception("an observation could not be placed")
            return False
        return True

    def fail(self, batches: Batches, lines: Sequence[bytes], tries: int) -> None:
        """Let lines that failed wait for another try, or park them after the last."""
        if tries < _TRIES:
            batches.put_back(lines, tries)
            return
        _log.warning("%d observations failed %d times and are parked", len(lines), tries)
        spool.park(str(self._home), lines)

    def _keep_aside(self, lines: Sequence[bytes], reason: str) -> None:
        _log.warning("%d observations of hooks belong nowhere: %s", len(lines), reason)
        data = b"".join(line + b"\n" for line in lines)
        spool.keep_aside(str(self._home / "logs" / UNPLACED), data, _UNPLACED_MOST)

    def _observe(self, seen: Sequence[Observation]) -> None:
        vault = self._tools.vault(Path(seen[0].root))
        pause.state(vault, self._tools.is_running)
        known = vault.pauses.read()
        kept = [one for one in seen if not pauses.covered(known, one.at)]
        for event, group in itertools.groupby(kept, key=lambda one: one.event):
            _MEANINGS.get(event, _ignore)(self, vault, [*group])

    def _hear(self, vault: Vault, seen: Sequence[Observation]) -> None:
        del vault
        for one in seen:
            said = one.response or self._last_words(one)
            self._tools.hear(_track(one, prompt=one.prompt or None, response=said or None))

    def _last_words(self, one: Observation) -> str:
        is_silent = one.event == "turn.end" and one.transcript_path
        return self._tools.last_words(one.transcript_path, one.host) if is_silent else ""

    def _save(self, _vault: Vault, seen: Sequence[Observation]) -> None:
        """Record the files that an agent has changed, by the rules for all saves; its conversation knows them, too."""
        found: dict[Path, list[tuple[Observation, Save]]] = {}
        for one in seen:
            for path in one.files:
                folder = Path(os.path.realpath(one.root))
                place = self._places.find(folder / path, [folder])
                if place is not None and not secret_files.is_secret(place[1]):
                    found.setdefault(place[0], []).append((one, Save(path=place[1], at=one.at)))
        changed: list[tuple[Observation, Path]] = []
        for root, pairs in found.items():
            ignored = self._tools.ignored(root)({save.path for _, save in pairs})
            wanted = [(one, save) for one, save in pairs if save.path not in ignored]
            changed += [(one, root / save.path) for one, save in wanted]
            if self._tools.settings().capture_saves:
                self._record(self._tools.vault(root), wanted)
        if changed and seen[-1].session_key:
            self._tools.hear(_used(seen[-1], changed))

    def _record(self, vault: Vault, pairs: Sequence[tuple[Observation, Save]]) -> None:
        interval = timedelta(seconds=self._tools.settings().save_interval_seconds)
        recent = _recorded(vault)
        news = saves.news([save for _, save in pairs], recent, interval)
        hosts = {(save.path, save.at): one for one, save in pairs}
        events = [_event(save, hosts[save.path, save.at]) for save in news]
        if events:
            record.ingest(vault, events, events[0].source or "")

    def _before_cut(self, vault: Vault, seen: Sequence[Observation]) -> None:
        """Save all that is known before a host compacts; its summary of the time before is not its last any more."""
        for one in seen:
            self._tools.digest(
                DigestParams(
                    project=one.root,
                    session_key=one.session_key,
                    harness=one.host,
                    digest=one.summary,
                    trigger="pre_compaction",
                    occurred_at=one.at,
                )
            )
            _sum_up(vault, one.session_key, None)

    def _after_cut(self, vault: Vault, seen: Sequence[Observation]) -> None:
        """Keep what a host's own summary says, so that only what it dropped is told again."""
        for one in seen:
            self._tools.hear(_track(one))
            _sum_up(vault, one.session_key, one.summary)

    def _end(self, _vault: Vault, seen: Sequence[Observation]) -> None:
        for one in seen:
            self._tools.end(
                EndParams(
                    project=one.root,
                    session_key=one.session_key,
                    harness=one.host,
                    occurred_at=one.at,
                )
            )

    def _give(self, _vault: Vault, seen: Sequence[Observation]) -> None:
        """Note what a hook has told a conversation by itself."""
        for one in seen:
            receipt = msgspec.json.decode(one.receipt, type=Receipt)
            params = msgspec.convert(
                {
                    "project": one.root,
                    "host": one.host,
                    "harness": one.host,
                    "sessionKey": one.session_key or None,
                    "occasion": one.occasion,
                },
                RenderParams,
            )
            self._tools.give(
                params, msgspec.structs.replace(receipt, given_at=one.at, last_given_at=one.at)
            )


class _Drain:
    """One round through all that waits, in which no folder takes more than its share."""

    def __init__(self, hearing: Overhearing, batches: Batches, limits: Limits) -> None:
        self._hearing = hearing
        self._batches = batches
        self._limits = limits
        self._spent: defaultdict[object, float] = defaultdict(float)
        self._placed = 0
        self._again = 0
        """How often somebody has begun with the lines that come next."""

    def run(self) -> int:
        """Go through all files; tell how many observations were placed."""
        for name in self._batches.names():
            tries = spool.tries(name)
            self._pass_over(name, tries)
            lines = self._batches.lines(name)
            # What failed together is tried one by one, so that only the culprit fails again.
            for group in _grouped(lines) if not tries else ([line] for line in lines):
                if self._limits.are_reached(group[-1][1], self._placed):
                    return self._placed
                self._place(name, tries, group)
            self._batches.done(name)
        return self._placed

    def _pass_over(self, name: str, tries: int) -> None:
        """Take out what somebody began with twice and never ended.

        Once may be no fault of it: hosts end their servers at any moment. So it is tried again in its place, for what
        was said first must be placed first.
        """
        count, again = self._batches.begun(name)
        self._again = 1 if count and not again and not tries else 0
        if self._again:
            return
        cut = list(itertools.islice(self._batches.lines(name), count))
        if cut:
            self._hearing.fail(self._batches, [line for _, line in cut], tries + 1 + again)
            self._batches.advance(name, cut[-1][0] + 1)

    def _place(self, name: str, tries: int, group: Sequence[tuple[int, bytes]]) -> None:
        lines = [line for _, line in group]
        root = _facts(lines[0]).get("root")
        left = self._limits.share - self._spent[root]
        if left < self._limits.share / 2:
            # Whoever is tried with hardly any time fails, and what came after it would be placed before it.
            self._batches.put_back(lines, tries)
        else:
            begun = time.monotonic()
            self._batches.begin(name, group[0][0], len(group), self._again)
            self._again = 0
            try:
                is_placed = self._hearing.put(lines, left)
            except (BusyError, StorageFailedError):
                # That is nobody's fault: the same lines are the next to be tried.
                self._batches.advance(name, group[0][0])
                raise
            self._spent[root] += time.monotonic() - begun
            if not is_placed:
                self._hearing.fail(self._batches, lines, tries + 1)
            self._placed += len(group)
        self._batches.advance(name, group[-1][0] + 1)


def _facts(line: bytes) -> dict[str, object]:
    """Read the fields of a line; none of what is no observation."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def _ignore(_self: Overhearing, _vault: Vault, seen: Sequence[Observation]) -> None:
    _log.warning("nothing is known of %r", seen[0].event)


_MEANINGS: dict[str, Callable[[Overhearing, Vault, Sequence[Observation]], None]] = {
    "prompt": Overhearing._hear,  # noqa: SLF001  # the table of this class
    "turn.end": Overhearing._hear,  # noqa: SLF001
    "tool": Overhearing._save,  # noqa: SLF001
    "compact.before": Overhearing._before_cut,  # noqa: SLF001
    "compact.after": Overhearing._after_cut,  # noqa: SLF001
    "given": Overhearing._give,  # noqa: SLF001
    "session.end": Overhearing._end,  # noqa: SLF001
}


def _grouped(lines: Iterator[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    """Put the tools of one conversation together that came one after the other: they are placed at one go."""

    def group(line: tuple[int, bytes]) -> object:
        told = _facts(line[1])
        is_tool = told.get("event") == "tool" and "root" in told and "host" in told
        return (
            repr([told[one] for one in ("host", "root")] + [told.get("sessionKey")])
            if is_tool
            else line[0]
        )

    return (list(group) for _, group in itertools.groupby(lines, key=group))


def _used(last: Observation, changed: Sequence[tuple[Observation, Path]]) -> TrackParams:
    """Tell a conversation which files its tools have changed, and which tool changed which."""
    files = tuple(str(path) for path in dict.fromkeys(path for _, path in changed))
    groups: dict[str, tuple[Observation, list[str]]] = {}
    for one, path in changed:
        groups.setdefault(one.key, (one, []))[1].append(path.name)
    done = tuple(
        Activity(
            tool=one.tool[:200] or "edit",
            category="write",
            at=one.at,
            input_summary=", ".join(names)[:ENTRY_LIMIT],
        )
        for one, names in groups.values()
    )
    return msgspec.structs.replace(_track(last, files=files[:_MOST]), activities=done[-_MOST:])


def _track(
    one: Observation,
    *,
    prompt: str | None = None,
    response: str | None = None,
    files: tuple[str, ...] = (),
) -> TrackParams:
    return TrackParams(
        project=one.root,
        session_key=one.session_key,
        harness=one.host,
        prompt=prompt,
        response=response,
        files=files,
        idempotency_key=one.key[:512],
        occurred_at=one.at,
    )


def _recorded(vault: Vault) -> dict[str, datetime]:
    session = timeline.find_active(vault)
    events = vault.sessions.latest(session.session_id, _RECENT) if session else []
    return {
        change.path: event.occurred_at
        for event in sorted(events, key=lambda event: event.occurred_at)
        if event.kind == "save"
        for change in event.files
    }


def _event(save: Save, one: Observation) -> NewEvent:
    name = paths.read(os.fsencode(save.path))
    return NewEvent(
        kind="save",
        occurred_at=save.at,
        source=one.host,
        agent_id=one.host,
        idempotency_key=f"{one.key[:400]}:{name}"[:512],
        files=(FileChange(path=name),),
    )


def _sum_up(vault: Vault, session_key: str, summary: str | None) -> None:
    said = conversations.kept(summary or "")[:SUMMARY] or None
    with vault.transaction():
        talk = participants.find(vault, session_key)
        if talk is not None and talk.summary != said:
            summed = msgspec.structs.replace(talk, summary=said)
            vault.write([vault.conversations.put(talk.session_key, summed)])
