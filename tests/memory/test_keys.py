"""A key is found where its user put it, and nowhere else."""

import sys
import threading
import time
from collections.abc import Iterator

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked

from sidecar.memory.llm import keys
from sidecar.memory.llm.keys import Key, NoKey

BASE = "https://api.example.org:8443/v1"
FAKE = "sk" + "-" + "Zq81" * 8


class Keyring(KeyringBackend):
    """A keyring in memory, with the moods of real ones."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # keyring leaves it untyped
        self.kept: dict[tuple[str, str], str] = {}
        self.mood: Exception | None = None
        self.open = threading.Event()
        self.open.set()
        self.asked = 0

    def get_password(self, service: str, username: str) -> str | None:
        self.asked += 1
        self.open.wait(10)
        if self.mood is not None:
            raise self.mood
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


@pytest.fixture
def ring() -> Iterator[Keyring]:
    before = keyring.get_keyring()
    own = Keyring()
    keyring.set_keyring(own)
    yield own
    own.open.set()
    keyring.set_keyring(before)


def find(**environment: str) -> Key | NoKey:
    return keys.find(BASE, variable="OPENAI_API_KEY", environment=environment, patience=1)


def test_our_own_variable_comes_first(ring: Keyring) -> None:
    """Part of C6."""
    keyring.set_password("threadline", "api.example.org", "kept")
    found = find(THREADLINE_MODEL_KEY=f" {FAKE}\n", OPENAI_API_KEY="other")
    assert found == Key(FAKE, "the environment variable THREADLINE_MODEL_KEY")
    assert ring.asked == 0


def test_the_variable_of_the_settings_comes_second(ring: Keyring) -> None:
    """Part of C6."""
    found = find(THREADLINE_MODEL_KEY=" ", OPENAI_API_KEY=FAKE)
    assert found == Key(FAKE, "the environment variable OPENAI_API_KEY")
    assert ring.asked == 0


def test_the_keyring_comes_last_and_keeps_a_key_for_each_host(ring: Keyring) -> None:
    """Part of C6."""
    keyring.set_password("threadline", "api.example.org", FAKE)
    assert find() == Key(FAKE, "the keyring, as threadline / api.example.org")
    elsewhere = keys.find("https://evil.example.net/v1", environment={}, patience=1)
    assert isinstance(elsewhere, NoKey)
    assert ring.asked == 2


def test_a_key_is_not_shown_by_mistake(ring: Keyring) -> None:
    """Part of C6."""
    assert FAKE not in repr(find(THREADLINE_MODEL_KEY=FAKE))
    ring.mood = RuntimeError(FAKE)
    assert FAKE not in repr(find())


@pytest.mark.parametrize(
    ("mood", "said"),
    [
        (None, "neither the environment nor the keyring has a key for api.example.org"),
        (KeyringLocked("no prompt here"), "the keyring cannot be read (KeyringLocked)"),
        (OSError("no bus"), "the keyring cannot be read (OSError)"),
    ],
)
def test_a_missing_key_says_why_and_the_way_out(
    ring: Keyring, mood: Exception | None, said: str
) -> None:
    """Part of C6."""
    ring.mood = mood
    assert find() == NoKey(
        f"{said}; set OPENAI_API_KEY, or run `keyring set threadline api.example.org`"
    )


def test_a_keyring_that_waits_for_its_user_is_not_waited_for(ring: Keyring) -> None:
    """Part of C6."""
    ring.open.clear()
    begun = time.monotonic()
    found = keys.find(BASE, environment={}, patience=0.2)
    assert time.monotonic() - begun < 20
    assert isinstance(found, NoKey)
    assert "did not answer in 0.2 s" in found.reason


def test_a_keyring_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    found = find()
    assert isinstance(found, NoKey)
    assert "`keyring` is not installed" in found.reason
