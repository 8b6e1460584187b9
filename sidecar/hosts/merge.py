"""Our entries in a file of somebody else's: put in, replaced, taken out; nothing else is touched."""

from typing import assert_never

from protocol.errors import ConflictError
from sidecar.hosts import jsonc, program, rules_files, toml_tables
from sidecar.hosts.assistant import SIGN
from sidecar.hosts.contents import (
    Content,
    Entry,
    Group,
    Hooks,
    Json,
    Member,
    Path,
    Piece,
    Script,
    Toml,
)

_CHOICES = {"enabled", "disabled"}
"""Members of an entry that are the user's once they are there."""

Data = dict[str, object]


class RefusedError(ConflictError):
    """A file that must stay as it is; the message says why."""


def join(text: str | None, content: Content) -> str:
    """Return a file's text with our entries in it; None stands for a file that is not there."""
    match content:
        case Json():
            return _join_json(text, content)
        case Toml(server=server):
            return _join_toml(text or "", server)
        case Script(text=ours, is_living=is_living):
            if text is not None and text.strip() and SIGN not in text:
                raise RefusedError("there is a file of that name that is not ours")
            return text if text and is_living and rules_files.is_intact(text) else ours
    assert_never(content)


def part(text: str, content: Content) -> str:
    """Return a file's text without our entries; nothing is left of a file that is ours as a whole."""
    match content:
        case Json():
            return _part_json(text, content)
        case Toml(server=server):
            is_ours = _options(toml_tables.dig(toml_tables.read(text), server.path)) is not None
            return toml_tables.drop(text, server.path) if is_ours else text
        case Script():
            return "" if SIGN in text else text
    assert_never(content)


def is_bare(text: str, content: Content) -> bool:
    """Return whether nothing is in a file that anybody would miss."""
    if not isinstance(content, Json):
        return not text.strip("\ufeff \t\r\n")
    if jsonc.find_comments(text):
        return False
    data = _read(text, content)
    for piece in content.pieces:
        if isinstance(piece, Member) and jsonc.is_same(
            toml_tables.dig(data, piece.path), piece.value
        ):
            data = _without(data, piece.path)
    return not data


def _join_json(text: str | None, content: Json) -> str:
    data = _read(text or "", content)
    for piece in content.pieces:
        data = _joined(data, piece)
    return jsonc.write(data) if text is None else _edited(text, data, content)


def _part_json(text: str, content: Json) -> str:
    before = _read(text, content)
    data = before
    for piece in content.pieces:
        data = _parted(data, piece)
    return text if data is before else _edited(text, data, content)


def _edited(text: str, data: Data, content: Json) -> str:
    changed = jsonc.edit(text, data, is_loose=content.is_loose)
    if changed != text and not jsonc.is_same(_read(changed, content), data):
        raise RefusedError(
            "it is written in a way that cannot be changed safely; change it by hand"
        )
    return changed


def _read(text: str, content: Json) -> Data:
    root = jsonc.parse(text, is_loose=content.is_loose)
    if root is None:
        return {}
    if not isinstance(root.value, dict):
        raise RefusedError("it holds a single value where an object should be")
    return root.value


def _joined(data: Data, piece: Piece) -> Data:
    match piece:
        case Entry(path=path, value=value, is_server=is_server):
            overlay = _served if is_server else _overlaid
            return _with(data, path, overlay(toml_tables.dig(data, path), value))
        case Group(path=path, value=value):
            known = toml_tables.dig(data, path)
            if known is not None and not _is_our_group(known, piece.agent):
                raise RefusedError(
                    'there is a group called "threadline" that is not ours; rename it'
                )
            return _with(data, path, {**value, **_choices(known)})
        case Member(path=path, value=value):
            return data if toml_tables.dig(data, path) is not None else _with(data, path, value)
        case Hooks():
            return _join_hooks(data, piece)
    assert_never(piece)


def _parted(data: Data, piece: Piece) -> Data:
    match piece:
        case Entry(path=path, is_server=is_server):
            known = toml_tables.dig(data, path)
            is_ours = known is not None and (not is_server or _options(known) is not None)
            return _without(data, path) if is_ours else data
        case Group(path=path):
            is_ours = _is_our_group(toml_tables.dig(data, path), piece.agent)
            return _without(data, path) if is_ours else data
        case Member():
            return data
        case Hooks():
            return _part_hooks(data, piece)
    assert_never(piece)


def _served(known: object, value: Data) -> Data:
    if known is None:
        return value
    options = _options(known)
    if options is None or not isinstance(known, dict):
        raise RefusedError('there is a server called "threadline" that is not ours; rename it')
    ours = dict(value)
    last = "args" if "args" in ours else "command"
    ours[last] = [*_list(ours[last]), *options]
    return _overlaid(known, ours)


def _options(known: object) -> list[str] | None:
    if not isinstance(known, dict):
        return None
    command = known.get("command")
    words = command if isinstance(command, list) else [command]
    return program.find_options([*words, *_list(known.get("args"))])


def _choices(known: object) -> Data:
    if not isinstance(known, dict):
        return {}
    return {name: value for name, value in known.items() if name in _CHOICES}


def _overlaid(known: object, value: Data) -> Data:
    if not isinstance(known, dict):
        return value
    ours = {
        name: _overlaid(known.get(name), below) if isinstance(below, dict) else below
        for name, below in value.items()
    }
    return {**known, **ours, **_choices(known)}


def _is_our_group(known: object, agent: str) -> bool:
    if not isinstance(known, dict):
        return False
    items = [item for value in known.values() for item in _list(value)]
    return bool(items) and all(_stripped(item, agent) is None for item in items)


def _join_hooks(data: Data, hooks: Hooks) -> Data:
    known = toml_tables.dig(data, hooks.path) if hooks.path else data
    if known is None:
        known = {}
    if not isinstance(known, dict):
        raise RefusedError(f'"{".".join(hooks.path)}" in it is no object')
    changed = dict(known)
    for event in [*known, *(event for event in hooks.events if event not in known)]:
        wanted = hooks.events.get(event)
        items = changed.get(event, [])
        if isinstance(items, list):
            changed = _placed(changed, event, _join_items(items, wanted, hooks.agent))
        elif wanted is not None:
            raise RefusedError(f'"{event}" in it is no list')
    return _with(data, hooks.path, changed) if hooks.path else changed


def _part_hooks(data: Data, hooks: Hooks) -> Data:
    known = toml_tables.dig(data, hooks.path) if hooks.path else data
    if not isinstance(known, dict):
        return data
    changed = dict(known)
    for event, items in known.items():
        if isinstance(items, list):
            changed = _placed(changed, event, _join_items(items, None, hooks.agent))
    if len(changed) == len(known) and all(changed[event] is known[event] for event in known):
        return data
    if not hooks.path:
        return changed
    return _with(data, hooks.path, changed) if changed else _without(data, hooks.path)


def _placed(events: Data, event: str, items: list[object]) -> Data:
    """Put an event's list in its place; one that we have emptied goes."""
    if not items and events.get(event):
        return {name: value for name, value in events.items() if name != event}
    if not items and event not in events:
        return events
    return {**events, event: items}


def _join_items(items: list[object], wanted: Data | None, agent: str) -> list[object]:
    """Return an event's list with our item once, where it was; the same list if nothing changes."""
    found: list[object] = []
    is_placed = False
    for item in items:
        left = _stripped(item, agent)
        if left is item:
            found.append(item)
        elif left is None and wanted is not None and not is_placed:
            found.append(item if jsonc.is_same(item, wanted) else wanted)
            is_placed = True
        elif left is not None:
            found.append(left)
    if wanted is not None and not is_placed:
        found.append(wanted)
    is_known = len(found) == len(items) and all(map(_is_one, found, items))
    return items if is_known else found


def _is_one(item: object, other: object) -> bool:
    return item is other


def _stripped(item: object, agent: str) -> object | None:
    """Return an item without the commands that are ours; None if nothing is left of it."""
    if not isinstance(item, dict):
        return item
    handlers = item.get("hooks")
    if not isinstance(handlers, list):
        return None if _is_ours(item, agent) else item
    left = [handler for handler in handlers if not _is_ours(handler, agent)]
    if len(left) == len(handlers):
        return item
    return {**item, "hooks": left} if left else None


def _is_ours(handler: object, agent: str) -> bool:
    if not isinstance(handler, dict):
        return False
    commands = [handler[name] for name in ("command", "bash", "powershell") if name in handler]
    return bool(commands) and all(
        program.is_hook(command, handler.get("args"), agent) for command in commands
    )


def _with(data: Data, path: Path, value: object) -> Data:
    name, rest = path[0], path[1:]
    if not rest:
        return {**data, name: value}
    below = data.get(name, {})
    if not isinstance(below, dict):
        raise RefusedError(f'"{name}" in it is no object')
    return {**data, name: _with(below, rest, value)}


def _without(data: Data, path: Path) -> Data:
    name, rest = path[0], path[1:]
    below = data.get(name)
    left = _without(below, rest) if rest and isinstance(below, dict) else {}
    others = {key: value for key, value in data.items() if key != name}
    return {key: left if key == name else data[key] for key in data} if left else others


def _join_toml(text: str, server: Entry) -> str:
    value = _served(toml_tables.dig(toml_tables.read(text), server.path), server.value)
    return toml_tables.put(text, server.path, {name: value[name] for name in server.value})


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
