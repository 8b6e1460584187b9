"""Turn a host's message into an observation that has the same shape whichever host sent it."""

import time
from _blake2 import blake2b
from _collections_abc import Iterable, Iterator, Mapping

from sidecar.hosts.assistant import Assistant, Fields, first_text, replace_surrogates
from sidecar.transports.hooks import notation, recognition

Observation = dict[str, object]

FORGOTTEN = "forgotten"
"""The occasion of a conversation that is resumed by a host which has lost our text."""
LONGEST = 100_000
"""Characters of a text that are kept."""
_KEY = 200
_PATH = 4096
_FILES = 50
_OCCASIONS = {"startup", "resume", "clear", "compact", "fork"}
_EDITS = ("write", "edit", "create", "patch", "replace", "insert", "delete", "rename", "move")
_LOOKS = ("read", "view", "search", "grep", "todo", "fetch", "memory")
_FILE_NAMES = (
    *("file_path", "filePath", "path", "file", "notebook_path", "TargetFile", "target_file"),
    *("filename", "absolute_path", "AbsolutePath", "files", "modified_files", "paths"),
    *("edits", "replacements"),
)
_MOVED_NAMES = ("source", "destination", "old_path", "new_path", "oldPath", "newPath")
_ELSEWHERE = ("owner", "repo", "project_id")
"""Arguments of tools that change a file in a repository on another machine."""
_PATCHED = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")


def name(event: str, message: Fields) -> str:
    """Return the host's own name of an event: the message's, or the command line's."""
    names = ("hook_event_name", "hookEventName", "agent_action_name", "hook")
    return first_text(message, names) or event


def observe(
    host: Assistant, event: str, message: Fields, environment: Mapping[str, str]
) -> Observation:
    """Return what a message says; an empty observation where it holds nothing of use."""
    plain = _plain(event)
    kind = next((kind for name, kind in host.events.items() if _plain(name) == plain), "")
    if not kind:
        return {}
    fields = dict(message)
    for part in host.nested_fields:
        inner = message.get(part)
        if isinstance(inner, dict):
            fields.update(inner)
    _spell_both_ways(fields)
    session = host.session_key(fields)
    turn_names = ("prompt_id", "generation_id", "execution_id", "turn_id", "callID")
    transcript_names = ("transcript_path", "transcriptPath", "sessionFile")
    seen: Observation = {
        "host": host.name,
        "event": kind,
        "sessionKey": session if len(session) <= _KEY else digest(session),
        "turn": first_text(fields, turn_names),
        "root": recognition.find_root(host, fields, environment),
        "at": _moment(time.time()),
        **_read(host, kind, event, fields),
        "transcriptPath": first_text(fields, transcript_names, _PATH),
    }
    return seen if _matters(host, seen) else {}


def _spell_both_ways(fields: dict[str, object]) -> None:
    for name, value in list(fields.items()):
        if "_" in name:
            first, *rest = name.split("_")
            fields.setdefault(first + "".join(word.capitalize() for word in rest), value)
        elif not name.islower():
            words = ("_" + letter.lower() if letter.isupper() else letter for letter in name)
            fields.setdefault("".join(words).lstrip("_"), value)


def signature(seen: Fields) -> str:
    """Return a name of what was seen that is the same for a hook that fires twice."""
    names = (
        *("host", "event", "sessionKey", "turn", "occasion"),
        *("files", "prompt", "response", "summary"),
    )
    return digest("\0".join(str(seen.get(name, "")) for name in names))


def key(seen: Fields) -> str:
    """Return the lasting key of what was seen."""
    what = (seen["event"], seen["turn"] or seen["at"], signature(seen))
    return talk(seen) + ":".join(map(str, what))


def talk(seen: Fields) -> str:
    """Return the prefix of the keys of everything seen of a conversation."""
    return f"{seen['host']}:{seen['sessionKey']}:"


def digest(text: str) -> str:
    """Return a short hash of a text."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _plain(event: str) -> str:
    return "".join(letter for letter in event.lower() if letter.isalnum())


def _read(host: Assistant, kind: str, event: str, fields: Fields) -> dict[str, object]:
    """Return what is particular to a kind of event."""
    if kind == "session.start":
        source = first_text(fields, ("source",))
        return {"occasion": source if source in _OCCASIONS else "startup"}
    if kind == "prompt":
        return {"prompt": first_text(fields, ("prompt", "user_prompt"), None) or _parts(fields)}
    if kind == "turn.end":
        names = ("last_assistant_message", "response", "text")
        return {"response": first_text(fields, names, None) or _last_message(fields)}
    if kind == "tool":
        is_edit = _plain(event) in map(_plain, host.edit_events)
        files = list(_files(fields, is_edit=is_edit))
        return {"tool": _tool(fields) or _plain(event), "files": files}
    summary = ("compact_summary", "summary", "custom_instructions", "customInstructions")
    return {"summary": first_text(fields, summary, None)} if kind.startswith("compact") else {}


def _parts(fields: Fields) -> str:
    output = fields.get("output")
    parts = fields.get("parts") or (output.get("parts") if isinstance(output, dict) else None)
    objects = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    texts = [part for part in objects if part.get("type") == "text"]
    return "\n".join(first_text(part, ("text",), None) for part in texts)


def _last_message(fields: Fields) -> str:
    messages = fields.get("messages")
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, dict) and message.get("role") == "assistant":
            content = message.get("content")
            return content if isinstance(content, str) else _parts({"parts": content})
    return ""


def _tool(fields: Fields) -> str:
    return first_text(fields, ("tool_name", "toolName", "tool", "name"))


def _files(fields: Fields, *, is_edit: bool) -> Iterator[str]:
    """Return the files that a tool has changed; none where it failed, or only looked."""
    if _failed(fields):
        return
    tool = _tool(fields).lower()
    if not is_edit and not _edits(tool):
        return
    names = (*_FILE_NAMES, *_MOVED_NAMES) if "move" in tool or "rename" in tool else _FILE_NAMES
    arguments = [given for given in _arguments(fields, is_edit=is_edit) if _changes(given)]
    paths = [path for given in arguments for path in _paths(given, names)]
    yield from list(dict.fromkeys(path for path in paths if 0 < len(path) <= _PATH))[:_FILES]


def _edits(tool: str) -> bool:
    """Return whether a tool changes files, by its name; one of another MCP server has to say so."""
    own = tool.rpartition("__")[2].replace("filesystem", "")
    if "threadline" in tool or (tool.startswith("mcp_") and "file" not in own):
        return False
    looks = any(verb in own and not (verb == "search" and "replace" in own) for verb in _LOOKS)
    return not looks and any(verb in own for verb in _EDITS)


def _changes(given: Fields) -> bool:
    return given.get("command") not in _LOOKS and not any(name in given for name in _ELSEWHERE)


def _failed(fields: Fields) -> bool:
    names = ("tool_response", "tool_result", "toolResult", "output")
    results = [result for name in names if isinstance(result := fields.get(name), dict)]
    outcomes = {str(result.get(key)) for result in results for key in ("resultType", "result_type")}
    is_refused = any(
        result.get("success") is False or result.get("isError") is True for result in results
    )
    return is_refused or bool(outcomes - {"None", "success"}) or bool(fields.get("error"))


def _arguments(fields: Fields, *, is_edit: bool) -> Iterator[Fields]:
    for name in ("tool_input", "toolArgs", "args", "params"):
        given = fields.get(name)
        if isinstance(given, str) and given.startswith("{"):
            given = notation.decode_or_none(given)
        if isinstance(given, dict):
            yield given
    if is_edit:
        yield fields


def _paths(given: Fields, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        value = given.get(name)
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, dict):
                yield first_text(path, ("path", "file_path", "filePath"), _PATH)
            elif isinstance(path, str):
                yield replace_surrogates(path)
    for name in ("input", "patch", "patchText", "command"):
        patch = given.get(name)
        if isinstance(patch, str) and "*** " in patch:
            for line in patch.splitlines():
                for mark in _PATCHED:
                    if line.startswith(mark):
                        yield replace_surrogates(line.removeprefix(mark).strip())


def _matters(host: Assistant, seen: Fields) -> bool:
    event = seen["event"]
    if event == "tool":
        return bool(seen["files"])
    if not seen["sessionKey"]:
        return event == "session.start"
    if event == "turn.end":
        return bool(seen["response"]) or (
            host.is_read_from_transcript and bool(seen["transcriptPath"])
        )
    return event != "prompt" or bool(seen["prompt"]) or "prompt" in host.answered_events


def _moment(seconds: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03d}Z"
