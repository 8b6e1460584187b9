"""`threadline hook <agent> [event]`: what a host tells of its conversation, and what it is told.

A host must never wait for us, nor be stopped by us: whatever happens here, the exit code is 0, nothing but an
answer is written, and all is over within two seconds.
"""

import gc
import os
import sys
import time
from _collections_abc import Callable, Mapping

from sidecar.storage import spool
from sidecar.transports.hooks import (
    answers,
    calls,
    cleaning,
    hosts,
    notation,
    observing,
    pauses,
    reading,
)
from sidecar.transports.hooks.calls import Call
from sidecar.transports.hooks.observing import FORGOTTEN, Observation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sidecar.storage.prepared import Ready

_HARD_STOP = 1.8
"""Seconds after which the process ends, whatever it is doing; a host is told two at most."""
_CHOSEN, _LONGEST = "THREADLINE_HOOK_SECONDS", 60.0
"""Where a user says how long it may take on a slow machine, and what can be said."""
_SWITCH = "THREADLINE_HOOKS"
"""Says `off` in a conversation that is not the user's: we set it where we ask an assistant ourselves."""
_GRACE = 0.1
"""Seconds by which a child may be later than its own timer says, until it is ended from outside."""
_READING = 0.8
_INPUT, _OUTPUT = 0, 1
_NEEDED: dict[str, tuple[str, ...]] = {
    "session.start": (),
    "prompt": ("prompt",),
    "turn.end": ("response", "transcriptPath"),
    "tool": ("files",),
}
"""Of what an observation needs at least one to be kept."""
KEPT, TOLD, DUPLICATE, PAUSED, NOTHING = "kept", "told", "duplicate", "paused", "nothing"
"""What can be done at an event, as the log has it."""

Response = tuple[bytes, Callable[[], None]]


def main(words: list[str]) -> int:
    """Run one hook; does not return, so that nothing that is left behind can delay the end."""
    call = Call(words, is_process=True)
    _end_in(limit(os.environ), call)
    try:
        answer, finish = respond(call, _read, os.environ)
        call.tell_answered()
        # What a host does not hear any more is told another time.
        if not answer or _write(answer):
            finish()
        else:
            call.end("not heard")
        _look_after(call)
    finally:
        # Whatever else may be raised, such as an interruption: a host that sees another code may stop its user.
        os._exit(0)


def _look_after(call: Call) -> None:
    """Let a process of its own place what hooks have left, and prepare what the next conversation is told."""
    if call.upkeep is not None:
        from sidecar.transports import upkeep  # noqa: PLC0415  # few events need it

        upkeep.begin(spool.home(os.environ), os.environ, is_due=call.upkeep == "due")


def limit(environment: Mapping[str, str]) -> float:
    """Tell after how many seconds a hook ends: as its user wants, or as hosts are told."""
    try:
        chosen = float(environment.get(_CHOSEN, ""))
    except ValueError:
        return _HARD_STOP
    return chosen if 0 < chosen <= _LONGEST else _HARD_STOP


def respond(call: Call, read: Callable[[], bytes], environment: Mapping[str, str]) -> Response:
    """Read and answer one message, whatever it is: the boundary at which every failure ends in the log.

    The second part of the response is what is left to do once the first is given.
    """
    try:
        home = spool.home(environment)
        call.open_log(home)
        answer, finish, done = _respond(call, reading.parse(read()), environment, home)
    except Exception as error:  # noqa: BLE001  # the boundary of the hook
        call.fail(error)
        return answers.plain(call.host, call.event), _rest
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
    """Give an answer, what is left to do, and a word for what was done."""
    call.host, is_sure = hosts.recognise(call.agent, message, environment)
    event = observing.name(call.event, message)
    plain = answers.plain(call.host, event)
    seen = observing.observe(call.host, event, message, environment)
    if not seen or environment.get(_SWITCH) == "off":
        return plain, _rest, NOTHING
    # Only a name that we know is one: a message may hold anything in its place.
    call.event = event
    seen["sessionKey"] = cleaning.name(str(seen["sessionKey"]))
    done, occasion, is_new = _hear_if_possible(home, seen)
    if seen["event"] == "session.start" or occasion is not None:
        call.upkeep = "usual"
    if occasion is None:
        reminder = _remind(home, seen, message, (event, is_sure)) if done == KEPT else None
        return reminder or plain, _rest, done
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


def _remind(
    home: str, seen: Observation, message: dict[str, object], form: tuple[str, bool]
) -> bytes | None:
    """Ask an agent to write down what it has learned, after some prompts or before it stops; None where it is not time."""
    host, (event, is_sure) = str(seen["host"]), form
    is_prompt = seen["event"] == "prompt" and hosts.listens(host, "prompt")
    if not seen["sessionKey"] or not (is_prompt or seen["event"] == "turn.end"):
        return None
    from sidecar.transports.hooks import reminding  # noqa: PLC0415  # few events need it

    talk = observing.digest(f"{host}:{seen['sessionKey']}")
    if not is_prompt:
        return reminding.at_stop(home, talk, host, message) or None
    text = reminding.at_prompt(home, talk)
    return answers.tell(text, host, event, is_sure=is_sure, is_clean=True) if text else None


def _in_words(done: str, told: str) -> str:
    return told if done == NOTHING else f"{done} and {told}"


def _tell_ready(home: str, seen: Observation, form: tuple[str, bool], found: "Ready") -> Response:
    """Tell a conversation what was prepared for it; that it was told is written down by whoever opens the project next."""
    from sidecar.transports.hooks import ready  # noqa: PLC0415  # likewise

    host, (event, is_sure) = str(seen["host"]), form
    talk = observing.digest(f"{host}:{seen['sessionKey']}")

    def finish() -> None:
        ready.note(home, seen, found)
        if seen["sessionKey"]:
            is_kept = not hosts.forgets(host, str(seen["event"]))
            spool.keep_promise(home, talk, is_kept=is_kept)

    if not found.text:
        return answers.plain(host, event), _rest
    text = ready.say(found, seen)
    return answers.tell(text, host, event, is_sure=is_sure, is_clean=True), finish


def _supervise(call: Call, environment: Mapping[str, str]) -> None:
    """Let a child do the rest, which reads files that are not ours; its own timer rings first."""
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
        # What cannot be kept, on a full disk perhaps, keeps nobody from telling a conversation that begins.
        host, event = str(seen["host"]), seen["event"]
        if event != "session.start" or not hosts.listens(host, "session.start"):
            raise
        return calls.describe(error), str(seen["occasion"]), True


def _hear(home: str, seen: Observation) -> tuple[str, str | None, bool]:
    """Keep what was seen; say what was done, on which occasion the host is to be told something, and whether for the first time.

    Where it is told nothing, the occasion is None.
    """
    host, event = str(seen["host"]), str(seen["event"])
    talk = observing.digest(f"{host}:{seen['sessionKey']}")
    done, line = _line(home, seen)
    if not spool.drop(home, observing.signature(seen), line, phase=_phase(seen, talk)):
        return DUPLICATE, None, False
    if event.startswith("compact") and hosts.must_wait(host):
        spool.promise(home, talk)
    return done, *_claim(home, seen, talk)


def _claim(home: str, seen: Observation, talk: str) -> tuple[str | None, bool]:
    """Take it upon us to tell a conversation something; name the occasion, None where there is none, and whether it is the first."""
    host, event, session = str(seen["host"]), str(seen["event"]), str(seen["sessionKey"])
    is_start = event == "session.start"
    is_told = hosts.listens(host, event) or _reads_rules(host, str(seen["root"]))
    if not is_told or not session:
        return (str(seen["occasion"]), True) if is_told and is_start else (None, False)
    if event == "compact.before":
        return "compact", False
    claimed = spool.claim(home, talk, is_start=is_start)
    return claimed and _occasion(seen, claimed), claimed == "new"


def _reads_rules(host: str, root: str) -> bool:
    if not hosts.is_mute(host):
        return False
    from sidecar.transports.hooks import rules  # noqa: PLC0415  # few hosts need it

    return rules.are_kept(host, root)


def _phase(seen: Observation, talk: str) -> spool.Phase:
    """Name what an event ends and begins: whoever goes on after a compaction may be compacted again at once."""
    if seen["event"] == "compact.before":
        return f"resumed:{talk}", f"cut:{talk}"
    return (f"cut:{talk}", f"resumed:{talk}") if seen.get("occasion") == "compact" else None


def _occasion(seen: Observation, claimed: str) -> str:
    """Name the occasion on which a conversation is told something, by what it was told before."""
    event, occasion = str(seen["event"]), str(seen.get("occasion", "startup"))
    if claimed == "owed":
        return "compact"
    is_lost = claimed != "kept" and hosts.forgets(str(seen["host"]), event)
    return FORGOTTEN if is_lost and occasion == "resume" else occasion


def _line(home: str, seen: Observation) -> tuple[str, bytes | None]:
    """Write an observation as one line, without what may not be kept; say what is done with it."""
    cleaned = cleaning.clean(seen)
    needed = _NEEDED.get(str(seen["event"]), ("host",))
    if not any(cleaned.get(one) for one in needed):
        return NOTHING, None
    if pauses.are_on(home, str(seen["root"])):
        return PAUSED, None
    return KEPT, notation.encode({**cleaned, "key": observing.key(seen)})


def _tell(
    home: str, seen: Observation, form: tuple[str, bool], environment: Mapping[str, str]
) -> Response | None:
    """Tell a conversation what it should know; None where there is nothing to tell."""
    # All ends before there would be anything worth collecting.
    gc.disable()
    _load_msgspec()
    from sidecar.transports.hooks.starting import Start  # noqa: PLC0415  # heavy, and few events need it

    event, is_sure = form
    start = Start(home, seen, environment)
    if not start.text:
        start.finish()
        return None
    answer = answers.tell(start.text, str(seen["host"]), event, is_sure=is_sure)
    return answer, start.finish


def _load_msgspec() -> None:
    """Load msgspec without `typing_extensions`, for which `typing` stands in, as everywhere where it is not installed.

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
    """Have nothing left to do."""


def _read() -> bytes:
    return reading.read(_INPUT, _READING)


def _write(answer: bytes) -> bool:
    """Give the host its answer; False where it has stopped listening."""
    try:
        return os.write(_OUTPUT, answer) == len(answer)
    except OSError:
        return False


def _give_up(call: Call) -> None:
    """End at once; a host that waits for a plain answer gets it."""
    try:
        if not call.is_answered:
            call.tell_answered()
            _answer_late(call, "out of time")
        call.end("out of time")
    finally:
        os._exit(0)


def _answer_late(call: Call, why: str) -> None:
    """Give the host what was last prepared for it, or else its plain answer; what has changed is looked after at once."""
    answer, finish = call.late or (answers.plain(call.host, call.event), _rest)
    is_heard = _write(answer)
    call.end(f"{why}, {TOLD} what was ready" if call.late else why)
    if call.late and is_heard:
        finish()
    _look_after(call)


def _end_in(seconds: float, call: Call) -> None:
    """End the process after a time, from outside of whatever it is doing."""
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
    """Stop the timer: who only waits has a deadline of its own."""
    if sys.platform != "win32":
        import _signal  # noqa: PLC0415  # its package takes time to load

        _signal.setitimer(_signal.ITIMER_REAL, 0)
