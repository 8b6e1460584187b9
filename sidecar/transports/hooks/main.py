"""`threadline hook <agent> [event]`: record what happens in a host's conversation, and answer with context.

A host must never wait for us, nor be stopped by us: whatever happens here, the exit code is 0, nothing but an
answer is written, and the process ends within two seconds.
"""

import gc
import os
import sys
import time
from _collections_abc import Callable, Mapping

from sidecar.hosts import assistant
from sidecar.hosts.assistant import Assistant
from sidecar.storage import spool
from sidecar.transports.hooks import (
    calls,
    cleaning,
    notation,
    observing,
    recognition,
)
from sidecar.transports.hooks.calls import Call
from sidecar.transports.hooks.observing import FORGOTTEN, Observation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sidecar.storage.prepared import Ready

_HARD_STOP = 1.8
"""Seconds after which the process ends, whatever it is doing; the documented limit is two."""
_CHOSEN, _LONGEST = "THREADLINE_HOOK_SECONDS", 60.0
"""Environment variable for more seconds on a slow machine, and the most that is accepted."""
_SWITCH = "THREADLINE_HOOKS"
"""Says `off` in a conversation that is not the user's: we set it where we ask an assistant ourselves."""
_GRACE = 0.1
"""Seconds that a child may overrun its own timer before it is killed."""
_READING = 0.8
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_FILE_TYPE, _PLAIN_FILE = 0o170000, 0o100000
"""As `stat` has them, which a hook would have to load."""
_INPUT, _OUTPUT = 0, 1
_NEEDED: dict[str, tuple[str, ...]] = {
    "session.start": (),
    "prompt": ("prompt",),
    "turn.end": ("response", "transcriptPath"),
    "tool": ("files",),
}
"""Fields of which an observation needs at least one to be kept."""
KEPT, TOLD, DUPLICATE, PAUSED, NOTHING = "kept", "told", "duplicate", "paused", "nothing"
"""What was done at an event, as the log says it."""

Response = tuple[bytes, Callable[[], None]]


def main(words: list[str]) -> int:
    """Run one hook; never returns, so that nothing left behind can delay the end."""
    call = Call(words, is_process=True)
    _end_in(limit(os.environ), call)
    try:
        answer, finish = respond(call, _read, os.environ)
        call.tell_answered()
        # What the host did not receive is given another time.
        if not answer or _write(answer):
            finish()
        else:
            call.end("not heard")
        _look_after(call)
    finally:
        # Whatever else may be raised, such as an interruption: a host that sees another code may stop its user.
        os._exit(0)


def _look_after(call: Call) -> None:
    if call.upkeep is not None:
        from sidecar.transports import upkeep  # noqa: PLC0415  # few events need it

        upkeep.begin(spool.home(os.environ), os.environ, is_due=call.upkeep == "due")


def limit(environment: Mapping[str, str]) -> float:
    """Return after how many seconds a hook ends: the user's choice, or the default."""
    try:
        chosen = float(environment.get(_CHOSEN, ""))
    except ValueError:
        return _HARD_STOP
    return chosen if 0 < chosen <= _LONGEST else _HARD_STOP


def respond(call: Call, read: Callable[[], bytes], environment: Mapping[str, str]) -> Response:
    """Read and answer one message; every failure ends here, in the log.

    The second part of the response is called once the first was written.
    """
    try:
        home = spool.home(environment)
        call.open_log(home)
        answer, finish, done = _respond(call, notation.parse(read()), environment, home)
    except Exception as error:  # noqa: BLE001  # the boundary of the hook
        call.fail(error)
        return call.host.plain_answers.get(call.event, b""), _rest
    if finish is _rest:
        call.end(done)
        return answer, _rest

    def finish_safely() -> None:
        try:
            finish()
        except Exception as error:  # noqa: BLE001  # the same boundary, after the answer
            call.fail(error)
        else:
            call.end(done)

    return answer, finish_safely


def _respond(
    call: Call, message: dict[str, object], environment: Mapping[str, str], home: str
) -> tuple[bytes, Callable[[], None], str]:
    """Return an answer, what is left to do, and a word for what was done."""
    call.host, is_sure = recognition.recognise(call.agent, message, environment)
    event = observing.name(call.event, message)
    plain = call.host.plain_answers.get(event, b"")
    seen = observing.observe(call.host, event, message, environment)
    if not seen or environment.get(_SWITCH) == "off":
        return plain, _rest, NOTHING
    # Only a known name is logged: a message may hold anything in its place.
    call.event = event
    seen["sessionKey"] = cleaning.name(str(seen["sessionKey"]))
    done, occasion, is_new = _hear_if_possible(home, seen)
    if seen["event"] == "session.start" or occasion is not None:
        call.upkeep = "usual"
    if occasion is None:
        aside = _speak_aside(home, seen, message, (event, is_sure)) if done == KEPT else None
        return (plain, _rest, done) if aside is None else (*aside, _in_words(done, TOLD))
    from sidecar.transports.hooks import ready  # noqa: PLC0415  # few events are answered

    asked = {**seen, "told": occasion}
    found = ready.find(home, asked, is_new=is_new)
    if found is None or not found.is_latest:
        call.upkeep = "due"
    if found is not None and found.is_fresh:
        told = _tell_ready(home, asked, (event, is_sure), found)
        return *told, _in_words(done, f"{TOLD} what was ready")
    if found is not None and found.text:
        call.late = _tell_ready(home, asked, (event, is_sure), found)
    if call.is_process:
        _supervise(call, environment)
    told_anew = _tell(home, asked, (event, is_sure), environment)
    if told_anew is None:
        return plain, _rest, done
    return *told_anew, _in_words(done, TOLD)


def _speak_aside(
    home: str, seen: Observation, message: dict[str, object], form: tuple[str, bool]
) -> Response | None:
    """Answer an event at which a conversation is not told all: a prompt, or a stop; None where there is nothing to say."""
    if seen["event"] != "turn.end":
        return _tell_about(home, seen, form)
    from sidecar.transports.hooks import reminding  # noqa: PLC0415  # few events need it

    talk = observing.digest(f"{seen['host']}:{seen['sessionKey']}")
    asked = reminding.at_stop(home, talk, str(seen["host"]), message)
    return (asked, _rest) if asked else None


def _tell_about(home: str, seen: Observation, form: tuple[str, bool]) -> Response | None:
    """Tell a conversation what is known about a prompt; None where nothing surely concerns it."""
    host, (event, is_sure) = assistant.find(str(seen["host"])), form
    is_answered = "prompt" in host.answered_events
    if seen["event"] != "prompt" or not seen["sessionKey"] or not is_answered:
        return None
    from sidecar.transports.hooks import prompts, ready, reminding  # noqa: PLC0415  # few events are answered

    project = ready.find_project(home, os.path.realpath(str(seen["root"])))
    talk = observing.digest(f"{host.name}:{seen['sessionKey']}")
    lines = project and prompts.find(
        f"{home}/projects/{project}/vault.sqlite",
        str(seen["prompt"]),
        str(seen["sessionKey"]),
        spool.told(home, talk),
        ready.find_branch(str(seen["root"])),
    )
    lines = lines or []
    texts = (prompts.write(lines) if lines else "", reminding.at_prompt(home, talk))
    if not any(texts):
        return None
    answer = encode_answer("\n".join(filter(None, texts)), host, event, is_sure=is_sure)
    return answer, lambda: spool.note_told(home, talk, [line.id for line in lines])


def _in_words(done: str, told: str) -> str:
    return told if done == NOTHING else f"{done} and {told}"


def _tell_ready(home: str, seen: Observation, form: tuple[str, bool], found: "Ready") -> Response:
    """Answer with the prepared context; that it was given is recorded by whoever opens the project next."""
    from sidecar.transports.hooks import ready  # noqa: PLC0415  # likewise

    host, (event, is_sure) = assistant.find(str(seen["host"])), form
    talk = observing.digest(f"{host.name}:{seen['sessionKey']}")

    def finish() -> None:
        ready.note(home, seen, found)
        if seen["sessionKey"]:
            spool.note_told(home, talk, ready.name_items(found))
            is_kept = seen["event"] not in host.forgotten_events
            spool.keep_promise(home, talk, is_kept=is_kept)

    if not found.text:
        return host.plain_answers.get(event, b""), _rest
    return encode_answer(ready.say(found, seen), host, event, is_sure=is_sure), finish


def _supervise(call: Call, environment: Mapping[str, str]) -> None:
    """Continue in a child, because the rest reads files of the repository; the child's own timer fires first."""
    from sidecar.transports.hooks import supervising  # noqa: PLC0415  # few events need it

    _end_never()
    end = call.began + limit(environment)
    child = supervising.split(end + _GRACE, lambda why: _answer_late(call, why))
    call.listener = child.tell_answered
    if sys.platform != "win32":
        _end_in(max(0.001, end - time.monotonic()), call)


def _hear_if_possible(home: str, seen: Observation) -> tuple[str, str | None, bool]:
    try:
        return _hear(home, seen)
    except OSError as error:
        # A full disk must not keep a new conversation from its context.
        host, event = assistant.find(str(seen["host"])), seen["event"]
        if event != "session.start" or event not in host.answered_events:
            raise
        return calls.describe(error), str(seen["occasion"]), True


def _hear(home: str, seen: Observation) -> tuple[str, str | None, bool]:
    """Store an observation; return what was done, the occasion of an answer (None for no answer), and whether it is the first."""
    host, event = assistant.find(str(seen["host"])), str(seen["event"])
    talk = observing.digest(f"{host.name}:{seen['sessionKey']}")
    done, line = _line(home, seen)
    if not spool.drop(home, observing.signature(seen), line, phase=_phase(seen, talk)):
        return DUPLICATE, None, False
    can_be_told = host.answered_events and not host.is_answered_after_compaction
    if event.startswith("compact") and can_be_told:
        spool.promise(home, talk)
    return done, *_claim(home, seen, talk)


def _claim(home: str, seen: Observation, talk: str) -> tuple[str | None, bool]:
    """Claim the answer to an event; return its occasion (None for no answer), and whether it is the first."""
    event, session = str(seen["event"]), str(seen["sessionKey"])
    is_start = event == "session.start"
    host = assistant.find(str(seen["host"]))
    is_told = event in host.answered_events or _reads_rules(host, str(seen["root"]))
    if not is_told or not session:
        return (str(seen["occasion"]), True) if is_told and is_start else (None, False)
    if event == "compact.before":
        return "compact", False
    claimed = spool.claim(home, talk, is_start=is_start)
    return claimed and _occasion(seen, claimed), claimed == "new"


def _reads_rules(host: Assistant, root: str) -> bool:
    """Return whether a host reads a file of ours in the project instead of listening.

    Only the beginning of the file is read here; whether we may write it is decided by who opens the application.
    """
    if host.rules is None or not host.rules.is_living:
        return False
    from sidecar.storage.prepared import find_top  # noqa: PLC0415  # few hosts need it

    try:
        # A pipe or a device in its place is not waited for.
        descriptor = os.open(os.path.join(find_top(root), host.rules.path), _FLAGS)
    except OSError:
        return False
    try:
        is_plain = os.fstat(descriptor).st_mode & _FILE_TYPE == _PLAIN_FILE
        return is_plain and assistant.SIGN.encode() in os.read(descriptor, 1024)
    except OSError:
        return False
    finally:
        os.close(descriptor)


def _phase(seen: Observation, talk: str) -> spool.Phase:
    if seen["event"] == "compact.before":
        return f"resumed:{talk}", f"cut:{talk}"
    return (f"cut:{talk}", f"resumed:{talk}") if seen.get("occasion") == "compact" else None


def _occasion(seen: Observation, claimed: str) -> str:
    """Return the occasion of an answer, by what the conversation was given before."""
    event, occasion = str(seen["event"]), str(seen.get("occasion", "startup"))
    if claimed == "owed":
        return "compact"
    is_lost = claimed != "kept" and event in assistant.find(str(seen["host"])).forgotten_events
    return FORGOTTEN if is_lost and occasion == "resume" else occasion


def _line(home: str, seen: Observation) -> tuple[str, bytes | None]:
    """Return what is done with an observation, and its line for the spool without what may not be kept."""
    cleaned = cleaning.clean(seen)
    needed = _NEEDED.get(str(seen["event"]), ("host",))
    if not any(cleaned.get(name) for name in needed):
        return NOTHING, None
    if cleaning.is_paused(home, str(seen["root"])):
        return PAUSED, None
    return KEPT, notation.encode({**cleaned, "key": observing.key(seen)})


def _tell(
    home: str, seen: Observation, form: tuple[str, bool], environment: Mapping[str, str]
) -> Response | None:
    """Answer with a context that is built now; None where there is nothing to say."""
    # The process ends before there is anything worth collecting.
    gc.disable()
    _load_msgspec()
    from sidecar.transports.hooks.starting import Start  # noqa: PLC0415  # heavy, and few events need it

    event, is_sure = form
    start = Start(home, seen, environment)
    if not start.text:
        start.finish()
        return None
    from sidecar.text import characters  # noqa: PLC0415  # a prepared text is clean already

    text = characters.visible(start.text)
    host = assistant.find(str(seen["host"]))
    return encode_answer(text, host, event, is_sure=is_sure), start.finish


def encode_answer(text: str, host: Assistant, event: str, *, is_sure: bool) -> bytes:
    """Return the answer that gives a host a text; in all forms at once where it may be one of several."""
    if is_sure:
        return notation.encode(host.answer(text, event))
    plain: dict[str, object] = {"additionalContext": text, "additional_context": text}
    return notation.encode({**plain, **assistant.claude_answer(text, event)})


def _load_msgspec() -> None:
    """Load msgspec without `typing_extensions`, as where that is not installed.

    It loads the whole of `inspect`, and so takes longer than msgspec itself.
    """
    if "msgspec" in sys.modules or "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # Python's way to say that there is none
    try:
        import msgspec  # noqa: F401, PLC0415  # heavy, and few events need it
    finally:
        del sys.modules["typing_extensions"]


def _rest() -> None:
    """Do nothing."""


def _read() -> bytes:
    return notation.read(_INPUT, _READING)


def _write(answer: bytes) -> bool:
    """Write the answer; return False where the host has closed the pipe."""
    try:
        return os.write(_OUTPUT, answer) == len(answer)
    except OSError:
        return False


def _give_up(call: Call) -> None:
    """End at once; a host that waits gets what was prepared, or its plain answer."""
    try:
        if not call.is_answered:
            call.tell_answered()
            _answer_late(call, "out of time")
        call.end("out of time")
    finally:
        os._exit(0)


def _answer_late(call: Call, why: str) -> None:
    answer, finish = call.late or (call.host.plain_answers.get(call.event, b""), _rest)
    is_heard = _write(answer)
    call.end(f"{why}, {TOLD} what was ready" if call.late else why)
    if call.late and is_heard:
        finish()
    _look_after(call)


def _end_in(seconds: float, call: Call) -> None:
    """End the process after a time, whatever it is doing."""
    if sys.platform == "win32":
        import threading  # noqa: PLC0415  # only needed here

        timer = threading.Timer(seconds, _give_up, (call,))
        timer.daemon = True
        timer.start()
    else:
        import _signal  # type: ignore[import-not-found]  # noqa: PLC0415  # its package takes time to load

        _signal.signal(_signal.SIGALRM, lambda *_: _give_up(call))
        _signal.setitimer(_signal.ITIMER_REAL, seconds)


def _end_never() -> None:
    if sys.platform != "win32":
        import _signal  # noqa: PLC0415  # its package takes time to load

        _signal.setitimer(_signal.ITIMER_REAL, 0)
