"""How much of what was needed a recovery holds: `python -m benchmarks.recovery --data FOLDER`.

Each conversation of `FOLDER/quality/conversations.jsonl.gz` is led in a vault of its own, turn by turn, and then cut.
Its `expert` items are what an expert, who had read it, says the next conversation needs. An item is held if most of its
content words (55 % or more, by their first six letters, without small words) stand in the recovery. That judge was
chosen on the even conversations, where it agrees with a person about 80 % of the items; it compares texts fairly, its
shares are not a person's. Beside ours stands what costs nothing: the prompts, cut at 200 characters, newest first.

Rules and judge were tuned on the even conversations; of the odd ones `READ` were looked at before the rules were
written, so the rest of them is told apart.
"""

import argparse
import gzip
import json
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from protocol.checkpoints import TrackParams
from protocol.contexts import ContextParams
from protocol.settings import Settings
from sidecar.capture.rules.sessions import Rule
from sidecar.conversations import checkpoints, turns
from sidecar.conversations.checkpoints import Recollection, Sources
from sidecar.conversations.later import Buffer
from sidecar.conversations.participants import Tools
from sidecar.conversations.rules import signals
from sidecar.conversations.rules.conversations import Who
from sidecar.search.meanings import Meanings
from sidecar.storage.ulids import Ids
from sidecar.storage.vault import Vault

ROOMS = (2_000, 4_000)
CUT = 200
HELD = 0.55
"""The share of an item's content words that a text must have."""
READ = frozenset({1, 5})
"""Odd conversations, by their place in the file, of which items and turns were read before the rules were written."""
_FIRST = 6
_DRAWS, _SEED = 2_000, 7
_FOLDER = Path("/work/app")
_WHO = Who(agent_id="agent", harness="agent", folder=_FOLDER, real_folder=_FOLDER)
_SMALL = frozenset(
    [
        *("the", "and", "are", "for", "not", "with", "that", "this", "from", "has", "have", "was"),
        *("were", "its", "they", "them", "there", "their", "then", "than", "into", "only", "also"),
        *("must", "should", "would", "could", "all", "any", "but", "can", "will", "just", "where"),
        *(
            "when",
            "what",
            "which",
            "who",
            "why",
            "how",
            "does",
            "did",
            "done",
            "each",
            "one",
            "two",
        ),
        *("more", "most", "other", "some", "such", "same", "over", "under", "after", "before"),
        *("between", "because", "about", "been", "being", "use", "used", "uses", "using", "via"),
        *("per", "out", "off", "now", "yet", "very", "own"),
    ]
)

Talk = dict[str, Any]
Texts = list[tuple[Talk, dict[str, str]]]
"""Conversations, each with what is told of it, by the name of who tells and the room."""


def content(text: str) -> set[str]:
    """Return the content words of a text, by their first letters."""
    words = re.findall(r"[^\W_]+", text.casefold())
    return {
        word[:_FIRST]
        for word in words
        if (len(word) > 2 or word.isdigit()) and word not in _SMALL  # noqa: PLR2004  # small words
    }


def is_held(item: str, text: str) -> bool:
    """Tell whether most of an item's content words stand in a text."""
    wanted = content(item)
    return len(wanted & content(text)) >= HELD * len(wanted)


def cut_prompts(talk: Talk, room: int) -> str:
    """Return the prompts, cut, newest first, as many as there is room for."""
    lines: list[str] = []
    for turn in reversed(talk["turns"]):
        line = f"- {' '.join(turn['user'].split())[:CUT]}"
        if sum(map(len, lines)) + len(lines) + len(line) <= room:
            lines.append(line)
    return "\n".join(lines)


def recollect(talk: Talk, folder: Path) -> Recollection | None:
    """Lead a conversation in a vault of its own, and return what is known of it afterwards."""
    now = datetime(2026, 3, 2, 9, tzinfo=UTC)

    def clock() -> datetime:
        return now

    vault = Vault(folder, "project", Ids(clock), Rule())
    buffer = Buffer(start=lambda _run: None)
    tools = Tools(
        settings=Settings(),
        hear=signals.detect,
        meanings=Meanings(lambda: "words are enough here"),
        buffer=buffer,
    )
    try:
        for number, turn in enumerate(talk["turns"]):
            now += timedelta(minutes=1)
            files = tuple(path.replace("\\", "/") for path in turn["edits"])
            said: dict[str, str | None] = {
                "prompt": turn["user"] or None,
                "response": turn["assistant_last"] or None,
            }
            key = f"turn {number}"
            params = TrackParams(session_key="run", idempotency_key=key, files=files, **said)  # type: ignore[arg-type]  # two texts
            turns.track(vault, params, _WHO, tools)
            buffer.flush()
        asked = ContextParams(session_key="run", occasion="compact")
        return checkpoints.recollect(vault, asked, _WHO, Sources(settings=Settings()))
    finally:
        vault.close()


def tell(talks: Sequence[Talk]) -> Texts:
    """Return what is told of each conversation, in each room."""
    told: Texts = []
    with tempfile.TemporaryDirectory() as folder:
        for number, talk in enumerate(talks):
            known = recollect(talk, Path(folder) / str(number))
            texts = {f"cut {room}": cut_prompts(talk, room) for room in ROOMS}
            for room in ROOMS:
                recovery = known.tell(room) if known else None
                texts[f"ours {room}"] = recovery.text if recovery else ""
                assert len(texts[f"ours {room}"]) <= room
            told.append((talk, texts))
    return told


def judged(told: Texts, name: str, place: int) -> list[bool]:
    """Return for each item of a conversation whether a text holds it."""
    talk, texts = told[place]
    return [is_held(item["text"], texts[name]) for item in talk["expert"]]


def share(told: Texts, name: str, places: Sequence[int]) -> float:
    """Return the share of the items that a text holds, over some conversations."""
    held = [one for place in places for one in judged(told, name, place)]
    return sum(held) / len(held)


def interval(told: Texts, room: int, places: Sequence[int]) -> tuple[float, float]:
    """Return between which differences 95 % of resampled sets of conversations lie."""
    chance = random.Random(_SEED)
    differences = sorted(
        share(told, f"ours {room}", drawn) - share(told, f"cut {room}", drawn)
        for drawn in (chance.choices(places, k=len(places)) for _ in range(_DRAWS))
    )
    return differences[_DRAWS // 40], differences[-_DRAWS // 40]


def agreement(talks: Sequence[Talk]) -> float:
    """Return how often the judge says of an earlier recovery what a person said of it."""
    same = [
        is_held(item["text"], talk["recovery_end"]) == bool(item["found_by_recovery"])
        for talk in talks
        for item in talk["expert"]
    ]
    return sum(same) / len(same)


def rows(told: Texts) -> Iterator[str]:
    """Write the table: each part of the data, ours beside the cut prompts."""
    count = len(told)
    parts: dict[str, Callable[[int], bool]] = {
        "odd, never read": lambda place: place % 2 == 1 and place not in READ,
        "odd, all": lambda place: place % 2 == 1,
        "even, tuned on": lambda place: place % 2 == 0,
    }
    yield "| conversations | items | room | prompts cut at 200 | ours | difference in points (95 %) |"
    yield "|---|---|---|---|---|---|"
    for name, is_part in parts.items():
        places = [place for place in range(count) if is_part(place)]
        for room in ROOMS:
            plain, ours = (share(told, f"{one} {room}", places) for one in ("cut", "ours"))
            low, high = interval(told, room, places)
            gain = f"{100 * (ours - plain):+.0f} ({100 * low:+.0f} to {100 * high:+.0f})"
            items = sum(len(told[place][0]["expert"]) for place in places)
            yield f"| {name} ({len(places)}) | {items} | {room:,} | {plain:.0%} | {ours:.0%} | {gain} |"


def read(folder: Path) -> list[Talk]:
    """Read the conversations."""
    with gzip.open(folder / "quality" / "conversations.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main() -> int:
    """Print the figures; say so where there is no data."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument(
        "--data", type=Path, help="folder that holds quality/conversations.jsonl.gz"
    )
    data = parser.parse_args().data
    if data is None or not (data / "quality" / "conversations.jsonl.gz").is_file():
        print("recovery: no data; name its folder with --data")
        return 0
    talks = read(data)
    print(*rows(tell(talks)), sep="\n")
    print(
        f"\nThe judge agrees with a person on {agreement(talks[::2]):.0%} (even), {agreement(talks[1::2]):.0%} (odd)."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
