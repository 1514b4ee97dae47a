"""What there is to say about a run: one frozen value, computed from the store, that every format shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from arena.match.absence import Exclusion
from arena.match.conduct import Conduct
from arena.match.lag import Lag
from arena.ratings.base import Rating
from arena.ratings.posterior import Verdict
from arena.ratings.trust import Separation
from arena.store.chains import Participant
from arena.store.values import Endgames, Epoch, State, StoredFault, VoidMatch
from arena.tournament.standings import Encounter, Standing


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a run is, and how far it has come."""

    name: str
    title: str
    state: State
    started: str
    """When it was created, in UTC, ISO 8601."""
    rated: bool
    """Whether it counts in the bots' careers."""
    seed: str | None
    """Of a rehearsal, whose decks anyone can predict; None where the secret was drawn."""
    format: str
    rules_name: str
    """The preset, with the options that differ from it."""
    rules: Mapping[str, str | int | bool]
    """Every option of the rules."""
    participants: tuple[Participant, ...]
    """Sorted by name."""
    epochs: tuple[Epoch, ...]
    """By number."""
    pairs_planned: int
    """Pairs of matches (of more than two where more meet) over all pairings and epochs."""
    mirrored_pairs: int
    """Complete pairs that were played on the same decks."""
    unmirrored_pairs: int
    """Complete pairs that were not."""
    matches_planned: int
    matches_finished: int
    """Matches that count: neither open nor void."""
    matches_void: int
    """Matches that the arena failed to play: they count for nothing."""
    matches_left_out: int
    """Matches that are not played, or count for nobody, since somebody is out."""
    draw_probability: float
    """Of a pair, as fitted together with the ratings."""
    stopping: Stopping | None
    """None where the number of pairs is fixed."""
    reference: str | None
    """The participant that stays at mu 25, and to which all others are relative; None: the field's mean does."""
    chain_head: str
    chain_length: int
    """Matches that the play chain covers: the complete prefix of the schedule."""
    sandbox: str
    """The level at which local bots are held."""
    arena_version: str
    """Of the arena that computed the report."""
    lag: Lag | None
    """How late the arena was over all sessions; None where none has come to its end."""

    @property
    def unit(self) -> str:
        """What a pairing's matches on one list are called: pairs at a table of two seats, else blocks."""
        return "pairs" if self.rules["seats"] == 2 else "blocks"

    @property
    def pairs_finished(self) -> int:
        """Complete pairs: the evidence of the ratings."""
        return self.mirrored_pairs + self.unmirrored_pairs


@dataclass(frozen=True, slots=True)
class Absence:
    """That a participant is out, and what of it counts."""

    entry: Exclusion
    """What the log says of it last."""
    played: int
    """Its matches that were played before."""
    scheduled: int
    """All that it would have."""
    withdrawn: bool
    """Whether none of its matches count, since less than half were played."""


@dataclass(frozen=True, slots=True)
class Stopping:
    """How far a run with a stop rule is."""

    separated: float
    """It is over once each bot is better than the next one with this probability ..."""
    asked: float
    """... before the end with this one, since who looks often catches a lucky moment ..."""
    max_pairs: int
    """... or once it has played so many pairs a pairing, on the average."""
    pairs: float
    """Those that are planned so far, in all epochs."""
    ranked: int
    """How many bots the ranking has, but for those that are out."""
    open: tuple[Separation, ...]
    """The neighbours in the ranking that are not separated as is asked."""
    over: bool
    """Whether it has stopped."""

    @property
    def spent(self) -> bool:
        """Whether nothing is left of the budget."""
        return self.pairs >= self.max_pairs


@dataclass(frozen=True, slots=True)
class Row:
    """One participant's line in the ranking table."""

    participant: Participant
    rating: Rating
    verdict: Verdict | None
    """None until it has a complete pair, and where it is out."""
    standing: Standing
    absence: Absence | None = None
    """None while it takes part."""
    one_pass: Rating | None = None
    """What a single pass of TrueSkill says, where that was asked for and it has a complete pair."""
    conduct: Conduct = field(default_factory=Conduct)
    """What it did in its deals."""
    endgames: Endgames | None = None
    """What `arena analyse` found it to give away; None where nothing was analysed."""

    @property
    def rank(self) -> int | None:
        """1 is first; bots that cannot be told apart share a rank.  None until a complete pair, and for who is out."""
        return None if self.verdict is None else self.verdict.rank


@dataclass(frozen=True, slots=True)
class RunReport:
    """Everything that a report can show of a run."""

    run: RunFacts
    rows: tuple[Row, ...]
    """Best first."""
    crosstable: Mapping[tuple[str, str], Encounter]
    """By (participant, opponent), of those that met."""
    end_reasons: Mapping[str, int]
    """Deals by how they ended, the commonest first."""
    fault_count: int
    faults: tuple[StoredFault, ...]
    """The last of them, in schedule order."""
    voids: tuple[VoidMatch, ...]
    """The last matches that the arena failed to play, in schedule order."""
    exclusions: tuple[Exclusion, ...]
    """The log of who is out, and who is in again."""
    lost_bummerls: Mapping[tuple[str, str], int]
    """Matches lost by (author, bot) over all rated tournaments of the store, most first."""
