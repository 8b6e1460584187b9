"""Observing: one host's message becomes an observation that looks the same whoever made it."""

import time
from _blake2 import blake2b
from _collections_abc import Iterable, Iterator, Mapping

from sidecar.transports.hooks import hosts, notation

Fields = Mapping[str, object]
Observation = dict[str, object]

FORGOTTEN = "forgotten"
"""The occasion of a conversation that is resumed by a host which did not keep what it was told."""
LONGEST = 100_000
"""Letters of a text that are kept."""
_KEY = 200
_PATH = 4096
_FILES = 50
_EVENTS = {
    "sessionstart": "session.start",
    "sessioncreated": "session.start",
    "userpromptsubmit": "prompt",
    "userpromptsubmitted": "prompt",
    "beforesubmitprompt": "prompt",
    "preuserprompt": "prompt",
    "chatmessage": "prompt",
    "beforepromptbuild": "prompt",
    "preinvocation": "prompt",
    "posttooluse": "tool",
    "afterfileedit": "tool",
    "postwritecode": "tool",
    "toolexecuteafter": "tool",
    "aftertoolcall": "tool",
    "fileedited": "tool",
    "subagentstop": "tool",
    "precompact": "compact.before",
    "beforecompaction": "compact.before",
    "experimentalsessioncompacting": "compact.before",
    "postcompact": "compact.after",
    "postcompaction": "compact.after",
    "aftercompaction": "compact.after",
    "sessioncompacted": "compact.after",
    "stop": "turn.end",
    "agentstop": "turn.end",
    "agentend": "turn.end",
    "afteragentresponse": "turn.end",
    "postcascaderesponse": "turn.end",
    "postcascaderesponsewithtranscript": "turn.end",
    "sessionidle": "turn.end",
    "sessionend": "session.end",
    "sessiondeleted": "session.end",
}
"""What hosts call it, in small letters and without signs, and what it is."""
_OCCASIONS = {"startup", "resume", "clear", "compact", "fork"}
_NESTED = ("tool_info", "input", "event", "ctx", "info", "toolCall")
"""Parts of a message that hold its fields."""
_EDITS = ("write", "edit", "create", "patch", "replace", "insert", "delete", "rename", "move")
_LOOKS = ("read", "view", "search", "grep", "todo", "fetch", "memory")
_FILE_NAMES = (
    *("file_path", "filePath", "path", "file", "notebook_path", "TargetFile", "target_file"),
    *("filename", "absolute_path", "AbsolutePath", "files", "modified_files", "paths"),
    *("edits", "replacements"),
)
_MOVED_NAMES = ("source", "destination", "old_path", "new_path", "oldPath", "newPath")
_ELSEWHERE = ("owner", "repo", "project_id")
"""What a tool is given that changes a file in a repository on another machine."""
_PATCHED = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")


def name(said: str, message: Fields) -> str:
    """Give the host's own name of an event: the message's, or that of the command line."""
    names = ("hook_event_name", "hookEventName", "agent_action_name", "hook")
    return _first(message, names) or said


def observe(host: str, event: str, message: Fields, environment: Mapping[str, str]) -> Observation:
    """Tell what a message says; an empty observation where it says nothing that matters to us."""
    kind = _EVENTS.get(_plain(event), "")
    fields = _flat(message)
    if not kind or (kind == "session.start" and host == "antigravity"):
        return {}
    seen: Observation = {
        "host": host,
        "event": kind,
        "sessionKey": _session(host, fields),
        "turn": _first(fields, ("prompt_id", "generation_id", "execution_id", "turn_id", "callID")),
        "root": hosts.root(host, fields, environment),
        "at": _moment(time.time()),
        **_said(kind, event, fields),
        "transcriptPath": _first(
            fields, ("transcript_path", "transcriptPath", "sessionFile"), _PATH
        ),
    }
    return seen if _matters(host, seen) else {}


def signature(seen: Fields) -> str:
    """Name what was seen so that one hook that fires twice gives one name."""
    names = (
        *("host", "event", "sessionKey", "turn", "occasion"),
        *("files", "prompt", "response", "summary"),
    )
    return digest("\0".join(str(seen.get(one, "")) for one in names))


def key(seen: Fields) -> str:
    """Name what was seen for ever."""
    what = (seen["event"], seen["turn"] or seen["at"], signature(seen))
    return talk(seen) + ":".join(map(str, what))


def talk(seen: Fields) -> str:
    """Say how the names of all that is seen of a conversation begin."""
    return f"{seen['host']}:{seen['sessionKey']}:"


def digest(text: str) -> str:
    """Give a short name for a text."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _plain(event: str) -> str:
    return "".join(letter for letter in event.lower() if letter.isalnum())


def _flat(message: Fields) -> dict[str, object]:
    """Bring the fields of a message's parts to its top."""
    flat = dict(message)
    for part in _NESTED:
        inner = message.get(part)
        if isinstance(inner, dict):
            flat.update(inner)
    return flat


def _session(host: str, fields: Fields) -> str:
    if host == "openclaw":
        both = [_first(fields, (one,)) for one in ("sessionKey", "sessionId")]
        return _bounded("/".join(filter(None, both)))
    names = ("conversation_id", "conversationId", "trajectory_id", "sessionID", "sessionId")
    last = ("id",) if host == "opencode" else ()
    return _bounded(_first(fields, (*names, "session_id", *last), 10_000))


def _bounded(session: str) -> str:
    return session if len(session) <= _KEY else digest(session)


def _said(kind: str, event: str, fields: Fields) -> dict[str, object]:
    """Give what is particular to a kind of event."""
    if kind == "session.start":
        source = _first(fields, ("source",))
        return {"occasion": source if source in _OCCASIONS else "startup"}
    if kind == "prompt":
        return {"prompt": _first(fields, ("prompt", "user_prompt"), None) or _parts(fields)}
    if kind == "turn.end":
        names = ("last_assistant_message", "response", "text")
        return {"response": _first(fields, names, None) or _last_message(fields)}
    if kind == "tool":
        return {"tool": _tool(fields) or _plain(event), "files": list(_files(event, fields))}
    told = ("compact_summary", "summary", "custom_instructions", "customInstructions")
    return {"summary": _first(fields, told, None)} if kind.startswith("compact") else {}


def _parts(fields: Fields) -> str:
    """Join the texts of a message that comes in parts."""
    output = fields.get("output")
    parts = fields.get("parts") or (output.get("parts") if isinstance(output, dict) else None)
    found = [one for one in parts if isinstance(one, dict)] if isinstance(parts, list) else []
    return "\n".join(_first(one, ("text",), None) for one in found if one.get("type") == "text")


def _last_message(fields: Fields) -> str:
    messages = fields.get("messages")
    for one in reversed(messages if isinstance(messages, list) else []):
        if isinstance(one, dict) and one.get("role") == "assistant":
            content = one.get("content")
            return content if isinstance(content, str) else _parts({"parts": content})
    return ""


def _tool(fields: Fields) -> str:
    return _first(fields, ("tool_name", "toolName", "tool", "name"))


def _files(event: str, fields: Fields) -> Iterator[str]:
    """Name the files that a tool has changed; none where it failed, or only looked."""
    if _failed(fields):
        return
    tool = _tool(fields).lower()
    is_told = _plain(event) in {"afterfileedit", "postwritecode", "fileedited", "subagentstop"}
    if not is_told and not _edits(tool):
        return
    names = (*_FILE_NAMES, *_MOVED_NAMES) if "move" in tool or "rename" in tool else _FILE_NAMES
    given = _arguments(fields, is_told=is_told)
    found = [path for one in given if _changes(one) for path in _paths(one, names)]
    yield from list(dict.fromkeys(path for path in found if 0 < len(path) <= _PATH))[:_FILES]


def _edits(tool: str) -> bool:
    """Tell by its name whether a tool changes files; one of another program has to name them."""
    own = tool.rpartition("__")[2].replace("filesystem", "")
    if "threadline" in tool or (tool.startswith("mcp_") and "file" not in own):
        return False
    looks = [one for one in _LOOKS if one in own and not (one == "search" and "replace" in own)]
    return not looks and any(one in own for one in _EDITS)


def _changes(given: Fields) -> bool:
    """Tell by what a tool is given whether it changes a file here: some can do both."""
    return given.get("command") not in _LOOKS and not any(one in given for one in _ELSEWHERE)


def _failed(fields: Fields) -> bool:
    results = [fields.get(one) for one in ("tool_response", "tool_result", "toolResult", "output")]
    told = [one for one in results if isinstance(one, dict)]
    outcomes = {str(one.get(key)) for one in told for key in ("resultType", "result_type")}
    is_refused = any(one.get("success") is False or one.get("isError") is True for one in told)
    return is_refused or bool(outcomes - {"None", "success"}) or bool(fields.get("error"))


def _arguments(fields: Fields, *, is_told: bool) -> Iterator[Fields]:
    for one in ("tool_input", "toolArgs", "args", "params"):
        given = fields.get(one)
        if isinstance(given, str) and given.startswith("{"):
            given = _decoded(given)
        if isinstance(given, dict):
            yield given
    if is_told:
        yield fields


def _decoded(text: str) -> object:
    try:
        return notation.decode(text)
    except ValueError:
        return None


def _paths(given: Fields, names: Iterable[str]) -> Iterator[str]:
    for one in names:
        found = given.get(one)
        for path in found if isinstance(found, list) else [found]:
            if isinstance(path, dict):
                path = _first(path, ("path", "file_path", "filePath"), _PATH)  # noqa: PLW2901
            if isinstance(path, str):
                yield _whole(path)
    for one in ("input", "patch", "patchText", "command"):
        patch = given.get(one)
        if isinstance(patch, str) and "*** " in patch:
            yield from _patched(patch.splitlines())


def _patched(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        for mark in _PATCHED:
            if line.startswith(mark):
                yield _whole(line.removeprefix(mark).strip())


def _matters(host: str, seen: Fields) -> bool:
    """Tell whether anything comes of it."""
    event = seen["event"]
    if event == "tool":
        return bool(seen["files"])
    if not seen["sessionKey"]:
        return event == "session.start"
    if event == "turn.end":
        return bool(seen["response"]) or (host == "copilot" and bool(seen["transcriptPath"]))
    return event != "prompt" or bool(seen["prompt"]) or hosts.listens(host, "prompt")


def _first(fields: Fields, names: Iterable[str], most: int | None = 1000) -> str:
    """Give the first of some fields that is a text."""
    for one in names:
        found = fields.get(one)
        if found and isinstance(found, str):
            return _whole(found if most is None else found[:most])
    return ""


def _whole(text: str) -> str:
    """Give a text that can be written down: half a character is none."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _moment(seconds: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03d}Z"
