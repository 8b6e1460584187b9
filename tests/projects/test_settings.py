"""Settings as users write them."""

import pytest

from protocol.settings import Settings
from sidecar.projects.rules import settings


@pytest.mark.parametrize(
    ("raw", "chosen", "problems"),
    [
        (None, {}, 0),
        ({}, {}, 0),
        ({"captureSaves": False}, {"capture_saves": False}, 0),
        ({"threadline.sessionHours": 8}, {"session_hours": 8}, 0),
        ({"sessionHours": 0, "logLevel": "debug"}, {"log_level": "debug"}, 1),
        ({"saveIntervalSeconds": "120"}, {}, 1),
        ({"saveIntervalSeconds": 1e400}, {}, 1),
        ({"captureSave": True}, {}, 1),
        ({"command": ["x"], "python": "", "trace": {}}, {}, 0),
        ([], {}, 0),
        ([1], {}, 1),
        ("on", {}, 1),
    ],
)
def test_what_fits_is_taken_and_the_rest_is_named(
    raw: object, chosen: dict[str, object], problems: int
) -> None:
    found, said = settings.read(raw, Settings())
    assert found == Settings(**chosen)  # type: ignore[arg-type]  # the table names fields
    assert len(said) == problems


def test_a_wrong_value_leaves_the_users_own() -> None:
    own = Settings(session_hours=2)
    found, (problem,) = settings.read({"sessionHours": "long"}, own)
    assert found == own
    assert "2" in problem
