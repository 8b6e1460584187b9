r"""Regular expressions that anybody may write: read in time that grows with the text alone.

Python's own engine tries one way after the other, which an expression such as `(a+)+b` can make last for years.
Here all ways are followed at once, letter by letter, and what was found out is remembered. Understood are
letters, `.`, `[classes]`, `\d \w \s` and their opposites, `^`, `$` (of every line), `\b`, `\B`, groups, `|`,
`*`, `+`, `?` and `{1,9}`; case does not count, and a blank stands for any blanks. What needs a way back
(`\1`, `(?=…)`) is not understood.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Literal

from msgspec import Struct

LONGEST = 200
"""Letters of an expression."""
_LARGEST = 300
"""Steps of a program; `{1,9}` needs as many copies of what it repeats."""
_KEPT = 2_000
"""Answers that are remembered of one expression."""
_END = ""
"""The letter behind the last."""
_CLASSES: dict[str, Callable[[str], bool]] = {
    "d": str.isdecimal,
    "w": lambda letter: letter.isalnum() or letter == "_",
    "s": str.isspace,
}
_NAMED = {"n": "\n", "t": "\t", "r": "\r"}
_REPEATS = {"*": (0, None), "+": (1, None), "?": (0, 1)}

Kind = Literal["letter", "split", "begin", "end", "edge", "inside", "found"]
State = tuple[frozenset[int], str]
"""Where all ways stand, and the letter they have just passed."""


class Step(Struct, frozen=True):
    """One step of a program."""

    kind: Kind
    accepts: Callable[[str], bool] | None = None
    to: tuple[int, ...] = ()
    """How many steps further the ways on are; a program can stand anywhere in another."""


_BLANK = Step("letter", str.isspace)
_SIGNS = {
    ".": Step("letter", lambda letter: letter != "\n"),
    "^": Step("begin"),
    "$": Step("end"),
}
Program = tuple[Step, ...]
"""The way on is behind the last step."""


class UnreadableError(ValueError):
    """It is no expression that we understand."""


class Expression:
    """An expression that is ready to be looked for."""

    def __init__(self, text: str) -> None:
        """Read it, or raise UnreadableError."""
        self._steps = _compile(text)
        self._known: dict[tuple[State, str], State | None] = {}

    def is_in(self, text: str) -> bool:
        """Tell whether the expression is found anywhere in a text."""
        state: State = (frozenset(), "\n")
        for letter in (*text.lower(), _END):
            following = self._known.get((state, letter), ...)
            if following is ...:
                following = self._remember(state, letter)
            if following is None:
                return True
            state = following
        return False

    def _remember(self, state: State, letter: str) -> State | None:
        if len(self._known) >= _KEPT:
            self._known.clear()
        found = self._known[state, letter] = self._follow(state, letter)
        return found

    def _follow(self, state: State, letter: str) -> State | None:
        """Take every way one letter further; None where one has arrived."""
        after: set[int] = set()
        for number in self._reached(state, letter):
            step = self._steps[number]
            if step.kind == "found":
                return None
            if letter != _END and step.accepts is not None and step.accepts(letter):
                after.add(number + 1)
        return frozenset(after), letter

    def _reached(self, state: State, letter: str) -> Iterator[int]:
        """Go through all steps that need no letter; a new way begins at each one."""
        ways, before = state
        waiting, seen = [0, *ways], set[int]()
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            step = self._steps[number]
            if step.kind == "split":
                waiting += [number + way for way in step.to]
            elif step.kind in ("letter", "found"):
                yield number
            elif _holds(step.kind, before, letter):
                waiting.append(number + 1)


@functools.lru_cache(maxsize=256)
def read(text: str) -> Expression | None:
    """Make an expression ready; None where it is too long or not understood."""
    if len(text) > LONGEST:
        return None
    try:
        return Expression(text)
    except (UnreadableError, RecursionError):
        return None


def _holds(kind: Kind, before: str, letter: str) -> bool:
    """Tell whether a place between two letters is what it should be."""
    if kind == "begin":
        return before == "\n"
    if kind == "end":
        return letter in ("\n", _END)
    is_edge = _CLASSES["w"](before) != _CLASSES["w"](letter)
    return is_edge if kind == "edge" else not is_edge


def _compile(text: str) -> Program:
    reader = _Reader(_lowered(text))
    program = reader.alternatives()
    if reader.rest or len(program) > _LARGEST:
        raise UnreadableError(text)
    return (*program, Step("found"))


def _lowered(text: str) -> str:
    """Write letters small, but not those that a backslash makes special."""
    return "".join(
        one if before == "\\" else one.lower()
        for before, one in zip(_quoted(text), text, strict=True)
    )


def _quoted(text: str) -> Iterator[str]:
    """Give for each letter the backslash that stands before it, if that is not quoted itself."""
    is_quoted = False
    for letter in text:
        yield "\\" if is_quoted else ""
        is_quoted = letter == "\\" and not is_quoted


class _Reader:
    """Reads an expression from left to right."""

    def __init__(self, text: str) -> None:
        self.rest = text.removeprefix("(?i)")

    def alternatives(self) -> Program:
        found = [self._sequence()]
        while self._take("|"):
            found.append(self._sequence())
        return functools.reduce(_either, found)

    def _sequence(self) -> Program:
        program: Program = ()
        while self.rest and self.rest[0] not in "|)":
            program += self._repeated(self._atom())
            if len(program) > _LARGEST:
                raise UnreadableError("too many steps")
        return program

    def _repeated(self, atom: Program) -> Program:
        least, most = self._bounds()
        if (least, most) == (1, 1):
            return atom
        self._take("?")
        if len(atom) * max(least, most or 0) > _LARGEST:
            raise UnreadableError("too many steps")
        more = _any_number(atom) if most is None else _up_to(atom, most - least)
        return atom * least + more

    def _bounds(self) -> tuple[int, int | None]:
        if self.rest[:1] in _REPEATS:
            return _REPEATS[self._next()]
        inside, closed, rest = self.rest[1:].partition("}")
        least, comma, most = inside.partition(",")
        is_count = self.rest.startswith("{") and closed and _is_number(least)
        if not is_count or not (most == "" or _is_number(most)):
            return 1, 1
        self.rest = rest
        upper = (int(most) if most else None) if comma else int(least)
        if upper is not None and upper < int(least):
            raise UnreadableError("the bounds are the wrong way round")
        return int(least), upper

    def _atom(self) -> Program:
        letter = self._next()
        match letter:
            case "(":
                return self._group()
            case "[":
                return (Step("letter", self._class()),)
            case "\\":
                return self._escaped()
            case "*" | "+" | "?" | "{" | "}" | "]":
                raise UnreadableError(f"{letter} has nothing before it")
        if letter.isspace():
            self.rest = self.rest.lstrip()
            return (_BLANK, *_any_number((_BLANK,)))
        return (_SIGNS.get(letter) or Step("letter", letter.__eq__),)

    def _group(self) -> Program:
        if self.rest.startswith("?") and not self._take("?:"):
            raise UnreadableError("only (?:…) is known")
        program = self.alternatives()
        if not self._take(")"):
            raise UnreadableError("a group is not closed")
        return program

    def _escaped(self) -> Program:
        letter = self._next()
        if letter in "bB":
            return (Step("edge" if letter == "b" else "inside"),)
        return (Step("letter", _meant(letter)),)

    def _class(self) -> Callable[[str], bool]:
        is_inverse = self._take("^")
        parts: list[Callable[[str], bool]] = []
        while not parts or not self._take("]"):
            parts.append(self._member())
        if is_inverse:
            return lambda one: not any(part(one) for part in parts)
        return lambda one: any(part(one) for part in parts)

    def _member(self) -> Callable[[str], bool]:
        first = self._next()
        if first == "\\":
            return _meant(self._next())
        if not self.rest.startswith("-") or self.rest.startswith("-]"):
            return first.__eq__
        self._take("-")
        last = self._next()
        if last == "\\" or last < first:
            raise UnreadableError("a range goes upwards, from letter to letter")
        return lambda one: first <= one <= last

    def _take(self, what: str) -> bool:
        is_there = self.rest.startswith(what)
        self.rest = self.rest.removeprefix(what)
        return is_there

    def _next(self) -> str:
        if not self.rest:
            raise UnreadableError("it ends too early")
        letter, self.rest = self.rest[0], self.rest[1:]
        return letter


def _meant(letter: str) -> Callable[[str], bool]:
    """Tell what a letter after a backslash stands for."""
    known = _CLASSES.get(letter.lower())
    if known is not None:
        return known if letter.islower() else lambda one: not known(one) and one != "\n"
    if letter in _NAMED:
        return _NAMED[letter].__eq__
    if letter.isalnum():
        raise UnreadableError(f"\\{letter} is not known")
    return letter.__eq__


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < len("1000")


def _any_number(atom: Program) -> Program:
    """Go round as often as one likes, or not at all."""
    size = len(atom)
    return (Step("split", to=(1, size + 2)), *atom, Step("split", to=(-size - 1,)))


def _up_to(atom: Program, times: int) -> Program:
    """Go through at most this often."""
    program: Program = ()
    for _ in range(times):
        program = (Step("split", to=(1, 1 + len(atom) + len(program))), *atom, *program)
    return program


def _either(one: Program, other: Program) -> Program:
    """Go one way or the other."""
    first = Step("split", to=(1, len(one) + 2))
    return (first, *one, Step("split", to=(len(other) + 1,)), *other)
