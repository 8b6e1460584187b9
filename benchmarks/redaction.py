"""How well secrets are found, what is taken for one, and how long the worst text takes.

`python -m benchmarks.redaction [--data FOLDER]` prints it; with a folder of real histories also how many of
their commit messages are changed.
"""

import argparse
import gzip
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random

import msgspec

from benchmarks import leaks
from benchmarks.histories import Commit
from benchmarks.leaks import HELD_OUT, PLAIN, Leak
from benchmarks.lookalikes import LOOKALIKES
from benchmarks.timing import Row, in_words
from benchmarks.tokens import FORMS
from sidecar.privacy.redaction import redact

SIZE = 256 * 1024
_SERIES = 5
"""Instances of a kind in each of its surroundings."""
_SECONDS = 0.250
_AGAIN = 3
_FRAGMENTS = (
    *("A_key:", "pwd=abcdef ", "secret is ", "token ", "password=", "'token', '", "--token a1 "),
    *("密码", "密码\uff1aabc123", "://", "://a:", "://a1", "@", "sk-", "sk-a1-", "eyJaaaaaaaaaa-"),
    *("eyJaaaaaaaaaa.eyJ", "-----BEGIN ", "-----BEGIN PRIVATE KEY", "-----END ", "cookie: a="),
    *("Authorization: ", "Bearer ", "mysql -", "login -", " -u a:", "?key=", "&sig=", "$6$", "A."),
    *("A/", "A..", "_-", "a b ", "}", "é", "İ", "a1B2c3D4e5F6g7H8", "[REDACTED]", "\n", '"', "`"),
)
"""What patterns begin with or stop at."""

Make = Callable[[str, Random], Leak]


def measure(data: Path | None = None) -> Iterator[Row]:
    """Report what is found, what is taken for a secret, and the worst time."""
    for name, surroundings in (("", PLAIN), (", other surroundings", HELD_OUT)):
        yield _found(f"provider tokens{name}", FORMS, token, surroundings, 0.98)
        yield _found(f"by place{name}", leaks.PLACES, leaks.place, surroundings, 0.90)
        yield _found(f"by word{name}", leaks.WORDS, leaks.word, surroundings, 0.90)
        yield _found(f"by foreign word{name}", leaks.FOREIGN, leaks.foreign, surroundings, 0.90)
    yield _changed(f"look-alikes of {len(LOOKALIKES)} kinds", list(_lookalikes()), 0.02)
    if data is not None:
        yield _changed("real commit messages", list(_messages(data)), 0.002)
    yield _worst()


def missed(
    kinds: Iterable[str], make: Make, surroundings: Iterable[str], seed: str = ""
) -> tuple[list[str], int]:
    """Redact invented secrets; gives the texts in which one can still be read, and how many there were."""
    readable: list[str] = []
    total = 0
    for kind in kinds:
        for surrounding in surroundings:
            for number in range(_SERIES):
                secret, text = make(kind, Random(f"{seed} {kind} {surrounding} {number}"))
                whole = surrounding.format(text)
                total += 1
                if leaks.survives(secret, redact(whole)):
                    readable.append(whole)
    return readable, total


def fragments(count: int, seed: int = 1) -> Iterator[str]:
    """Give what to fill a text with to make redaction slow: every fragment, then some by chance."""
    yield from _FRAGMENTS
    chance = Random(seed)
    for _ in range(count):
        yield "".join(chance.choices(_FRAGMENTS, k=chance.randrange(2, 5)))


def seconds(fragment: str, size: int = SIZE) -> float:
    """Time the redaction of a text full of one fragment: the processor's time; a bad one is taken again."""
    text = (fragment * (size // len(fragment) + 1))[:size]
    best = _timed(text)
    for _ in range(_AGAIN):
        if best > _SECONDS / 2:
            best = min(best, _timed(text))
    return best


def _timed(text: str) -> float:
    begun = time.process_time()
    redact(text)
    return time.process_time() - begun


def token(kind: str, chance: Random) -> Leak:
    """Invent a token that stands alone."""
    secret = leaks.token(kind, chance)
    return secret, secret


def _found(
    what: str, kinds: Iterable[str], make: Make, surroundings: Iterable[str], least: float
) -> Row:
    readable, total = missed(kinds, make, surroundings)
    share = 1 - len(readable) / total
    return _row(
        f"secrets found, {what}",
        f"{share:.2%} of {total:,}",
        f"≥ {least:.0%}",
        is_missed=share < least,
    )


def _changed(what: str, texts: list[str], most: float) -> Row:
    share = sum(redact(text) != text for text in texts) / len(texts)
    return _row(
        f"changed, {what}",
        f"{share:.3%} of {len(texts):,}",
        f"≤ {most:.1%}",
        is_missed=share > most,
    )


def _worst() -> Row:
    worst = max(map(seconds, fragments(100)))
    return _row(
        f"worst time for {SIZE // 1024} KB",
        in_words(worst),
        f"≤ {in_words(_SECONDS)}",
        is_missed=worst > _SECONDS,
    )


def _row(what: str, ours: str, gate: str, *, is_missed: bool) -> Row:
    verdict = "MISSED" if is_missed else "holds"
    return Row(what, ours, "", "", gate, verdict, is_missed=is_missed)


def _lookalikes() -> Iterator[str]:
    for kind, make in LOOKALIKES.items():
        for number in range(_SERIES):
            text = make(Random(f"{kind} {number}"))
            yield text
            yield f"see {text} for more"


def _messages(data: Path) -> Iterator[str]:
    for path in sorted((data / "histories").glob("*.jsonl.gz")):
        with gzip.open(path) as lines:
            for line in lines:
                commit = msgspec.json.decode(line, type=Commit)
                yield f"{commit.subject}\n\n{commit.body}"


def main() -> int:
    """Print the rows, and tell whether every gate holds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.redaction")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="FOLDER/histories/*.jsonl.gz")
    rows = list(measure(parser.parse_args().data))
    for row in rows:
        print(f"{row.what:<58} {row.ours:>20}  {row.gate:<10} {row.verdict}")
    return int(any(row.is_missed for row in rows))


if __name__ == "__main__":
    sys.exit(main())
