"""`arena upgrade`."""

from __future__ import annotations

from arena.cli.options import DATA, Data, Store, archive_of
from arena.cli.screen import emit


def upgrade(data: Data = DATA, store: Store = None) -> None:
    """Bring a store that an earlier arena has written into the form that this one needs.

    No result changes.  Of a file there is a copy first; of a database on a server make one by pg_dump.
    """
    from arena.store.upgrade import upgrade as bring_forward

    done = bring_forward(archive_of(data, store).store)
    if done.before == done.after:
        emit(f"{done.where} has version {done.after} of the schema, as this arena needs it\n")
        return
    emit(f"{done.where} was brought from version {done.before} of the schema to {done.after}\n")
    if done.copy is not None:
        emit(f"as it was before: {done.copy}\n")
