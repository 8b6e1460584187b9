"""`threadline completion`: scripts that complete commands, options and their values, made from the one table of commands.

The scripts hold all words themselves, so that pressing Tab starts nothing.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence

from sidecar.transports.cli import parser
from sidecar.transports.exits import Exit

SHELLS = ("bash", "zsh", "fish")


class _Command:
    """The words of one command."""

    def __init__(self, summary: str, described: argparse.ArgumentParser) -> None:
        actions = [
            action
            for action in described._actions  # noqa: SLF001  # argparse has no other way to list them
            if action.help != argparse.SUPPRESS
        ]
        self.summary = summary
        self.options = {
            name: action for action in actions for name in action.option_strings if name[:2] == "--"
        }
        places = [action for action in actions if not action.option_strings and action.choices]
        self.words = [str(choice) for action in places for choice in action.choices or ()]

    def values(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield the options whose values are known, with these."""
        for name, action in self.options.items():
            if action.choices:
                yield name, [str(choice) for choice in action.choices]

    def takes(self) -> list[str]:
        """Return the options that are followed by a value of the user's own, such as a file."""
        return [name for name, action in self.options.items() if action.nargs != 0]


def main(words: Sequence[str]) -> int:
    """Print the script of a shell."""
    built = parser.build()
    options = built.parse_args(words)
    commands = _commands(built)
    writers = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    sys.stdout.write("\n".join(writers[options.shell](commands)) + "\n")
    return Exit.OK


def _commands(built: argparse.ArgumentParser) -> dict[str, _Command]:
    summaries = parser.summaries(built)
    return {name: _Command(summaries[name], one) for name, one in parser.table(built).items()}


def _bash(commands: Mapping[str, _Command]) -> Iterator[str]:
    yield from (
        "# Completes threadline in bash: `threadline completion bash > ~/.local/share/bash-completion/completions/threadline`",
        "_threadline() {",
        '  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=""',
        "  COMPREPLY=()",
        "  if [ $COMP_CWORD -eq 1 ]; then",
        f'    words="{" ".join(commands)}"',
        '  else case "${COMP_WORDS[1]},$before" in',
    )
    for name, command in commands.items():
        for option, values in command.values():
            yield f'    {name},{option}) words="{" ".join(values)}" ;;'
        known = {option for option, _ in command.values()}
        others = [f"{name},{option}" for option in command.takes() if option not in known]
        if others:
            yield f"    {'|'.join(others)}) return ;;"
    yield '    *) case "${COMP_WORDS[1]}" in'
    for name, command in commands.items():
        yield f'      {name}) words="{" ".join([*command.words, *command.options])}" ;;'
    yield from (
        "    esac ;;",
        "  esac; fi",
        '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
        "}",
        "complete -o default -F _threadline threadline",
    )


def _zsh(commands: Mapping[str, _Command]) -> Iterator[str]:
    yield from (
        "#compdef threadline",
        '# Completes threadline in zsh: `threadline completion zsh > "${fpath[1]}/_threadline"`',
        "_threadline() {",
        "  if (( CURRENT == 2 )); then",
        "    local -a commands",
        "    commands=(",
    )
    for name, command in commands.items():
        yield f"      {_quote(name + ':' + command.summary.replace(':', ' -'))}"
    yield from (
        "    )",
        "    _describe command commands",
        "    return",
        "  fi",
        '  case "$words[2],$words[CURRENT-1]" in',
    )
    for name, command in commands.items():
        for option, values in command.values():
            yield f"    {name},{option}) compadd -- {' '.join(values)}; return ;;"
        known = {option for option, _ in command.values()}
        others = [f"{name},{option}" for option in command.takes() if option not in known]
        if others:
            yield f"    {'|'.join(others)}) _files; return ;;"
    yield from ("  esac", '  case "$words[2]" in')
    for name, command in commands.items():
        yield f"    {name}) compadd -- {' '.join([*command.words, *command.options])} ;;"
    yield from ("  esac", "  _files", "}", "compdef _threadline threadline")


def _fish(commands: Mapping[str, _Command]) -> Iterator[str]:
    yield "# Completes threadline in fish: `threadline completion fish > ~/.config/fish/completions/threadline.fish`"
    yield "complete -c threadline -n __fish_use_subcommand -f"
    for name, command in commands.items():
        summary = _quote(command.summary)
        yield f"complete -c threadline -n __fish_use_subcommand -a {name} -d {summary}"
        seen = f"complete -c threadline -n '__fish_seen_subcommand_from {name}'"
        if command.words:
            yield f"{seen} -a {_quote(' '.join(command.words))}"
        known = dict(command.values())
        for option, action in command.options.items():
            value = f" -x -a {_quote(' '.join(known[option]))}" if option in known else ""
            value = value or (" -r" if action.nargs != 0 else "")
            yield f"{seen} -l {option[2:]} -d {_quote(action.help or '')}{value}"


def _quote(text: str) -> str:
    """Quote a text for a shell; no text of ours needs an apostrophe, which fish and zsh write differently."""
    return "'" + text.replace("\\", "").replace("'", "") + "'"
