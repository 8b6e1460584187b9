"""Vectors survive what a cache meets: torn writes, deletion, other processes; and they go when they must."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sidecar.store.locks import Lock
from sidecar.store.vectors import Vectors
from tests.support import ROOT

DIMENSION = 8
RECORD = 26 + 16 + 2 * DIMENSION + 4
HEADER = 128


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "vectors"


def opened(path: Path, model: str = "model") -> Vectors:
    """Open the file as another process would."""
    return Vectors(path, Lock(path.parent.parent / "lock"), model, DIMENSION)


def direction(number: int) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    vector = np.random.default_rng(number).standard_normal(DIMENSION).astype(np.float32)
    return vector / np.linalg.norm(vector)


def add(vectors: Vectors, *numbers: int, text: str = "text") -> None:
    texts = {name(number): f"{text} {number}" for number in numbers}
    vectors.add(texts, np.stack([direction(number) for number in numbers]))


def name(number: int) -> str:
    return f"01{number:024}"


def check(vectors: Vectors, *numbers: int) -> None:
    matrix = vectors.matrix()
    assert set(matrix.memory_ids) == {name(number) for number in numbers}
    assert matrix.vectors.shape == (len(numbers), DIMENSION)
    assert matrix.vectors.dtype == np.float32
    assert matrix.vectors.flags.c_contiguous
    for number in numbers:
        assert np.abs(matrix.vectors[matrix.rows[name(number)]] - direction(number)).max() < 1e-3


def test_vectors_are_there_for_whoever_opens_the_file(path: Path) -> None:
    vectors = opened(path)
    check(vectors)
    add(vectors, 1, 2)
    add(vectors, 3)
    check(vectors, 1, 2, 3)
    check(opened(path), 1, 2, 3)
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_matrix_is_made_once_until_something_changes(path: Path) -> None:
    vectors, other = opened(path), opened(path)
    add(vectors, 1)
    first = vectors.matrix()
    assert vectors.matrix() is first
    add(other, 2)
    check(vectors, 1, 2)


def test_a_vector_of_another_text_is_lacking(path: Path) -> None:
    vectors = opened(path)
    add(vectors, 1, 2)
    wanted = {name(1): "text 1", name(2): "new text", name(3): "text 3"}
    assert vectors.lacking(wanted) == [name(2), name(3)]


def test_a_new_text_replaces_the_vector_and_its_bytes(path: Path) -> None:
    vectors = opened(path)
    add(vectors, 1, 2)
    before = path.read_bytes()
    vectors.add({name(1): "new text"}, direction(9)[None])
    assert vectors.lacking({name(1): "new text", name(2): "text 2"}) == []
    assert before[HEADER : HEADER + RECORD] not in path.read_bytes()
    assert path.stat().st_size == HEADER + 2 * RECORD


@pytest.mark.parametrize("torn", [1, 30, RECORD - 1])
def test_a_torn_tail_is_left_out_and_healed(path: Path, torn: int) -> None:
    vectors = opened(path)
    add(vectors, 1, 2)
    with path.open("r+b") as file:
        file.truncate(HEADER + RECORD + torn)
    check(opened(path), 1)
    add(opened(path), 3)
    check(opened(path), 1, 3)
    check(vectors, 1, 3)


def test_a_damaged_record_is_left_out_alone(path: Path) -> None:
    add(opened(path), 1, 2, 3)
    data = bytearray(path.read_bytes())
    data[HEADER + RECORD + 50] ^= 1
    path.write_bytes(data)
    vectors = opened(path)
    check(vectors, 1, 3)
    assert vectors.lacking({name(2): "text 2"}) == [name(2)]


@pytest.mark.parametrize("content", [b"", b"something else", b"x" * 5000])
def test_a_foreign_file_is_no_vectors_and_gives_way(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    vectors = opened(path)
    check(vectors)
    add(vectors, 1)
    check(opened(path), 1)


def test_vectors_of_another_model_are_not_mixed_in(path: Path) -> None:
    add(opened(path, "old"), 1)
    vectors = opened(path, "new")
    check(vectors)
    add(vectors, 2)
    check(opened(path, "new"), 2)


@pytest.mark.parametrize("delete", [Path.unlink, lambda path: path.write_bytes(b"")])
def test_deleting_the_file_costs_only_its_vectors(
    path: Path, delete: Callable[[Path], object]
) -> None:
    vectors = opened(path)
    add(vectors, 1)
    delete(path)
    check(vectors)
    add(vectors, 2)
    check(vectors, 2)
    check(opened(path), 2)


def test_deleting_the_folder_costs_only_its_vectors(path: Path) -> None:
    vectors = opened(path)
    add(vectors, 1)
    path.unlink()
    path.parent.rmdir()
    vectors.remove([name(1)])
    check(vectors)
    add(vectors, 2)
    check(opened(path), 2)


def test_removal_leaves_no_bytes(path: Path) -> None:
    vectors = opened(path)
    add(vectors, 1, 2, 3)
    record = path.read_bytes()[HEADER + RECORD : HEADER + 2 * RECORD]
    opened(path).remove([name(2), name(77)])
    everything = b"".join(file.read_bytes() for file in path.parent.rglob("*"))
    for part in (record[:26], record[26:42], record[42:-4]):
        assert part not in everything
    check(vectors, 1, 3)


@pytest.mark.parametrize("damage", ["record", "tail", "model"])
def test_removal_takes_what_might_be_theirs(path: Path, damage: str) -> None:
    vectors = opened(path, "other" if damage == "model" else "model")
    add(vectors, 1, 2)
    data = bytearray(path.read_bytes())
    if damage == "record":
        data[HEADER + RECORD] ^= 1
    path.write_bytes(data[: -9 if damage == "tail" else None])
    opened(path).remove([name(2)])
    assert bytes(data[HEADER + RECORD + 42 : -9]) not in path.read_bytes()


def test_removing_what_is_not_there_writes_nothing(path: Path) -> None:
    vectors = opened(path)
    vectors.remove([name(1)])
    assert not path.exists()
    add(vectors, 1)
    before = path.stat()
    vectors.remove([name(2)])
    assert path.stat() == before


def test_an_id_that_does_not_fit_is_refused(path: Path) -> None:
    with pytest.raises(ValueError, match="26"):
        opened(path).add({"x" * 27: ""}, direction(1)[None])


WRITER = """
import sys
from pathlib import Path
from tests.store.test_vectors import add, opened
vectors = opened(Path(sys.argv[1]))
for number in range(int(sys.argv[2]), int(sys.argv[2]) + 40):
    add(vectors, number)
    if number % 10 == 9:
        vectors.remove([f"01{number:024}"])
"""


@pytest.mark.slow
def test_two_processes_lose_nothing_of_each_other(path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(start)], cwd=ROOT)
        for start in (0, 100)
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    numbers = (*range(40), *range(100, 140))
    check(opened(path), *(number for number in numbers if number % 10 != 9))


def test_cosines_are_given_for_the_best_and_for_the_named(path: Path) -> None:
    vectors = opened(path)
    add(vectors, *range(30))
    found = vectors.matrix().compare(direction(4))
    expected = {name(n): float(direction(n) @ direction(4)) for n in range(30)}
    order = sorted(expected, key=lambda memory_id: -expected[memory_id])
    assert set(found.best(5, None)) == set(order[:5])
    assert found.best(99, None) == pytest.approx(expected, abs=2e-3)
    wanted = set(order[10:])
    assert list(found.best(3, wanted.__contains__)) == order[10:13]
    assert found.of([order[7], "unknown"]) == pytest.approx(
        {order[7]: expected[order[7]]}, abs=2e-3
    )
    assert found.of([]) == {}


def test_no_vectors_have_no_cosines(path: Path) -> None:
    found = opened(path).matrix().compare(direction(1))
    assert (found.best(5, None), found.of([name(1)])) == ({}, {})
