"""Settings: what users may choose, in an editor as `threadline.*` or in a file of their own.

Each has a trust level: how far away a value may come from. What an LSP client answers may stem from the project
that is open, so it counts as the project's, whatever the editor says of it.
"""

from typing import Annotated, Literal

from msgspec import Meta

from protocol.jobs import ProviderName
from protocol.values import Record

Trust = Literal["machine", "user", "project"]
"""`machine`: where data is sent and with which key; `user`: what is recorded, read and kept; `project`: the rest."""
TRUST = "x-trust"
"""What the level is called in the schema."""
MACHINE = Meta(extra_json_schema={TRUST: "machine"})
USER = Meta(extra_json_schema={TRUST: "user"})
PROJECT = Meta(extra_json_schema={TRUST: "project"})
KEY_VARIABLE = r"^(THREADLINE_\w+|\w+_API_KEY)?$"
"""Environment variables that may hold a model's key: no other secret of the environment is ever sent."""


class Settings(Record, frozen=True, kw_only=True):
    """Every choice with its default; a wrong value is reported and the default used."""

    capture_commits: Annotated[bool, USER] = True
    """Record commits as they are made."""
    capture_saves: Annotated[bool, USER] = True
    """Record which files are saved; never what is in them."""
    save_interval_seconds: Annotated[int, Meta(ge=0, le=3600), PROJECT] = 120
    """A file that is saved again within this time is not recorded again."""
    session_hours: Annotated[float, Meta(ge=0.25, le=24), PROJECT] = 4
    """For how long a session takes events after its first."""
    auto_enrich: Annotated[bool, USER] = False
    """Make memory from every session as it closes, without being asked."""
    daily_digest: Annotated[bool, USER] = True
    """Write a note for each past day on which something happened."""
    digest_hour: Annotated[int, Meta(ge=0, le=23), PROJECT] = 3
    """From which hour on a day that is over gets its digest."""
    time_zone: Annotated[str, Meta(min_length=1, max_length=100), PROJECT] = "UTC"
    """Whose days and hours are meant, such as `Europe/Vienna`."""
    model_provider: Annotated[ProviderName, MACHINE] = "rules"
    """Who reads events: our own rules, a model over HTTP, the editor's own model, or an assistant of yours, by the
    name of its command."""
    model_base_url: Annotated[str, Meta(max_length=2000), MACHINE] = ""
    """Where an OpenAI-compatible server answers, such as `http://127.0.0.1:11434/v1`."""
    model_name: Annotated[str, Meta(max_length=200), MACHINE] = ""
    """Which of the server's models is asked."""
    model_key_variable: Annotated[str, Meta(max_length=200, pattern=KEY_VARIABLE), MACHINE] = ""
    """The environment variable with the key, `THREADLINE_…` or `…_API_KEY`; else THREADLINE_MODEL_KEY or the keyring."""
    model_tokens_per_job: Annotated[int, Meta(ge=1000, le=10_000_000), MACHINE] = 200_000
    """What a model may use for one job, questions and answers together."""
    model_tokens_per_day: Annotated[int, Meta(ge=1000, le=100_000_000), MACHINE] = 1_000_000
    """What a model may use in a day (UTC)."""
    continuity_enabled: Annotated[bool, USER] = True
    """Save the state of conversations, so that an assistant survives its context window."""
    prompt_interval: Annotated[int, Meta(ge=1, le=1000), USER] = 10
    """After how many prompts a conversation's state is saved."""
    time_interval_ms: Annotated[int, Meta(ge=1000, le=86_400_000), USER] = 900_000
    """After how much time it is saved, if there was a prompt."""
    max_checkpoints_per_session: Annotated[int, Meta(ge=1, le=1000), USER] = 50
    """How many checkpoints of one conversation are kept; the oldest go."""
    retention_days: Annotated[int, Meta(ge=1, le=3650), USER] = 7
    """For how long checkpoints are kept."""
    turn_retention_days: Annotated[int, Meta(ge=0, le=36_500), USER] = 0
    """For how long the words of conversations can be found; 0 keeps them."""
    recovery_budget_chars: Annotated[int, Meta(ge=200, le=20_000), USER] = 2000
    """The room that is reserved for what an earlier conversation knew."""
    recovery_window_ms: Annotated[int, Meta(ge=60_000, le=604_800_000), USER] = 14_400_000
    """How old a checkpoint may be to be told to the next conversation."""
    idle_flush_ms: Annotated[int, Meta(ge=1000, le=86_400_000), USER] = 600_000
    """After how much time without anything new a conversation's turns and activities are saved."""
    remember_after_turns: Annotated[int, Meta(ge=0, le=1000), USER] = 12
    """After how many prompts an agent is asked to write down what it has learned; 0 for never."""
    remember_at_stop: Annotated[bool, USER] = False
    """Ask it once in a conversation before it stops, too."""
    hover: Annotated[bool, PROJECT] = True
    """Tell what memory is behind the line under the pointer."""
    code_lens: Annotated[bool, PROJECT] = True
    """Tell above a file how many memories and sessions it has."""
    log_level: Annotated[Literal["error", "warning", "info", "debug"], USER] = "info"
    """What is written to the log and shown in the editor's output."""
