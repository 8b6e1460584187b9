"""The page of promises and the tests say the same."""

from tests.promises import PENDING, PROMISES, PROOFS
from tests.proofs import claims


def test_every_promise_is_either_proven_or_pending() -> None:
    assert PROOFS.keys() | PENDING.keys() == PROMISES.keys()
    assert PROOFS.keys() & PENDING.keys() == set()


def test_every_named_proof_exists_and_every_claim_is_named() -> None:
    assert {promise: set(tests) for promise, tests in PROOFS.items()} == claims()
