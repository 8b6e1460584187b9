"""The server still says what the transcripts say it says."""

from pathlib import Path

import pytest

from protocol.methods import METHODS
from tests import replays

NAMES = sorted(path.name for path in replays.TRANSCRIPTS.glob("*.jsonl"))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_transcript_is_what_the_server_says_today(name: str, tmp_path: Path) -> None:
    lines = replays.read(replays.TRANSCRIPTS / name)
    assert [*replays.play(lines, tmp_path)] == lines


def test_every_method_has_its_transcript() -> None:
    said = [
        line["message"].get("method")
        for name in NAMES
        for line in replays.read(replays.TRANSCRIPTS / name)[1:]
    ]
    assert {method.name for method in METHODS} <= set(said)
