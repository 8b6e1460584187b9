"""Which assistant or editor a program is, by the names that programs and agents use for themselves."""

import functools

from sidecar.hosts import assistant

_OTHERS = {"neovim": "Neovim", "nvim": "Neovim"}


def find_editor(name: str) -> str:
    """Return the source of an editor's events, by what the editor calls itself; `lsp` for any other."""
    editors = {host.name for host in assistant.find_all() if host.is_editor}
    source = _find(name)
    return source if source in {*editors, "kiro", "neovim"} else "lsp"


def find_program(name: str) -> str:
    """Return the program that an agent runs in, by what it calls itself; `mcp` where it says nothing."""
    lowered = " ".join(name.lower().split())
    return _find(lowered) or lowered[:200] or "mcp"


def is_vscode(source: str) -> bool:
    """Return whether a source is VS Code or made from it."""
    return source == "kiro" or assistant.find(source).is_editor


def find_label(name: str) -> str | None:
    """Return the label of a program, however its name is spelled; None for an unknown one."""
    return _labels().get(_plain(name))


def _find(name: str) -> str | None:
    """Return the source whose name is part of another; forks count before what they are forks of."""
    hosts = sorted(assistant.find_all(), key=lambda host: (host.is_editor, host.name == "vscode"))
    parts = {part: host.name for host in hosts for part in host.client_names}
    known = {"kiro": "kiro", **parts, "neovim": "neovim"}
    return next((source for part, source in known.items() if part in name.lower()), None)


@functools.cache
def _labels() -> dict[str, str]:
    hosts = assistant.find_all()
    names = {_plain(name): host.label for host in hosts for name in (host.name, *host.spellings)}
    return _OTHERS | names


def _plain(name: str) -> str:
    return "".join(sign for sign in name.lower() if sign.isalnum())
