"""What the command line shows to people: tables, facts and progress."""

import contextlib
import io
import re
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from msgspec import UnsetType
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.table import Table

from protocol.capture import CaptureState
from protocol.diagnosis import Diagnosis
from protocol.events import Event
from protocol.forgetting import PurgeReport
from protocol.memories import Memory
from protocol.methods import METHODS, Status
from protocol.projects import LinkedFolder, Standing
from protocol.recall import Found, Hit, SearchResult
from protocol.sessions import Session
from sidecar.projects.progress import Tell
from sidecar.text import characters

TAIL = 8
"""Letters of a session's id that people see and may type."""
_SHA = 10
"""Letters of a commit's id that people see."""

_STATUS = 5
"""The column of a session's status."""
_PIPE_WIDTH = 160
_GLIMPSE = 150
"""Characters of a hit that is not the best."""
_TELLING = 0.1
"""What a signal adds at least if it is named as a reason."""

_BLANKS = re.compile(r"[\n\t]")


class _Screen(Console):
    """Shows nothing hidden, whoever prints: commands to the terminal are rich's own."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(characters.visible(text), style)


_is_watched = sys.stdout is not None and sys.stdout.isatty()
console = _Screen(highlight=False, emoji=False, width=None if _is_watched else _PIPE_WIDTH)
errors = _Screen(stderr=True, highlight=False, emoji=False)
_STYLES = {"active": "bold green", "closed": "default", "compacted": "dim"}


def show_sessions(rows: Sequence[tuple[Session, str]], total: int) -> None:
    """Show sessions, newest first, each with what was last committed in it."""
    names = ("started", "lasted", "events", "files", "source", "status", "id", "last commit")
    _show_table(names, [_session_row(session, headline) for session, headline in rows])
    if total > len(rows):
        console.print(f"[dim]{len(rows)} of {total:,} sessions; --limit shows more[/]")


def show_session(
    session: Session, events: Sequence[Event], total: int, memories: Sequence[Memory] = ()
) -> None:
    """Show one session with its events and what was remembered of it."""
    console.print(
        f"[bold]Session {session.session_id}[/] [{_STYLES[session.status]}]{session.status}[/]"
    )
    console.print(
        f"{local(session.started_at)}, {duration(session.last_event_at - session.started_at)}, "
        f"{plural(session.message_count, 'event')} from {clean(', '.join(session.sources))}\n"
    )
    rows = [
        [local(e.occurred_at), e.kind, _sha(e), plural(len(e.files), "file"), headline(e)]
        for e in events
    ]
    _show_table(("when", "what", "commit", "", ""), rows)
    if total > len(events):
        console.print(f"[dim]the first {len(events)} of {total:,} events[/]")
    if memories:
        console.print("\n[bold]remembered[/]")
        show_memories(memories, len(memories))


def show_memories(memories: Sequence[Memory], total: int) -> None:
    """Show a line for each memory, with what names it in other commands."""
    for memory in memories:
        pin = "pinned " if memory.pinned else ""
        about = f"{pin}{memory.type}, {memory.occurred_at:%Y-%m-%d}"
        doubt = f" [yellow]{memory.verdict}[/]" if memory.verdict in {"changed", "gone"} else ""
        title = f"{clean(clipped(memory.title, 120))} [dim]({about})[/]{doubt}"
        console.print(f"[dim]{memory.memory_id[-TAIL:]}[/]  {title}", soft_wrap=True)
    if total > len(memories):
        console.print(f"[dim]{len(memories)} of {total:,} memories; --limit shows more[/]")


def show_whole_memory(memory: Memory) -> None:
    """Show a memory in full, with the words that prove it."""
    state = "" if memory.status == "active" else f", {memory.status}"
    console.print(f"[bold]{clean(memory.title)}[/]", soft_wrap=True)
    about = f"{memory.type}, {local(memory.occurred_at)}, importance {memory.importance}{state}"
    console.print(f"[dim]{memory.memory_id}: {about}[/]")
    texts = [text for text in (memory.content, memory.rationale) if text and text != memory.title]
    for text in texts:
        console.print(indented(text), soft_wrap=True)
    for file in memory.files:
        console.print(f"  [dim]{clean(characters.shown(file))}[/]", soft_wrap=True)
    for evidence in memory.evidence:
        source = (evidence.commit_sha or "")[:_SHA] or "said"
        console.print(f"  [dim]{source}:[/] {clean(clipped(evidence.quote, 400))}", soft_wrap=True)


def _sha(event: Event) -> str:
    return event.commit.sha[:_SHA] if event.commit else ""


def _session_row(session: Session, headline: str) -> list[str]:
    return [
        local(session.started_at),
        duration(session.last_event_at - session.started_at),
        str(session.message_count),
        str(len(session.files_modified) + session.files_overflow),
        ", ".join(session.sources),
        session.status,
        session.session_id[-TAIL:],
        headline,
    ]


def _show_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Show rows in columns as wide as they need; the last one takes what is left of the line."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    columns = list(zip(names, *rows, strict=True))
    widths = [max(map(cell_len, column)) for column in columns[:-1]]
    for name, width in zip(names, widths, strict=False):
        is_number = name in {"events", "files"}
        table.add_column(
            name, min_width=width, no_wrap=True, justify="right" if is_number else "left"
        )
    left = max(console.width - sum(widths) - 2 * len(widths), 12)
    table.add_column(names[-1], max_width=left, no_wrap=True, overflow="ellipsis")
    for row in rows:
        table.add_row(
            *map(clean, row), style=_STYLES.get(row[_STATUS]) if len(row) > _STATUS else None
        )
    console.print(table, crop=False, soft_wrap=True)


def show_event(event: Event) -> None:
    """Show one event on a line of its own."""
    moment = event.occurred_at.astimezone().strftime("%H:%M:%S")
    sha = f"{_sha(event)}  " if event.commit else ""
    line = f"[dim]{moment}[/]  {event.kind:<7}  [dim]{sha}[/]{clean(headline(event))}"
    if event.commit and event.commit.replaces:
        earlier = ", ".join(sha[:_SHA] for sha in event.commit.replaces)
        line += f" [dim](replaces {earlier})[/]"
    console.print(line, highlight=False, soft_wrap=True)


def capture(state: CaptureState) -> str:
    """Return whether anything is recorded."""
    if not state.paused:
        return "on"
    return "paused" if state.until is None else f"paused until {local(state.until)}"


def show_status(status: Status, *, is_kept: bool = True) -> None:
    """Show a project's memory at a glance."""
    facts = {
        "project": f"{status.name} ({status.project_id})",
        "kept in": status.folder if is_kept else "nothing is kept yet; `threadline init` begins",
        "sessions": f"{status.sessions:,}",
        "events": f"{status.events:,}",
        "from": "" if status.oldest is None else local(status.oldest),
        "to": "" if status.newest is None else local(status.newest),
        "active": "none" if status.active_session is None else status.active_session.session_id,
        "capture": capture(status.capture),
        "size": f"{status.bytes_on_disk / 1_000_000:.1f} MB",
        "memories": f"{status.memories:,}",
        "proposed": f"{status.proposed:,} to review: `threadline review`"
        if status.proposed
        else "",
        "meaning": status.memory_health.semantic_absence or "",
        "stale": _stale(status),
        "waiting": f"{status.waiting} in the inbox" if status.waiting else "",
        "journal": "rollback, since this is a network file system"
        if status.journal != "wal"
        else "",
        "snapshots": ", ".join(map(local, status.snapshots)),
        "damaged": ", ".join(status.damaged_copies),
        "skipped": "\n".join(f"{one.path}: {one.reason} ({one.count:,})" for one in status.skipped),
        "parked": _parked(status.parked_events),
        "late": _late(status),
        "recovered": "\n".join(status.recoveries),
    }
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        if value:
            table.add_row(name, clean(value))
    console.print(table)


def show_diagnosis(diagnosis: Diagnosis) -> None:
    """Show each finding in a line, and below it what mends it."""
    marks = {"ok": "[green]ok[/]", "note": "[yellow]note[/]", "problem": "[red]problem[/]"}
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for finding in diagnosis.findings:
        table.add_row(marks[finding.state], finding.about, clean(finding.text))
        if finding.fix:
            table.add_row("", "", clean(f"→ {finding.fix}"))
    console.print(table)


def show_standing(standing: Standing) -> None:
    """Show which project a folder belongs to, and why."""
    facts = {
        "project": f"{standing.name} ({standing.project_id})",
        "rule": standing.rule,
        "root commit": standing.root or "",
        "remote": standing.remote or "",
    }
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    rows = [*facts.items(), *(("folder", folder) for folder in standing.folders)]
    for name, value in [*rows, *(("why", sentence) for sentence in standing.why)]:
        if value:
            table.add_row(name, clean(value))
    console.print(table)


def show_linked(linked: LinkedFolder) -> None:
    """Say what has become of a folder's link."""
    match linked.outcome:
        case "linked":
            say(f"this folder shares the memory of {linked.name} ({linked.project_id}) from now on")
            if linked.copy:
                say(
                    f"it has brought along {plural(linked.sessions, 'session')} and "
                    f"{plural(linked.memories, 'memory', 'memories')}; a copy of its own memory is {linked.copy}"
                )
            say("`threadline unlink` undoes it")
        case "refused":
            say(f"this folder stays apart from {linked.other}, and nobody asks again")
            say(f"`threadline link {linked.other}` shares that memory after all")
        case "unlinked":
            say(f"this folder has a memory of its own ({linked.project_id}), which is empty")
            say(f"what was recorded here stays in {linked.other}")


def _parked(count: int) -> str:
    what = "events of hooks failed three times and are kept in logs/parked.jsonl"
    return f"{count:,} {what}" if count else ""


def _late(status: Status) -> str:
    if status.last_late_hook is None:
        return ""
    count = plural(status.late_hooks, "hook")
    return f"{count} ran out of time, the last one at {local(status.last_late_hook)}; see logs/hooks.log"


def _stale(status: Status) -> str:
    health = status.memory_health
    parts = [(health.changed, "about changed code"), (health.gone, "about code that is gone")]
    return ", ".join(f"{count} {what}" for count, what in parts if count)


def show_hits(hits: Sequence[Hit], *, is_explained: bool) -> None:
    """Show what answers a question: the best hit in full, a glimpse of each other."""
    for number, hit in enumerate(hits):
        console.print(
            f"[bold]{clean(clipped(hit.title or hit.text, 100))}[/] [dim]({_origin(hit)})[/]{_doubt(hit)}",
            soft_wrap=True,
        )
        if hit.text and hit.title:
            shown = hit.text if not number else clipped(hit.text, _GLIMPSE)
            console.print(f"  {clean(shown)}", soft_wrap=True)
        if not number:
            console.print(f"  [dim]found by {_reasons(hit)}[/]")
        if is_explained:
            why = ", ".join(f"{name} {value:+.2f}" for name, value in hit.why.items())
            console.print(f"  [dim]{hit.score:.2f} = {why}[/]")
    if len(hits) > 1 and not is_explained:
        console.print("[dim]--explain shows how each score is made up[/]")


def _origin(hit: Hit) -> str:
    kind = hit.type if hit.kind == "memory" else f"{hit.kind} {(hit.commit or '')[:10]}".strip()
    reading = "a model's reading" if hit.by_model else ""
    place = "" if isinstance(hit.project, UnsetType) else clean(hit.project)
    facts = [place, kind, clean(hit.author or ""), f"{hit.at:%Y-%m-%d}", reading]
    return ", ".join(filter(None, facts))


def _doubt(hit: Hit) -> str:
    return f" [yellow]{hit.freshness}[/]" if hit.freshness in {"changed", "gone"} else ""


def _reasons(hit: Hit) -> str:
    said = {"words": "its words", "meaning": "what it says", "files": "the files at hand"}
    return ", ".join(text for name, text in said.items() if hit.why.get(name, 0) >= _TELLING)


def show_found(found: SearchResult, limit: int, *, is_explained: bool) -> None:
    """Show memories, the most useful ones first."""
    for one in found.memories:
        _show_memory(one, is_explained=is_explained)
    if found.total > len(found.memories) == limit:
        console.print(
            f"[dim]{len(found.memories)} of {found.total:,} memories; --limit shows more[/]"
        )


def _show_memory(found: Found, *, is_explained: bool) -> None:
    memory = found.memory
    drift = f" [yellow]{memory.verdict}[/]" if memory.verdict in {"changed", "gone"} else ""
    drift += "" if memory.status == "active" else f" [yellow]{memory.status}[/]"
    reading = ", a model's reading" if memory.by_model else ""
    console.print(
        f"[bold]{clean(memory.title)}[/] [dim]({memory.type}, {local(memory.occurred_at)}{reading})[/]{drift}",
        soft_wrap=True,
    )
    if memory.content != memory.title:
        console.print(f"  {clean(clipped(memory.content, 400))}", soft_wrap=True)
    if memory.rationale and memory.rationale not in memory.content:
        console.print(f"  Why: {clean(clipped(memory.rationale, 400))}", soft_wrap=True)
    sources = [one.commit_sha[:10] for one in memory.evidence if one.commit_sha]
    facts = ", ".join(filter(None, [memory.memory_id, " ".join(sources[:3])]))
    console.print(f"  [dim]{facts}[/]")
    if is_explained:
        why = ", ".join(f"{name} {value:+.2f}" for name, value in found.why.items())
        console.print(f"  [dim]{found.score:.2f} = {why}[/]")


def show_report(report: PurgeReport) -> None:
    """Say what was removed, and whether anything of it is left."""
    say(
        f"{plural(report.memories, 'memory', 'memories')} and {plural(report.events, 'event')} changed or "
        f"removed, {plural(report.files_rewritten, 'file')} written anew, {report.files_deleted} deleted"
    )
    if report.verified:
        say(f"searched {plural(report.files_searched, 'file')} again: nothing is left")
    if report.said_elsewhere:
        say(
            "events or other memories say the same words, and still do; `threadline purge` removes those"
        )
    for name in report.remaining:
        complain(f"it still stands in {name}")


def show_diff(diff: str) -> None:
    """Show a unified diff, on standard output, where it can be kept."""
    for line in diff.splitlines():
        style = {"+": "green", "-": "red", "@": "dim"}.get(line[:1], "default")
        console.print(escape(characters.visible(line)), style=style, soft_wrap=True)


def show_methods() -> None:
    """Show the table of methods."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("method", no_wrap=True)
    table.add_column("params", no_wrap=True)
    table.add_column("what it does")
    for method in METHODS:
        table.add_row(method.name, method.params.__name__, method.doc)
    console.print(table)


def speak_utf8(*streams: object) -> None:
    """Let no name or quote fail to be printed: a pipe of Windows, or an old locale, would take few letters."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() not in {
            "utf-8",
            "utf8",
        }:
            # A terminal that speaks another encoding goes on with it, and shows what it can.
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")


def say(message: str) -> None:
    """Tell people something beside the result, where it disturbs no script."""
    errors.print(clean(message), soft_wrap=True)


def complain(message: str) -> None:
    """Tell people what went wrong."""
    errors.print(f"[bold red]threadline:[/] {clean(message)}", soft_wrap=True)


@contextlib.contextmanager
def progress(label: str) -> Iterator[Tell]:
    """Show how far long work is, on a terminal."""
    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=errors, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(label, total=None)

        def tell(done: int, total: int, stage: str = "") -> None:
            bar.update(task, completed=done, total=total, description=stage)

        yield tell


def headline(event: Event) -> str:
    """Say an event in one line."""
    if event.commit is not None:
        return event.commit.subject + (" (dropped)" if event.commit.dropped else "")
    if event.text:
        return event.text.split("\n", 1)[0]
    names = [characters.shown(change.path) for change in event.files]
    return names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def local(moment: datetime) -> str:
    """Write a time as the user's clock shows it."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")


def duration(span: timedelta) -> str:
    """Write a span in hours and minutes."""
    minutes = int(span.total_seconds()) // 60
    return f"{minutes // 60}h {minutes % 60:02d}m" if minutes >= 60 else f"{minutes}m"  # noqa: PLR2004  # minutes in an hour


def plural(count: int, thing: str, things: str = "") -> str:
    """Write a count of things."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {things or thing + 's'}"


def clipped(text: str, limit: int = 120) -> str:
    """Shorten a text to one line, at a word."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rsplit(" ", 1)[0] + "…"


def clean(text: str) -> str:
    """Write text on one line, without what is hidden in it and without the power to change colours."""
    return escape(_BLANKS.sub(" ", characters.visible(text)))


def indented(text: str) -> str:
    """Write a text of several lines below its headline."""
    return "\n".join(f"  {clean(line)}" for line in text.splitlines())
