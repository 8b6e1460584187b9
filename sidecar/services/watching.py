"""Watching: what happens to HEAD becomes events, whoever did it, each commit once."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

from protocol.errors import BusyError
from protocol.events import NewEvent
from sidecar.domain import moves, pauses, rewrites, sessions
from sidecar.domain.moves import NOWHERE, Amended, Left, Made, Rebased, Unclear
from sidecar.domain.rewrites import Change
from sidecar.services import recording, rewriting
from sidecar.services.checkouts import Checkout
from sidecar.storage.vault import Vault

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
        """Tell whether anyone looked at this checkout before."""
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
        reading = moves.read(
            found, self._checkout.branch(), is_rebasing=self._checkout.is_rebasing()
        )
        left = self._apply(reading.steps, mark.left, is_recording=is_recording)
        if reading.handled:
            mark = marks[reading.handled - 1]
        mark = msgspec.structs.replace(mark, left=left)
        if mark != known:
            self._vault.write([self._vault.marks.put(self._checkout.name, mark)])

    def _apply(self, steps: Iterable[moves.Step], left: str, *, is_recording: bool) -> str:
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

    def _follow(self, step: moves.Step, left: str) -> None:
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

    def _leave_behind(self, step: moves.Step) -> None:
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
            recording.ingest(self._vault, batch, self.source)

    def _make_after_reset(self, step: Made, left: str) -> None:
        """Store a commit; if it holds what was reset away, it stands for all of that."""
        for event in self._checkout.commits([(step.sha, step.branch)]):
            gone = self._gone(left, step.sha)
            is_squash = gone and self._checkout.is_same_content(left, step.sha)
            if not is_squash or not rewriting.replace(self._vault, event, gone):
                self._record([(step.sha, step.branch)])

    def _amend(self, step: Amended) -> None:
        """Store a commit in the place of the one before, unless that is still on some branch."""
        for event in self._checkout.commits([(step.sha, step.branch)]):
            is_gone = step.earlier in self._checkout.lost(step.earlier)
            if not is_gone or not rewriting.replace(self._vault, event, [step.earlier]):
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
        rewrite = rewrites.match(
            [changes[sha] for sha in gone if sha in changes],
            [changes[sha] for sha, _ in made if sha in changes],
        )
        new = [
            events[sha]
            for sha, _ in made
            if sha in events
            and not rewriting.replace(self._vault, events[sha], rewrite.replaced.get(sha, ()))
        ]
        self._store(self._own(new))
        rewriting.mark(self._vault, rewrite.dropped, dropped=True)
        self._bring_back(after, before)

    def _gone(self, before: str, after: str) -> list[str]:
        if not before:
            return []
        lost = set(self._checkout.lost(before))
        had = self._checkout.between(before, [after]) if lost else ()
        return [listed.sha for listed in had if listed.sha in lost]

    def _own(self, events: Sequence[NewEvent]) -> list[NewEvent]:
        """Pick the commits, of those that were carried along, that are this user's and may be heard of."""
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
            rewriting.mark(self._vault, self._checkout.lost(sha), dropped=True)

    def _bring_back(self, after: str, before: str) -> None:
        """Say of what came back to a branch that it is there again, under the name it has there."""
        if not after:
            return
        back = [listed.sha for listed in self._checkout.between(after, [before])]
        rewriting.mark(self._vault, back, dropped=False)
        lost = rewriting.only_replaced(self._vault, back)
        if lost:
            events = self._checkout.commits([(sha, None) for sha in lost])
            self._place(rewriting.revive(self._vault, events))


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
