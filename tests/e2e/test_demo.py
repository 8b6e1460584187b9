"""`threadline demo`, as a newcomer runs it."""

import os
from pathlib import Path

import pytest

from tests.support import threadline

pytestmark = pytest.mark.slow


def test_a_week_is_shown_and_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K3."""
    places = tmp_path / "places"
    places.mkdir()
    monkeypatch.setenv("TMPDIR", str(places))
    shown = threadline("demo", cwd=tmp_path)
    text = shown.stdout.decode()
    assert shown.returncode == 0, shown.stderr
    assert "Redis was one more service to keep alive" in text
    assert "Never retry a POST without an idempotency key" in text
    assert "http://127.0.0.1:" in text + shown.stderr.decode()
    assert not [*places.iterdir()]
    assert not Path(os.environ["THREADLINE_HOME"]).exists()
