"""The store room: a result counts once it is committed here, and nothing that was committed changes unseen.

All SQL of the house is in this room.  `open_store` gives the arena its `Store`; `open_queries` gives reports and pages
a `Queries` that can only read.
"""

from arena.store.chains import ChainHead, Participant
from arena.store.engine import SQLITE_VERSION, has_store
from arena.store.queries import Queries
from arena.store.store import Store, open_queries, open_store
from arena.store.values import (
    Broken,
    DealOf,
    Endgames,
    Epoch,
    MatchResult,
    NameTaken,
    Session,
    State,
    StoredFault,
    StoredPlaces,
    StoreError,
    TakenOver,
    Tally,
    Tournament,
    Unreachable,
    VoidAttempt,
    VoidMatch,
)

__all__ = [
    "SQLITE_VERSION",
    "Broken",
    "ChainHead",
    "DealOf",
    "Endgames",
    "Epoch",
    "StoredPlaces",
    "MatchResult",
    "NameTaken",
    "Participant",
    "Queries",
    "Session",
    "State",
    "Store",
    "StoreError",
    "StoredFault",
    "TakenOver",
    "Tally",
    "Tournament",
    "Unreachable",
    "VoidAttempt",
    "VoidMatch",
    "has_store",
    "open_queries",
    "open_store",
]
