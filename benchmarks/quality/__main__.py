"""How much of what experts listed the rules find: `python -m benchmarks.quality --data FOLDER`.

FOLDER has `conversations.jsonl.gz` (user turns, and what an expert would keep of them) and `sessions.jsonl.gz` (commits,
likewise). An item is found where 55 % of its content words stand in what was made; beside it stand as many sentences
chosen at random. Whether what was made is right needs people: `--list` prints it for them.
"""

import argparse
import gzip
import json
import random
import re
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from protocol.events import Commit, Event
from sidecar.memory.extract.compose import compose
from sidecar.memory.rules.drafts import Draft, Reading
from sidecar.storage import ulids
from sidecar.text import statements

_SHARE = 0.55
_AT = datetime(2026, 1, 1, tzinfo=UTC)
_STEM = 6


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the labels")
    parser.add_argument("--list", action="store_true", help="print what was made, for raters")
    options = parser.parse_args()
    for name, read in (("conversations", _conversation), ("sessions", _session)):
        rows = [read(row) for row in _rows(options.data / f"{name}.jsonl.gz")]
        _report(name, rows, is_listed=options.list)
    return 0


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


Row = tuple[list[str], list[Draft], list[str]]
"""What an expert listed, what the rules made, and all sentences that there are."""


def _conversation(row: dict[str, Any]) -> Row:
    said = [turn["user"] for turn in row["turns"] if turn["user"].strip()]
    readings = [Reading(event=_event(number, text=text)) for number, text in enumerate(said)]
    return [item["text"] for item in row["expert"]], _made(readings), _sentences(said)


def _session(row: dict[str, Any]) -> Row:
    messages = [commit["message"] for commit in row["commits"]]
    readings = [
        Reading(event=_event(number, commit=_commit(commit)))
        for number, commit in enumerate(row["commits"])
    ]
    expert = row["expert"].get("items", ())
    texts = [item["text"] if isinstance(item, dict) else str(item) for item in expert]
    return texts, _made(readings), [message.split("\n", 1)[0] for message in messages]


def _commit(row: dict[str, Any]) -> Commit:
    subject, _, body = row["message"].partition("\n")
    return Commit(
        sha=row["sha"],
        author_name=row.get("author", ""),
        authored_at=_AT,
        subject=subject,
        body=body.strip(),
    )


def _event(number: int, *, text: str | None = None, commit: Commit | None = None) -> Event:
    return Event(
        event_id=ulids.encode(number),
        session_id=ulids.encode(1),
        kind="commit" if commit else "capture",
        occurred_at=_AT,
        recorded_at=_AT,
        source="benchmark",
        text=text,
        commit=commit,
    )


def _made(readings: Sequence[Reading]) -> list[Draft]:
    return [draft for draft in compose("session", readings) if draft.type != "episodic"]


def _sentences(said: Iterable[str]) -> list[str]:
    return [one.text for text in said for one in statements.read(text, "capture")]


def _report(name: str, rows: Sequence[Row], *, is_listed: bool) -> None:
    expert = sum(len(items) for items, _, _ in rows)
    created = [[one for one in made if one.status == "active"] for _, made, _ in rows]
    chance = random.Random(19)  # not for secrets
    drawn = [chance.sample(every, min(len(made), len(every))) for _, made, every in rows]
    print(f"{name}: {expert} items of experts in {len(rows)}")
    print(
        f"  created {sum(map(len, created))}, proposed {sum(len(made) for _, made, _ in rows) - sum(map(len, created))}"
    )
    for label, texts in (
        ("found by what is created", [[one.content for one in made] for made in created]),
        ("found with what is proposed", [[one.content for one in made] for _, made, _ in rows]),
        ("found by as many random sentences", drawn),
    ):
        found = sum(
            _is_found(item, some)
            for (items, _, _), some in zip(rows, texts, strict=True)
            for item in items
        )
        print(f"  {label}: {found / max(expert, 1):.0%}")
    if is_listed:
        for draft in (one for _, made, _ in rows for one in made):
            print(f"{draft.status}\t{draft.rule}\t{draft.content}")


def _is_found(item: str, texts: Iterable[str]) -> bool:
    wanted = _words(item)
    return any(len(wanted & _words(text)) >= _SHARE * len(wanted) for text in texts if wanted)


def _words(text: str) -> set[str]:
    return {word[:_STEM] for word in re.findall(r"\w{3,}", text.lower())} - _COMMON


_COMMON = frozenset(
    ["the", "and", "for", "with", "that", "this", "not", "are", "was", "from", "must", "should"]
)

if __name__ == "__main__":
    sys.exit(main())
