"""The embedding model is the one that is known: same numbers, checked files, told when it is missing."""

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from sidecar.search.embeddings import bert, weights
from sidecar.search.embeddings import model as embeddings_model
from sidecar.search.embeddings.model import Absence, Model
from sidecar.search.rules.similarities import DIMENSION
from tests.support import ROOT

pytestmark = pytest.mark.slow

REFERENCE = {
    "This is an example sentence": (0.0676, 0.0635, 0.0487, 0.0793, 0.0374),
    "Each sentence is converted": (0.0864, 0.1027, 0.0054, 0.0020, -0.0100),
}
"""How the vectors of all-MiniLM-L6-v2 begin, as published with it."""


@pytest.fixture(scope="module")
def model() -> Model:
    found = embeddings_model.load()
    assert isinstance(found, Model), found
    return found


@pytest.fixture(scope="module")
def vocabulary() -> bert.Vocabulary:
    folder = weights.find()
    assert folder is not None
    return bert.read_vocabulary(folder / weights.VOCABULARY)


@pytest.mark.parametrize("text", REFERENCE)
def test_a_vector_is_the_published_one(model: Model, text: str) -> None:
    """Part of C7. A real local embedding model, whose weights come with a package."""
    vector = model.embed([text])[0]
    assert vector[:5] == pytest.approx(REFERENCE[text], abs=1e-4)
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_other_words_of_the_same_meaning_are_nearer_than_the_same_words(model: Model) -> None:
    one, same, other = model.embed(
        [
            "How can I cancel my order?",
            "What is the way to call off a purchase?",
            "In order to win, the team can play",
        ]
    )
    assert one @ same > 0.5
    assert one @ other < 0.3


def test_a_batch_gives_what_single_texts_give(model: Model) -> None:
    texts = ["short", "", "a text that is quite a bit longer than the others are " * 9, "lock"]
    together = model.embed(texts)
    alone = np.concatenate([model.embed([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-5


def test_no_texts_give_no_vectors(model: Model) -> None:
    assert model.embed([]).shape == (0, DIMENSION)


def test_a_very_long_text_is_cut(model: Model, vocabulary: bert.Vocabulary) -> None:
    assert len(bert.encode("word " * 100_000, vocabulary)) == bert.LONGEST
    assert np.isfinite(model.embed(["x" * 1_000_000])).all()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World!", ["hello", ",", "world", "!"]),
        ("naïve Café", ["naive", "cafe"]),
        ("unaffable", ["una", "##ffa", "##ble"]),
        ("snake_case", ["snake", "_", "case"]),
        ("a\u4e2d\u6587b", ["a", "\u4e2d", "\u6587", "b"]),
        ("tab\tnew\nline\u00a0wide\u200bzero\x00", ["tab", "new", "line", "wide", "##zer", "##o"]),
        ("\U0001f980", ["[UNK]"]),
        ("x" * 101, ["[UNK]"]),
        ("", []),
    ],
)
def test_a_text_is_cut_into_the_pieces_of_the_vocabulary(
    text: str, expected: list[str], vocabulary: bert.Vocabulary
) -> None:
    found = [piece for word in bert.words(text) for piece in bert.pieces(word, vocabulary)]
    assert found == expected
    numbers = [vocabulary[piece] for piece in ("[CLS]", *expected, "[SEP]")]
    assert bert.encode(text, vocabulary) == numbers


def test_batches_hold_every_text_once_and_little_padding() -> None:
    lengths = [3, 256, 4, 256, 3, 100, 255, 254, 2, 2048]
    found = embeddings_model.batches(lengths)
    assert sorted(row for rows in found for row in rows) == list(range(len(lengths)))
    assert all(len(rows) * max(lengths[row] for row in rows) <= 2048 for rows in found)


@pytest.mark.parametrize("name", [weights.VOCABULARY, weights.WEIGHTS])
def test_other_weights_are_refused_with_a_reason(name: str, tmp_path: Path) -> None:
    """Part of C7."""
    folder = weights.find()
    assert folder is not None
    for other in weights.DIGESTS:
        (tmp_path / other).symlink_to(folder / other)
    (tmp_path / name).unlink()
    (tmp_path / name).write_bytes(b"something else")
    found = embeddings_model.load_from(tmp_path)
    assert isinstance(found, Absence)
    assert str(tmp_path / name) in found.reason
    assert "SHA-256" in found.reason


def test_missing_weights_are_told(tmp_path: Path) -> None:
    """Part of C7."""
    found = embeddings_model.load_from(tmp_path)
    assert isinstance(found, Absence)
    assert weights.WEIGHTS in found.reason


@pytest.mark.parametrize(
    ("missing", "remedy"),
    [("numpy", "threadline[semantic]"), (weights.PACKAGE, weights.DISTRIBUTION)],
)
def test_a_missing_package_is_told(missing: str, remedy: str, tmp_path: Path) -> None:
    """Part of C7. The interpreter sees every installed package but one."""
    for site in map(Path, sys.path):
        for found in site.glob("*") if site.name == "site-packages" else ():
            if not found.name.startswith((missing, "__pycache__")) and found.suffix != ".pth":
                target = tmp_path / found.name
                if not target.is_symlink():
                    target.symlink_to(found)
    script = (
        f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(tmp_path)!r}]\n"
        "from sidecar.search.embeddings import model as models\n"
        "print(models.load().reason)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", script], capture_output=True, text=True, check=True
    )
    assert remedy in done.stdout


def test_nothing_heavy_is_imported_before_the_model_is_asked_for() -> None:
    """Part of C7. Loaded lazily."""
    script = (
        "import sys\n"
        "import sidecar.search.embeddings.model, sidecar.storage.cache, sidecar.search.find\n"
        f"print([name for name in ('numpy', {weights.PACKAGE!r}) if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "[]\n"


def test_threads_that_ask_at_once_get_the_same_model() -> None:
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda: found.append(embeddings_model.load())) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(model) for model in found}) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"",
        (1 << 40).to_bytes(8, "little") + b"{}",
        (2).to_bytes(8, "little") + b"[]",
        (60).to_bytes(8, "little")
        + b'{"a":{"dtype":"F32","shape":[9],"data_offsets":[0,36]}}     ',
    ],
)
def test_a_malformed_file_of_weights_is_no_weights(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"."):
        weights.tensors(path)


def test_the_installed_weights_are_what_the_code_expects(tmp_path: Path) -> None:
    folder = weights.find()
    assert folder is not None
    assert weights.objection(folder) is None
    shutil.copy(folder / weights.VOCABULARY, tmp_path)
    assert weights.objection(tmp_path) is not None
