"""Watching: what happens to HEAD becomes events, whoever did it, each commit once."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

from protocol.events import NewEvent
from sidecar.domain import moves, rewrites, sessions
from sidecar.domain.moves import NOWHERE, Amended, Left, Made, Rebased, Unclear
from sidecar.domain.rewrites import Change
from sidecar.services import pausing, recording, rewriting
from sidecar.services.checkouts import Checkout
from sidecar.store.vaults import Vault

_SLACK = timedelta(seconds=2)
"""Git's log counts whole seconds."""


class Watched:
    """One checkout and the vault its commits go to."""

    def __init__(self, vault: Vault, checkout: Checkout, source: str) -> None:
        """Record under this source."""
        self._vault = vault
        self._checkout = checkout
        self.source = source

    def catch_up(self, since: datetime) -> None:
        """Record what HEAD did since it was last looked at; on the first look, since a moment."""
        now = self._vault.clock()
        known = self._vault.marks.get(self._checkout.name)
        mark = known or self._checkout.mark(now, since)
        found, marks = self._checkout.moves(mark, now)
        reading = moves.read(
            found, self._checkout.branch(), is_rebasing=self._checkout.is_rebasing()
        )
        left = self._apply(reading.steps, mark.left)
        if reading.handled:
            mark = marks[reading.handled - 1]
        mark = msgspec.structs.replace(mark, left=left)
        if mark != known:
            self._vault.put_mark(self._checkout.name, mark)

    def begin(self) -> None:
        """Take everything as known that happened before the first look."""
        if self._checkout.name not in self._vault.marks:
            self.pass_over()

    def pass_over(self) -> None:
        """Take what HEAD did as known without recording it."""
        mark = self._checkout.mark(self._vault.clock())
        self._vault.put_mark(self._checkout.name, mark)

    def _apply(self, steps: Iterable[moves.Step], left: str) -> str:
        """Do what each step asks for; tell where HEAD was reset from, if nothing was made since."""
        made: list[Made] = []
        for step in steps:
            if not isinstance(step, Left) and pausing.was_paused(self._vault, step.at):
                continue
            if isinstance(step, Made) and left == NOWHERE:
                made.append(step)
                continue
            self._record([(one.sha, one.branch) for one in made])
            made = []
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
            if isinstance(step, Left):
                left = step.before if step.is_reset and step.before != step.after else left
            else:
                left = NOWHERE
        self._record([(one.sha, one.branch) for one in made])
        return left

    def _record(self, wanted: Sequence[tuple[str, str | None]]) -> None:
        """Store commits as of the moment they were committed."""
        if wanted:
            self._store(self._dated(event) for event in self._checkout.commits(wanted))

    def _dated(self, event: NewEvent) -> NewEvent:
        """Place a commit at the moment it was made, not at the one its author claims."""
        commit = event.commit
        if commit is None:
            return event
        moment = commit.committed_at or commit.authored_at
        moment = sessions.sharpen(moment, self._vault.sessions.timeline())
        return msgspec.structs.replace(event, occurred_at=moment)

    def _store(self, events: Iterable[NewEvent]) -> None:
        batch = list(events)
        if batch:
            recording.ingest(self._vault, batch, self.source)

    def _make_after_reset(self, step: Made, left: str) -> None:
        """Store a commit; if it holds what was reset away, it stands for all of that."""
        for event in self._checkout.commits([(step.sha, step.branch)]):
            gone = [listed.sha for listed in self._checkout.between(left, [step.sha])]
            is_squash = gone and self._checkout.is_same_content(left, step.sha)
            if not is_squash or not rewriting.replace(self._vault, event, gone):
                self._store([self._dated(event)])

    def _amend(self, step: Amended) -> None:
        for event in self._checkout.commits([(step.sha, step.branch)]):
            if not rewriting.replace(self._vault, event, [step.earlier]):
                self._store([self._dated(event)])

    def _rebase(self, step: Rebased) -> None:
        before = self._checkout.came_from(step.branch, step.after) or step.before
        gone = self._checkout.between(before, [step.after]) if before else ()
        made = self._checkout.between(step.after, [step.onto, before])
        self._rewrite(before, [one.sha for one in gone], [(one.sha, step.branch) for one in made])

    def _rewrite(
        self, before: str, gone: Sequence[str], made: Sequence[tuple[str, str | None]]
    ) -> None:
        """Let records follow a history that was written anew."""
        if not gone and not made:
            return
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
        own = self._checkout.user_email()
        for sha, _ in made:
            event = events.get(sha)
            if event is None or rewriting.replace(
                self._vault, event, rewrite.replaced.get(sha, ())
            ):
                continue
            # Others' work that was carried along is not this user's commit.
            if event.commit and event.commit.author_email == own:
                self._store([event])
        if rewrite.dropped:
            lost = set(self._checkout.lost(before))
            rewriting.mark(self._vault, lost.intersection(rewrite.dropped), dropped=True)

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
        gone = self._checkout.between(step.before, [step.after]) if step.before else ()
        if gone:
            self._rewrite(step.before, [one.sha for one in gone], made)
        else:
            self._record(made)

    def _leave(self, step: Left) -> None:
        if step.before == step.after:
            return
        if step.is_reset and step.before:
            rewriting.mark(self._vault, self._checkout.lost(step.before), dropped=True)
        if step.after:
            back = self._checkout.between(step.after, [step.before])
            rewriting.mark(self._vault, [listed.sha for listed in back], dropped=False)


def _change(event: NewEvent, patch: str | None) -> Change:
    commit = event.commit
    assert commit is not None  # noqa: S101  # for the type checker; a commit's event has one
    return Change(
        sha=commit.sha,
        author=f"{commit.author_name} <{commit.author_email}>",
        authored_at=commit.authored_at,
        files=frozenset(file.path for file in event.files),
        patch=patch,
    )
