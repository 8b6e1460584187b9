"""Judge the model-free enricher: `python -m benchmarks.enrichment`; exits with 1 if a gate is missed."""

import argparse
import sys
from collections.abc import Iterator, Sequence

from benchmarks.enrichment import labels
from benchmarks.enrichment.figures import Figures, Part, ratio, rows, shares
from benchmarks.enrichment.labels import Summary
from benchmarks.enrichment.measuring import ENRICHER, imported, measure
from benchmarks.enrichment.scoring import Expected, Score
from sidecar.memory.rules.drafts import Draft

_SHOWN = 10


def main() -> int:
    """Print the report and tell whether every gate holds."""
    arguments = _parser().parse_args()
    scores = measure(labels.load(), imported(arguments.enricher))
    print("\n".join(_table(shares(scores))))
    if arguments.verbose:
        seen = [each for each in scores if arguments.all or not each.label.is_kept_back]
        print("\n".join(line for each in seen for line in _complaints(each)))
    print("\n".join(_notes(scores)))
    missed = [row for row in rows(scores) if row.is_missed]
    print("\n".join(f"MISSED: {row.what}: {row.ours} of {row.baseline}" for row in missed))
    return int(bool(missed))


def _table(told: dict[str, Figures]) -> Iterator[str]:
    yield f"{'':<42}" + "".join(f"{share:>20}" for share in told)
    yield f"{'sessions':<42}" + "".join(f"{each.sessions:>20}" for each in told.values())
    for what, field in (
        ("precision of content", "precision"),
        ("precision of content and type", "typed_precision"),
        ("the same without summaries", "notes_precision"),
        ("recall of content", "recall"),
        ("recall of content and type", "typed_recall"),
        ("the same without summaries", "notes_recall"),
        ("summaries mention what was accomplished", "accomplished"),
        ("summaries mention what was decided", "decided"),
        ("summaries mention what is open", "open"),
    ):
        parts = [_told(getattr(each, field)) for each in told.values()]
        yield f"{what:<42}" + "".join(f"{part:>20}" for part in parts)
    yield f"{'most drafts for one session':<42}" + "".join(f"{e.most:>20}" for e in told.values())
    yield f"{'rules broken':<42}" + "".join(f"{e.violations:>20}" for e in told.values())


def _told(part: Part) -> str:
    return f"{ratio(part):.2f} ({part[0]}/{part[1]})"


def _complaints(score: Score) -> Iterator[str]:
    wrong = [pair for pair in score.pairs if not pair.is_typed]
    if not (wrong or score.false or score.missed or score.violations):
        return
    yield f"\n{score.label.share}/{score.label.name}: {score.label.about}"
    yield from (f"  broken  {violation}" for violation in score.violations)
    yield from (f"  missed  {_expected(expected)}" for expected in score.missed)
    yield from (f"  false   {_draft(draft)}" for draft in score.false)
    for pair in wrong:
        yield f"  type    {_draft(pair.draft)}  should be {_expected(pair.expected)}"


def _draft(draft: Draft) -> str:
    return f"{draft.type}: {draft.title} | {draft.content}".replace("\n", " / ")


def _expected(expected: Expected) -> str:
    if isinstance(expected, Summary):
        return f"summary with {', '.join(expected.mentions)}"
    return f"{expected.type}: {expected.what} [{', '.join(expected.words)}]"


def _notes(scores: Sequence[Score]) -> Iterator[str]:
    """Show some titles with their summaries, chosen evenly over the set."""
    summaries = [(each.label, each.summary) for each in scores if each.summary]
    step = max(len(summaries) / _SHOWN, 1)
    yield f"\nSummaries to judge, {min(_SHOWN, len(summaries))} of {len(summaries)}:"
    for number in range(min(_SHOWN, len(summaries))):
        label, draft = summaries[int(number * step)]
        yield f"\n{number + 1}. {draft.title}    [{label.share}/{label.name}]"
        yield from (f"   {line}" for line in draft.content.splitlines())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.enrichment", description=__doc__)
    parser.add_argument("--verbose", action="store_true", help="list what is missed and false")
    parser.add_argument(
        "--all", action="store_true", help="list it for the sessions that are kept back, too"
    )
    parser.add_argument(
        "--enricher", default=ENRICHER, metavar="MODULE:FUNCTION", help="default: %(default)s"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
