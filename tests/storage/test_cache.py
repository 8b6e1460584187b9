"""The cache may be deleted, damaged or locked at any time: that means no cache, never a failed command."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from protocol.errors import BusyError
from sidecar.search.rules.similarities import DIMENSION
from sidecar.storage.cache import Cache, Vectors, meaning


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    cache = Cache(tmp_path / "cache.sqlite")
    yield cache
    cache.close()


def path_of(cache: Cache) -> Path:
    return cache.database.path


def test_a_value_comes_back_to_the_same_edition_only(cache: Cache) -> None:
    cache.put("name", {"a": [1, 2]}, "1")
    assert cache.get("name", dict[str, list[int]], "1") == {"a": [1, 2]}
    assert cache.get("name", dict[str, list[int]], "2") is None
    assert cache.get("other", int, "1") is None
    assert cache.get("name", int, "1") is None
    cache.drop("name")
    assert cache.get("name", dict[str, list[int]], "1") is None


def delete(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def garble(path: Path) -> None:
    path.write_bytes(os.urandom(path.stat().st_size))


def zero_the_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[200 : len(data) - 100] = bytes(len(data) - 300)
    path.write_bytes(bytes(data))


def become_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [delete, empty, garble, zero_the_middle])
def test_a_damaged_cache_is_no_cache_and_is_made_anew(
    cache: Cache, damage: Callable[[Path], None]
) -> None:
    """H1."""
    cache.put("name", 1)
    cache.close()
    damage(path_of(cache))
    other = Cache(path_of(cache))
    assert other.get("name", int) is None
    other.put("name", 2)
    other.put("name", 2)
    assert other.get("name", int) == 2
    other.close()


def test_a_folder_in_its_place_is_no_cache(cache: Cache) -> None:
    """H1."""
    cache.put("name", 1)
    cache.close()
    become_folder(path_of(cache))
    assert cache.get("name", int) is None
    cache.put("name", 2)


def test_a_locked_cache_is_no_cache_after_a_moment(cache: Cache) -> None:
    cache.put("name", 1)
    with closing(sqlite3.connect(path_of(cache), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        cache.put("name", 2)
        assert cache.get("name", int) == 1
        with pytest.raises(BusyError):
            cache.drop("name")
    cache.put("name", 3)
    assert cache.get("name", int) == 3


def test_what_is_dropped_leaves_no_byte(cache: Cache, tmp_path: Path) -> None:
    """H3."""
    cache.put("name", "a very secret sentence")
    cache.drop("name")
    cache.database.checkpoint()
    cache.close()
    for path in tmp_path.glob("cache.sqlite*"):
        assert b"very secret" not in path.read_bytes()


def directions(count: int) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    made = np.random.default_rng(1).standard_normal((count, DIMENSION), dtype=np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


def test_vectors_come_back_nearly_as_they_were(cache: Cache) -> None:
    vectors, made = Vectors(cache), directions(3)
    vectors.add({"a": "one", "b": "two", "c": "three"}, made)
    other = Vectors(Cache(path_of(cache)))
    for own in (vectors, other):
        matrix = own.matrix()
        assert matrix.memory_ids == ("a", "b", "c")
        assert np.abs(matrix.vectors - made).max() < 0.001
        assert own.count() == 3
        assert own.lacking({"a": "one", "b": "changed", "d": "new"}) == ["b", "d"]
        assert own.unlike({"a": meaning("one"), "b": meaning("changed")}) == ["b"]
        nearest = matrix.compare(made[1]).best(1, None)
        assert list(nearest) == ["b"]
        assert list(matrix.compare(made[1]).best(1, lambda key: key != "b")) != ["b"]


def test_the_matrix_is_the_same_object_until_vectors_change(cache: Cache) -> None:
    vectors = Vectors(cache)
    vectors.add({"a": "one"}, directions(1))
    before = vectors.matrix()
    assert vectors.matrix() is before
    other = Vectors(Cache(path_of(cache)))
    other.add({"b": "two"}, directions(1))
    assert vectors.matrix().memory_ids == ("a", "b")
    other.remove(["a"])
    assert vectors.matrix().memory_ids == ("b",)


def test_without_a_cache_nothing_has_a_vector(cache: Cache) -> None:
    path_of(cache).parent.mkdir(exist_ok=True)
    path_of(cache).mkdir()
    vectors = Vectors(cache)
    vectors.add({"a": "one"}, directions(1))
    assert vectors.count() == 0
    assert vectors.matrix().memory_ids == ()
    assert vectors.lacking({"a": "one"}) == ["a"]
