"""Rows: what there is to say of a method."""

from protocol.values import Params, Record


class Method(Record, frozen=True, kw_only=True):
    """One row of the table."""

    name: str
    params: type[Params]
    result: type[Record]
    doc: str
    is_long: bool = False
    """Tells how far it is while it runs, and can be cancelled."""
