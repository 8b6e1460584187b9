"""Turn moves of HEAD into events; follow amended, rebased and dropped commits."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

from protocol.errors import BusyError
from protocol.events import Commit, Event, NewEvent
from sidecar.capture import record as capture_record
from sidecar.capture.rules import head_moves, pauses, sessions
from sidecar.capture.rules.head_moves import NOWHERE, Amended, Change, Left, Made, Rebased, Unclear
from sidecar.capture.rules.sessions import commit_key, keys
from sidecar.code.checkouts import Checkout
from sidecar.privacy import cleaning
from sidecar.storage.vault import Vault


def replace(vault: Vault, new: NewEvent, earlier: Sequence[str]) -> bool:
    """Let a commit stand where the earlier ones stood; False where none of them was recorded."""
    made = cleaning.public_event(new)
    if made is None or made.commit is None:
        return False
    with vault.transaction():
        capture_record.drain(vault)
        records = _records(vault, [*earlier, made.commit.sha])
        if not records:
            return False
        keeper, *gone = records
        commit = msgspec.structs.replace(
            made.commit, replaces=_replaced(made.commit, records, earlier)
        )
        if keeper.commit != commit or gone:
            event = msgspec.structs.replace(
                keeper,
                commit=commit,
                files=made.files,
                idempotency_key=commit_key(commit.sha),
            )
            vault.sessions.replace(event, gone)
    return True


def mark(vault: Vault, shas: Iterable[str], *, dropped: bool) -> None:
    """Say of recorded commits whether any branch still holds them."""
    wanted = set(shas)
    if not wanted:
        return
    with vault.transaction():
        capture_record.drain(vault)
        for record in _records(vault, wanted):
            commit = record.commit
            if commit and commit.sha in wanted and commit.dropped != dropped:
                commit = msgspec.structs.replace(commit, dropped=dropped)
                vault.sessions.replace(msgspec.structs.replace(record, commit=commit), ())


def only_replaced(vault: Vault, shas: Iterable[str]) -> list[str]:
    """Pick the commits that are only remembered as what a dropped one replaced."""
    wanted = set(shas)
    if not wanted:
        return []
    with vault.transaction():
        dropped = _dropped(_records(vault, wanted), wanted)
    return [sha for commit in dropped for sha in commit.replaces if sha in wanted]


def revive(vault: Vault, events: Sequence[NewEvent]) -> list[NewEvent]:
    """Let dropped records be again what they replaced; give the commits that need a record of their own."""
    public = map(cleaning.public_event, events)
    back = {event.commit.sha: event for event in public if event and event.commit}
    others: list[NewEvent] = []
    with vault.transaction():
        for record in _records(vault, back):
            if record.commit is None or not _dropped([record], back):
                continue
            first, *rest = [back[sha] for sha in record.commit.replaces if sha in back]
            others += rest
            known = (*record.commit.replaces, record.commit.sha)
            commit = first.commit and msgspec.structs.replace(
                first.commit, replaces=tuple(sha for sha in known if sha not in back)
            )
            event = msgspec.structs.replace(
                record, commit=commit, files=first.files, idempotency_key=first.idempotency_key
            )
            vault.sessions.replace(event, ())
    return others


def _dropped(records: Iterable[Event], back: Collection[str]) -> list[Commit]:
    commits = [record.commit for record in records if record.commit]
    return [
        commit
        for commit in commits
        if commit.dropped and commit.sha not in back and not set(commit.replaces).isdisjoint(back)
    ]


def _records(vault: Vault, shas: Iterable[str]) -> list[Event]:
    """Read what is recorded of commits, oldest first, also under the names they had before."""
    wanted = {commit_key(sha) for sha in shas}
    sessions = dict.fromkeys(vault.sessions.find(wanted).values())
    found = [
        event
        for session_id in sessions
        for event in vault.sessions.arrivals(session_id)
        if not wanted.isdisjoint(keys(event))
    ]
    return sorted(found, key=lambda event: (event.occurred_at, event.event_id))


def _replaced(made: Commit, records: Iterable[Event], earlier: Iterable[str]) -> tuple[str, ...]:
    known = [
        sha
        for record in records
        if record.commit
        for sha in (*record.commit.replaces, record.commit.sha)
    ]
    return tuple(dict.fromkeys(sha for sha in (*known, *earlier) if sha != made.sha))


_SLACK = timedelta(seconds=2)
"""Git's log counts whole seconds."""


class Watched:
    """One checkout and the vault its commits go to."""

    def __init__(self, vault: Vault, checkout: Checkout, source: str) -> None:
        """Record under this source."""
        self._vault = vault
        self._checkout = checkout
        self.source = source

    @property
    def is_known(self) -> bool:
        """Return whether anyone looked at this checkout before."""
        return self._checkout.name in self._vault.marks

    def begin(self, since: datetime) -> None:
        """Take as known what happened before a moment, unless it is known how far to read."""
        if self.is_known:
            return
        # A repository that was moved has the log it had.
        known = (mark for mark in self._vault.marks.all() if self._checkout.continues(mark))
        mark = next(known, None) or self._checkout.mark(self._vault.clock(), since)
        self._vault.write([self._vault.marks.put(self._checkout.name, mark)])

    def catch_up(self, since: datetime, *, is_recording: bool = True) -> None:
        """Record what HEAD did since it was last looked at; on the first look, since a moment.

        What was done in a pause, or while nothing is to be recorded, is not; but records follow.
        """
        now = self._vault.clock()
        known = self._vault.marks.get(self._checkout.name)
        mark = known or self._checkout.mark(now, since)
        found, marks = self._checkout.moves(mark, now)
        reading = head_moves.read(
            found, self._checkout.branch(), is_rebasing=self._checkout.is_rebasing()
        )
        left = self._apply(reading.steps, mark.left, is_recording=is_recording)
        if reading.handled:
            mark = marks[reading.handled - 1]
        mark = msgspec.structs.replace(mark, left=left)
        if mark != known:
            self._vault.write([self._vault.marks.put(self._checkout.name, mark)])

    def _apply(self, steps: Iterable[head_moves.Step], left: str, *, is_recording: bool) -> str:
        """Do what each step asks for; tell where HEAD was reset from, if nothing was made since."""
        made: list[Made] = []
        known = self._vault.pauses.read()
        for step in steps:
            was_paused = not isinstance(step, Left) and pauses.were_on(known, step.at)
            is_heard = is_recording and not was_paused
            if isinstance(step, Made) and is_heard and left == NOWHERE:
                made.append(step)
                continue
            self._record([(one.sha, one.branch) for one in made])
            made = []
            if is_heard:
                self._follow(step, left)
            else:
                self._leave_behind(step)
            if isinstance(step, Left):
                left = step.before if step.is_reset and step.before != step.after else left
            else:
                left = NOWHERE
        self._record([(one.sha, one.branch) for one in made])
        return left

    def _follow(self, step: head_moves.Step, left: str) -> None:
        """Let the records follow one step."""
        match step:
            case Made():
                self._make_after_reset(step, left)
            case Amended():
                self._amend(step)
            case Rebased():
                self._rebase(step)
            case Unclear():
                self._find_out(step)
            case Left():
                self._leave(step)

    def _leave_behind(self, step: head_moves.Step) -> None:
        """Say what a step that nobody shall hear of has dropped."""
        match step:
            case Made():
                pass
            case Amended():
                self._forsake(step.earlier)
            case Rebased() | Unclear():
                self._forsake(step.before)
            case Left():
                self._leave(step)

    def _record(self, wanted: Sequence[tuple[str, str | None]]) -> None:
        events = self._checkout.commits(wanted) if wanted else []
        self._place(events)
        for commit in (event.commit for event in events if event.commit):
            if len(commit.parents) > 1:
                self._bring_back(commit.sha, commit.parents[0])

    def _place(self, events: Iterable[NewEvent]) -> None:
        """Store commits as of the moment they were made; nobody begins a session between looking and storing."""
        found = list(events)
        try:
            with self._vault.transaction():
                self._store(map(self._dated, found))
        except BusyError:
            self._store(map(self._dated, found))

    def _dated(self, event: NewEvent) -> NewEvent:
        """Place a commit at the moment it was made, not at the one its author claims."""
        commit = event.commit
        if commit is None:
            return event
        moment = commit.committed_at or commit.authored_at
        moment = sessions.sharpen(
            moment, self._vault.sessions.around(moment, moment, self._vault.rule)
        )
        return msgspec.structs.replace(event, occurred_at=moment)

    def _store(self, events: Iterable[NewEvent]) -> None:
        batch = list(events)
        if batch:
            capture_record.ingest(self._vault, batch, self.source)

    def _make_after_reset(self, step: Made, left: str) -> None:
        """Store a commit; if it holds what was reset away, it stands for all of that."""
        for event in self._checkout.commits([(step.sha, step.branch)]):
            gone = self._gone(left, step.sha)
            is_squash = gone and self._checkout.is_same_content(left, step.sha)
            if not is_squash or not replace(self._vault, event, gone):
                self._record([(step.sha, step.branch)])

    def _amend(self, step: Amended) -> None:
        """Store a commit in the place of the one before, unless that is still on some branch."""
        for event in self._checkout.commits([(step.sha, step.branch)]):
            is_gone = step.earlier in self._checkout.lost(step.earlier)
            if not is_gone or not replace(self._vault, event, [step.earlier]):
                self._place([event])

    def _rebase(self, step: Rebased) -> None:
        came_from = self._checkout.came_from(step.branch, step.after, step.at)
        before = came_from or step.before
        made = self._checkout.between(step.after, [step.onto, before])
        self._rewrite(before, step.after, [(one.sha, step.branch) for one in made])

    def _rewrite(self, before: str, after: str, made: Sequence[tuple[str, str | None]]) -> None:
        """Let records follow a history that was written anew."""
        gone = self._gone(before, after)
        events = {
            event.commit.sha: event
            for event in self._checkout.commits([*((sha, None) for sha in gone), *made])
            if event.commit
        }
        patches = self._checkout.patch_ids(events)
        changes = {sha: _change(event, patches.get(sha)) for sha, event in events.items()}
        rewrite = head_moves.match(
            [changes[sha] for sha in gone if sha in changes],
            [changes[sha] for sha, _ in made if sha in changes],
        )
        new = [
            events[sha]
            for sha, _ in made
            if sha in events
            and not replace(self._vault, events[sha], rewrite.replaced.get(sha, ()))
        ]
        self._store(self._own(new))
        mark(self._vault, rewrite.dropped, dropped=True)
        self._bring_back(after, before)

    def _gone(self, before: str, after: str) -> list[str]:
        if not before:
            return []
        lost = set(self._checkout.lost(before))
        had = self._checkout.between(before, [after]) if lost else ()
        return [listed.sha for listed in had if listed.sha in lost]

    def _own(self, events: Sequence[NewEvent]) -> list[NewEvent]:
        own = self._checkout.user_email() if events else None
        known = self._vault.pauses.read()
        return [
            event
            for event in events
            if event.commit
            and own in (None, event.commit.author_email)
            and not pauses.were_on(known, event.commit.authored_at)
        ]

    def _find_out(self, step: Unclear) -> None:
        """Take as made here what this user committed since; the rest came from elsewhere."""
        if step.after == NOWHERE:
            return
        own = self._checkout.user_email()
        made = [
            (listed.sha, step.branch)
            for listed in self._checkout.between(step.after, [step.before])
            if own in (None, listed.committer_email) and listed.committed_at >= step.at - _SLACK
        ]
        if self._gone(step.before, step.after):
            self._rewrite(step.before, step.after, made)
        else:
            self._record(made)
            self._bring_back(step.after, step.before)

    def _leave(self, step: Left) -> None:
        if step.before == step.after:
            return
        if step.is_reset:
            self._forsake(step.before)
        self._bring_back(step.after, step.before)

    def _forsake(self, sha: str) -> None:
        if sha:
            mark(self._vault, self._checkout.lost(sha), dropped=True)

    def _bring_back(self, after: str, before: str) -> None:
        if not after:
            return
        back = [listed.sha for listed in self._checkout.between(after, [before])]
        mark(self._vault, back, dropped=False)
        lost = only_replaced(self._vault, back)
        if lost:
            events = self._checkout.commits([(sha, None) for sha in lost])
            self._place(revive(self._vault, events))


def _change(event: NewEvent, patch: str | None) -> Change:
    commit = event.commit
    assert commit is not None  # noqa: S101  # for the type checker; a commit's event has one
    return Change(
        sha=commit.sha,
        author=f"{commit.author_name} <{commit.author_email}>",
        authored_at=commit.authored_at,
        subject=commit.subject,
        files=frozenset(file.path for file in event.files),
        patch=patch,
    )
