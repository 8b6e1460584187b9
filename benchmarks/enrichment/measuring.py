"""Measuring: the enricher that is asked for reads every labelled session."""

import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

from benchmarks.enrichment import labels
from benchmarks.enrichment.figures import rows
from benchmarks.enrichment.labels import Label
from benchmarks.enrichment.scoring import Compose, Score, score
from benchmarks.timing import Row

ENRICHER = "sidecar.memory.extract.compose:compose"


def enrich(_folder: Path) -> Iterator[Row]:
    """Tell how good the memories are that are made without a model; needs no folder."""
    return rows(measure(labels.load(), imported(ENRICHER)))


def measure(read: Iterable[Label], compose: Compose) -> tuple[Score, ...]:
    """Let the enricher read every session."""
    return tuple(score(label, compose) for label in read)


def imported(name: str) -> Compose:
    """Import a function by `module:name`."""
    module, _, function = name.partition(":")
    return cast("Compose", getattr(importlib.import_module(module), function))
