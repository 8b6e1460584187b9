"""Whether a draft repeats or updates a memory."""

import re
from typing import Literal

from msgspec import Struct

from protocol.memories import MemoryType
from sidecar.text import words
from sidecar.text.patterns import late
from sidecar.text.patterns import words as split_words

SAME = 0.92
"""Likeness from which two statements without a hard difference are one."""
UPDATE = 0.80
"""Likeness from which a statement about the same subject may replace an older one."""

Relation = Literal["new", "same", "update"]

_SUBJECT = 0.5
_MARK = late(
    r"`[^`\n]{1,200}`"
    r"|[\w.~@-]*/[\w./@*-]+|\b[\w-]+\.[a-z][a-z0-9]{0,4}\b"
    r"|(?<![\w.])[v$€£#]?\d[\w.,:%-]*"
    r"|(?<!\w)--?[a-z][\w-]+|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*|\b[A-Z]{2,}[A-Z0-9]*\b"
    r"|(?P<word>\b[A-Za-z]+(?:-[a-z]+)*\b)"
)
"""Quoted code, paths, numbers, names in code; and words, of which the opposites count."""
NEGATION = late(
    r"\b(?:not|no|never|none|nothing|without|cannot|nor|neither|kein\w*|nicht|nie|ohne|pas|jamais|sans|nunca|sin|não|sem)\b"
    r"|n['\u2019]t\b|不|没|沒|ない|ません",
    re.IGNORECASE,
)
"""Words that turn what is said."""
_COMPARED = late(
    r"\b(\w[\w.-]*)(?=[\s,]+(?:instead of|rather than|over|not|before|after|to|into|by|with|from|than|statt|vor|nach)"
    r"\s+(?:the\s+|a\s+)?(\w[\w.-]*))",
    re.IGNORECASE,
)
LIGHT = frozenset(
    words.count(
        "use used using decide decided decision choose chose make made keep kept set get put take please note remember"
        " want need now also just still currently already team project code thing way always new"
    )
)
"""Words that change nothing in what is said."""
OPPOSITES = split_words(
    "enable disable enabled disabled enables disables true false on off allow deny allowed denied allows forbid forbidden always never before after min max minimum maximum sync async synchronous asynchronous increase decrease increased decreased lower raise lowered raised first last start end begin open closed close opened read write add remove added removed adds removes optional required mandatory internal external public private client server upper left right top bottom ascending descending strict lenient up down more less fewer higher early late left-to-right old new one two three four five six seven eight nine ten eleven twelve hundred thousand once twice thrice daily weekly monthly hourly yearly second seconds minute minutes hour hours day days week weeks month months staging production development test tests debug release monday tuesday wednesday thursday friday saturday sunday"
)
"""Words of which another one of the same kind says something else."""


class Statement(Struct, frozen=True, kw_only=True):
    """What is compared of a draft or a memory."""

    type: MemoryType
    title: str
    content: str
    names: tuple[str, ...] = ()
    """Its entities and files."""


def relate(new: Statement, old: Statement, likeness: float) -> Relation:
    """Return what a new statement is to an older one that is so much like it."""
    if not _text(new).strip() or _turns(new, old):
        return "new"
    if is_changed(new, old):
        return "update"
    return _compare(new, old, likeness) if likeness > UPDATE else "new"


def _compare(new: Statement, old: Statement, likeness: float) -> Relation:
    fresh, known = marks(_text(new)), marks(_text(old))
    if not _follows(known, fresh):
        says_less = _follows(fresh, known) and terms(new) <= terms(old) | LIGHT
        return "same" if likeness > SAME and says_less else "new"
    ours, theirs = terms(new), terms(old)
    if likeness > SAME and fresh == known and ours <= theirs | LIGHT:
        return "same"
    if new.type == old.type and theirs <= ours | LIGHT and _has_same_subject(new, old):
        return "update"
    return "new"


_KINDS = (
    "mysql postgres postgresql mariadb sqlite mongodb oracle cockroachdb dynamodb",
    "redis memcached valkey",
    "npm yarn pnpm bun",
    "pip poetry uv pipenv conda pdm",
    "pytest unittest nose jest vitest mocha jasmine",
    "webpack vite rollup esbuild parcel turbopack",
    "black yapf autopep8 prettier biome",
    "flake8 pylint ruff eslint",
    "jenkins travis circleci buildkite",
    "aws gcp azure heroku hetzner vercel netlify",
    "kafka rabbitmq nats sqs pulsar",
    "json yaml toml xml protobuf msgpack csv",
    "tabs spaces",
    "main master develop trunk",
    "react vue svelte angular solid",
    "flask django fastapi starlette express fastify koa rails",
    "requests httpx aiohttp axios",
    "nginx apache caddy traefik haproxy",
    "md5 sha1 sha-1 sha256 sha-256 sha512 bcrypt argon2 scrypt",
    "merge rebase squash",
    "docker podman",
    "terraform pulumi",
    "rust go python typescript javascript java kotlin",
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays",
    "january february march april may june july august september october november december",
    "one two three four five six seven eight nine ten twelve",
    "hourly daily weekly monthly yearly",
)
"""Words of which one takes another's place: a project that says the second no longer means the first."""
_PLACE = {word: f"<{number}>" for number, line in enumerate(_KINDS) for word in line.split()}
_TOKEN = late(r"[v$€£]?\d[\d.,_]*(?:[a-z%]{1,3}\b)?|[^\W\d][\w'+-]*", re.IGNORECASE)
_BEFORE = split_words(
    "port is are was be to of at within after every than by most least limit timeout maximum minimum max min up until"
    " version python node java php ruby postgres django rust over under about only exactly keep holds allow retry"
)
"""Words after which a number is a value, and not the name of something."""
_UNITS = split_words(
    "mb gb kb tb ms s sec seconds minutes min hours days weeks months years times entries items rows lines workers threads"
    " retries attempts backups copies requests bytes characters letters percent connections users replicas per columns spaces pixels px"
)
_FILLERS = split_words(
    "the a an our we now please it its this that from here on also just should must will"
)


def frame(text: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return what a statement says with its values left out, and the values; None where it names none."""
    tokens = [one.rstrip(".,").lower() for one in _TOKEN.findall(text[:300])]
    shape: list[str] = []
    values: list[str] = []
    for number, token in enumerate(tokens):
        kind = _PLACE.get(token) or ("<number>" if _is_value(tokens, number) else None)
        if kind is not None:
            shape.append(kind)
            values.append(token)
        elif token not in _FILLERS:
            shape.append(token)
    return (tuple(shape), tuple(values)) if values and len(shape) > 1 else None


def _is_value(tokens: list[str], number: int) -> bool:
    if not tokens[number].lstrip("v$€£")[:1].isdigit():
        return False
    before = tokens[number - 1] if number else ""
    after = tokens[number + 1] if number + 1 < len(tokens) else ""
    return before in _BEFORE or after in _UNITS or tokens[number][-1].isalpha()


def frames(statement: Statement) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the frames of a statement's title and content."""
    said = dict.fromkeys((statement.title.strip(), statement.content.strip()))
    return [one for text in said if (one := frame(text)) is not None]


def is_changed(new: Statement, old: Statement) -> bool:
    """Return whether a statement gives another value for what an older one says, and differs in nothing else."""
    return any(
        shape == other and sum(map(str.__ne__, values, others)) == 1
        for shape, values in frames(new)
        for other, others in frames(old)
    )


def marks(text: str) -> tuple[str, ...]:
    """Find what makes a statement the one it is: numbers, paths, names in code, opposites, as they come."""
    found = (
        (mark[0].strip("`.,:;%").lower(), mark["word"] is not None) for mark in _MARK.finditer(text)
    )
    return tuple(mark for mark, is_word in found if not is_word or mark in OPPOSITES)


def _follows(some: tuple[str, ...], all_of_them: tuple[str, ...]) -> bool:
    rest = iter(all_of_them)
    return all(mark in rest for mark in some)


def _turns(new: Statement, old: Statement) -> bool:
    """Return whether one says the other's opposite: by a negation, or by what it puts before what."""
    for said, other in ((new.title, old.title), (new.content, old.content)):
        if len(NEGATION.findall(said)) != len(NEGATION.findall(other)):
            return True
    return reverses(_text(new), _text(old))


def reverses(ours: str, theirs: str) -> bool:
    """Return whether two texts compare the same two things the other way round."""
    pairs, others = _compared(ours), _compared(theirs)
    return any((right, left) in others for left, right in pairs)


def _compared(text: str) -> set[tuple[str, str]]:
    return {(left.lower(), right.lower()) for left, right in _COMPARED.findall(text)}


def _has_same_subject(new: Statement, old: Statement) -> bool:
    if set(new.names) & set(old.names):
        return True
    return _share(set(words.count(new.title)), set(words.count(old.title))) >= _SUBJECT


def _share(ours: set[str], theirs: set[str]) -> float:
    return len(ours & theirs) / len(ours | theirs) if ours and theirs else 0.0


def likeness(ours: frozenset[str], theirs: frozenset[str]) -> float:
    """Compare two sets of terms, for when nothing better is at hand."""
    return len(ours & theirs) / (len(ours) * len(theirs)) ** 0.5 if ours and theirs else 0.0


def terms(statement: Statement) -> frozenset[str]:
    """Return the terms of a statement."""
    return frozenset(words.count(_text(statement)))


def telling(found: frozenset[str]) -> frozenset[str]:
    """Return those of a statement's terms that change what it says."""
    return found - LIGHT


def _text(statement: Statement) -> str:
    """Return all that is said; a content that begins with its title is not said twice."""
    if statement.content.startswith(statement.title):
        return statement.content
    return f"{statement.title}\n{statement.content}"
