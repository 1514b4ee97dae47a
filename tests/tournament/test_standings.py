"""What results add up to: what counts, what does not, and that the order in which they come changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from arena.match.record import Status
from arena.match.summary import Histogram, MatchKey, MatchSummary, SideSummary
from arena.tournament.schedule import seating
from arena.tournament.standings import (
    Encounter,
    PairResult,
    Standing,
    Tally,
    Totals,
    complete_pairs,
    end_reasons,
)


def standings(summaries: Iterable[MatchSummary], participants: Iterable[str] = ()) -> Mapping[str, Standing]:
    return Totals.of(summaries).standings(participants)


def crosstable(summaries: Iterable[MatchSummary]) -> Mapping[tuple[str, str], Encounter]:
    return Totals.of(summaries).crosstable()


def match(
    pairing: tuple[str, ...],
    leg: int,
    number: int,
    points: Mapping[str, int],
    *,
    epoch: int = 0,
    status: Status = Status.PLAYED,
    mirrored: bool = True,
    forfeited_by: str | None = None,
    faults: Mapping[str, Mapping[str, int]] | None = None,
    terminations: Mapping[str, int] | None = None,
    times_us: Mapping[str, tuple[int, ...]] | None = None,
) -> MatchSummary:
    """A match that ended with these points by participant; who forfeited ranks last."""
    seats = seating(pairing, leg, len(pairing), len(pairing))
    keys = {name: (name != forfeited_by, points[name]) for name in seats}
    return MatchSummary(
        key=MatchKey(epoch, pairing, leg, number),
        status=status,
        mirrored=mirrored,
        deals=5,
        terminations=terminations or {"claim": 5},
        forfeited_by=None if forfeited_by is None else seats.index(forfeited_by),
        sides=tuple(
            SideSummary(
                participants=(name,),
                points=points[name],
                rank=1 + sum(other > keys[name] for other in keys.values()),
                deals_won=points[name] // 2,
                faults=(faults or {}).get(name, {}),
                times=(Histogram.of((times_us or {}).get(name, (100,))),),
            )
            for name in seats
        ),
    )


def pair(
    first: Mapping[str, int], second: Mapping[str, int], number: int = 0, *, mirrored: bool = True
) -> list[MatchSummary]:
    """Both legs on one list."""
    names = tuple(sorted(first))
    return [match(names, leg, number, points, mirrored=mirrored) for leg, points in enumerate((first, second))]


A_WINS = {"a": 7, "b": 3}
B_WINS = {"a": 2, "b": 7}
AGAINST = (("a",), ("b",))
EACH = (("a",), ("b",), ("c",))


def triple(*points: Mapping[str, int]) -> list[MatchSummary]:
    """The three legs of a, b and c on one list."""
    return [match(("a", "b", "c"), leg, 0, each) for leg, each in enumerate(points)]


def partners(pairing: tuple[str, ...], leg: int, winner: str) -> MatchSummary:
    """A match of two sides of two seats that the side of the winner won 7-3."""
    seats = seating(pairing, leg, 2, 4)
    return MatchSummary(
        key=MatchKey(0, pairing, leg, 0),
        status=Status.PLAYED,
        mirrored=True,
        deals=5,
        terminations={"claim": 5},
        forfeited_by=None,
        sides=tuple(
            SideSummary(
                participants=names,
                points=7 if winner in names else 3,
                rank=1 if winner in names else 2,
                deals_won=2,
                faults={},
                times=tuple(Histogram.of((100,)) for _ in names),
            )
            for names in (seats[0::2], seats[1::2])
        ),
    )


# --- luck ---------------------------------------------------------------------------------------------------


def test_matches_that_the_decks_decide_correlate_by_minus_one() -> None:
    # Seats are swapped on the same decks: where the seat wins, each bot wins one match of every pair.
    luck = Totals.of([match for number in range(6) for match in pair(A_WINS, B_WINS, number)]).mirror_luck()
    assert luck is not None and (luck.pairs, round(luck.correlation, 6)) == (6, -1.0)


def test_matches_that_the_decks_do_not_decide_do_not_correlate() -> None:
    results = [(A_WINS, A_WINS), (A_WINS, B_WINS), (B_WINS, A_WINS), (B_WINS, B_WINS)]
    luck = Totals.of([match for number, both in enumerate(results) for match in pair(*both, number)]).mirror_luck()
    assert luck is not None and luck.correlation == 0.0 and luck.gain == 1.0


def test_of_pairs_on_decks_of_their_own_or_all_alike_no_luck_is_known() -> None:
    assert Totals.of(pair(A_WINS, B_WINS, mirrored=False)).mirror_luck() is None
    assert Totals.of(pair(A_WINS, A_WINS)).mirror_luck() is None
    assert Totals.of([]).mirror_luck() is None


# --- evidence -----------------------------------------------------------------------------------------------


def test_a_pair_is_evidence_with_the_wins_of_each_participant_whoever_sat_where() -> None:
    summaries = [*pair(A_WINS, A_WINS, 0), *pair(A_WINS, B_WINS, 1), *pair(B_WINS, B_WINS, 2, mirrored=False)]
    assert complete_pairs(summaries) == [
        PairResult(0, ("a", "b"), 0, AGAINST, ranks=(0, 1), mirrored=True),
        PairResult(0, ("a", "b"), 1, AGAINST, ranks=(0, 0), mirrored=True),
        PairResult(0, ("a", "b"), 2, AGAINST, ranks=(1, 0), mirrored=False),
    ]


def test_an_unfinished_pair_is_no_evidence() -> None:
    assert complete_pairs(pair(A_WINS, A_WINS)[:1]) == []
    other_numbers = [match(("a", "b"), 0, 0, A_WINS), match(("a", "b"), 1, 1, A_WINS)]
    assert complete_pairs(other_numbers) == []
    other_epochs = [match(("a", "b"), 0, 0, A_WINS), match(("a", "b"), 1, 0, A_WINS, epoch=1)]
    assert complete_pairs(other_epochs) == []


def test_a_pair_with_a_void_match_is_no_evidence() -> None:
    legs = [match(("a", "b"), 0, 0, A_WINS), match(("a", "b"), 1, 0, A_WINS, status=Status.VOID)]
    assert complete_pairs(legs) == []


def test_a_match_lost_by_a_fault_is_lost_whatever_the_points() -> None:
    legs = [
        match(("a", "b"), 0, 0, {"a": 7, "b": 7}, status=Status.FORFEIT, forfeited_by="a"),
        match(("a", "b"), 1, 0, {"a": 0, "b": 7}, status=Status.WALKOVER, forfeited_by="a"),
    ]
    assert [result.ranks for result in complete_pairs(legs)] == [(1, 0)]


def test_a_match_that_both_share_is_won_by_none() -> None:
    (result,) = complete_pairs(pair({"a": 4, "b": 4}, A_WINS))
    assert result.ranks == (0, 1)
    (result,) = complete_pairs(pair({"a": 4, "b": 4}, {"a": 4, "b": 4}))
    assert result.ranks == (0, 0)


def test_evidence_is_pooled_over_epochs() -> None:
    legs = [match(("a", "b"), leg, 0, A_WINS, epoch=epoch) for epoch in (1, 0) for leg in (0, 1)]
    assert [result.epoch for result in complete_pairs(legs)] == [0, 1]


# --- standings ----------------------------------------------------------------------------------------------


def test_a_standing_adds_up_all_that_a_participant_did() -> None:
    summaries = [
        *pair(A_WINS, B_WINS, 0),
        *pair(A_WINS, A_WINS, 1),
        match(("a", "c"), 0, 0, {"a": 4, "c": 4}, faults={"a": {"late": 2, "illegal": 1}}, times_us={"a": (9, 9)}),
        match(("a", "c"), 1, 0, {"a": 7, "c": 0}, faults={"a": {"late": 1}, "c": {"died": 1}}),
    ]
    assert standings(summaries)["a"] == Standing(
        participant="a",
        matches=Tally(won=4, drawn=1, lost=1),
        pairs=Tally(won=2, drawn=1, lost=0),
        points_for=7 + 2 + 7 + 7 + 4 + 7,
        points_against=3 + 7 + 3 + 3 + 4 + 0,
        deals=6 * 5,
        deals_won=3 + 1 + 3 + 3 + 2 + 3,
        faults={"illegal": 1, "late": 3},
        times=Histogram.of([100] * 5 + [9, 9]),
    )


def test_the_margin_is_points_a_match() -> None:
    assert standings(pair(A_WINS, B_WINS))["a"].margin == (7 + 2 - 3 - 7) / 2
    assert standings([], ["a"])["a"].margin is None


def test_a_void_match_counts_nowhere() -> None:
    void = match(("a", "b"), 0, 0, A_WINS, status=Status.VOID, faults={"a": {"died": 1}}, terminations={"forfeit": 1})
    assert standings([void], ["a", "b"]) == {"a": Standing("a"), "b": Standing("b")}
    assert crosstable([void]) == {}
    assert end_reasons(Totals.of([void])) == {}


def test_an_unfinished_pair_counts_as_matches_but_not_as_a_pair() -> None:
    standing = standings(pair(A_WINS, A_WINS)[:1])["a"]
    assert standing.matches == Tally(won=1)
    assert standing.pairs == Tally()


def test_who_has_not_played_yet_stands_there_too_in_the_order_of_names() -> None:
    table = standings(pair(A_WINS, B_WINS), ["z", "b", "0"])
    assert list(table) == ["0", "a", "b", "z"]
    assert table["z"] == Standing("z")


def test_with_three_sides_only_who_is_alone_in_front_has_won() -> None:
    names = ("a", "b", "c")
    results = [{"a": 7, "b": 5, "c": 2}, {"a": 6, "b": 7, "c": 7}, {"a": 7, "b": 3, "c": 0}]
    block = [match(names, leg, 0, points) for leg, points in enumerate(results)]
    assert complete_pairs(block[:2]) == []
    assert complete_pairs(block) == [PairResult(0, names, 0, EACH, ranks=(0, 1, 2), mirrored=True)]
    table = standings(block)
    assert table["a"].matches == Tally(won=2, lost=1)
    assert table["b"].matches == Tally(drawn=1, lost=2)
    assert table["a"].points_against == 5 + 2 + 7 + 7 + 3 + 0
    assert [table[name].pairs for name in names] == [Tally(won=1), Tally(lost=1), Tally(lost=1)]
    assert crosstable(block)["b", "c"].matches == Tally(won=2, drawn=1)
    assert crosstable(block)["b", "c"].pairs == Tally(won=1)
    assert crosstable(block)["b", "a"].pairs == Tally(lost=1)


def test_with_three_sides_points_decide_and_not_wins() -> None:
    (result,) = complete_pairs(triple({"a": 7, "b": 6, "c": 0}, {"a": 7, "b": 6, "c": 0}, {"a": 0, "b": 7, "c": 0}))
    assert result.ranks == (1, 0, 2)


def test_with_three_sides_equal_points_share_a_rank() -> None:
    shared = triple({"a": 7, "b": 1, "c": 0}, {"a": 0, "b": 7, "c": 2}, {"a": 1, "b": 0, "c": 0})
    (result,) = complete_pairs(shared)
    assert result.ranks == (0, 0, 1)
    table = standings(shared)
    assert [table[name].pairs for name in "abc"] == [Tally(drawn=1), Tally(drawn=1), Tally(lost=1)]
    assert crosstable(shared)["a", "b"].pairs == Tally(drawn=1)
    assert crosstable(shared)["c", "b"].pairs == Tally(lost=1)


def test_with_three_sides_leaving_a_match_never_pays() -> None:
    ahead = triple({"a": 7, "b": 1, "c": 0}, {"a": 7, "b": 2, "c": 0}, {"a": 6, "b": 5, "c": 5})
    (result,) = complete_pairs(ahead)
    assert result.ranks == (0, 1, 2)
    gone = match(("a", "b", "c"), 2, 0, {"a": 6, "b": 5, "c": 5}, status=Status.FORFEIT, forfeited_by="a")
    (result,) = complete_pairs([*ahead[:2], gone])
    assert result.ranks == (2, 0, 1)
    all_gone = [
        match(("a", "b", "c"), leg, 0, {"a": 5, "b": 0, "c": 0}, status=Status.FORFEIT, forfeited_by=name)
        for leg, name in enumerate("aab")
    ]
    (result,) = complete_pairs(all_gone)
    assert result.ranks == (2, 1, 0)


def test_the_margin_of_three_is_against_the_mean_of_the_others_and_adds_up_to_nothing() -> None:
    table = standings(triple({"a": 7, "b": 4, "c": 1}, {"a": 7, "b": 0, "c": 0}, {"a": 4, "b": 7, "c": 3}))
    assert table["a"].points_against == 4 + 1 + 0 + 0 + 7 + 3
    assert table["a"].margin == (7 + 7 + 4 - 15 / 2) / 3
    assert abs(sum(table[name].margin or 0 for name in "abc")) < 1e-9


def test_partners_have_times_of_their_own() -> None:
    match = partners(("a", "b", "c", "d"), 0, "a")
    sides = tuple(
        replace(side, times=tuple(Histogram.of([1000] * ("abcd".index(name) + 1)) for name in side.participants))
        for side in match.sides
    )
    table = standings([replace(match, sides=sides)])
    assert [table[name].times.total for name in "abcd"] == [1, 2, 3, 4]


def test_a_side_of_one_participant_on_two_seats_is_counted_once() -> None:
    block = [partners(("a", "b"), leg, winner) for leg, winner in enumerate("ab")]
    assert complete_pairs(block) == [PairResult(0, ("a", "b"), 0, AGAINST, ranks=(0, 0), mirrored=True)]
    table = standings(block)
    assert table["a"].matches == Tally(won=1, lost=1)
    assert table["a"].pairs == Tally(drawn=1)
    assert table["a"].times.total == 4
    assert crosstable(block)["a", "b"] == Encounter(Tally(won=1, lost=1), Tally(drawn=1), 10, 10)


def test_mixed_partners_share_what_their_side_did_and_never_meet_each_other() -> None:
    pairing = ("a", "d", "b", "c")
    block = [partners(pairing, leg, winner) for leg, winner in enumerate("adbd")]
    assert complete_pairs(block[:3]) == []
    assert complete_pairs(block) == [PairResult(0, pairing, 0, (("a", "d"), ("b", "c")), ranks=(0, 1), mirrored=True)]
    table = standings(block)
    for name in "ad":
        assert (table[name].matches, table[name].pairs) == (Tally(won=3, lost=1), Tally(won=1))
    for name in "bc":
        assert (table[name].matches, table[name].pairs) == (Tally(won=1, lost=3), Tally(lost=1))
    met = crosstable(block)
    assert ["".join(names) for names in met] == ["ab", "ac", "ba", "bd", "ca", "cd", "db", "dc"]
    assert met["c", "d"] == Encounter(Tally(won=1, lost=3), Tally(lost=1), 7 + 3 * 3, 3 + 3 * 7)


def test_the_three_ways_to_mix_four_partners_are_three_pairings() -> None:
    ways = [("a", "b", "c", "d"), ("a", "c", "b", "d"), ("a", "d", "b", "c")]
    played = [partners(way, leg, "a") for way in ways for leg in range(4)]
    assert [result.pairing for result in complete_pairs(played)] == ways
    assert standings(played)["a"].pairs == Tally(won=3)
    assert standings(played)["b"].pairs == Tally(won=1, lost=2)


# --- crosstable and ends ------------------------------------------------------------------------------------


def test_the_crosstable_has_both_views_of_each_encounter() -> None:
    summaries = [*pair(A_WINS, B_WINS, 0), *pair(A_WINS, A_WINS, 1), *pair({"a": 7, "c": 6}, {"a": 4, "c": 4})]
    table = crosstable(summaries)
    assert list(table) == [("a", "b"), ("a", "c"), ("b", "a"), ("c", "a")]
    assert table["a", "b"] == Encounter(
        matches=Tally(won=3, lost=1), pairs=Tally(won=1, drawn=1), points_for=23, points_against=16
    )
    assert table["b", "a"] == Encounter(
        matches=Tally(won=1, lost=3), pairs=Tally(drawn=1, lost=1), points_for=16, points_against=23
    )
    assert table["c", "a"] == Encounter(
        matches=Tally(drawn=1, lost=1), pairs=Tally(lost=1), points_for=10, points_against=11
    )


def test_end_reasons_count_deals_the_commonest_first() -> None:
    summaries = [
        match(("a", "b"), 0, 0, A_WINS, terminations={"claim": 3, "late": 1}),
        match(("a", "b"), 1, 0, A_WINS, terminations={"claim": 2, "close-failed": 1}),
    ]
    assert list(end_reasons(Totals.of(summaries)).items()) == [("claim", 5), ("close-failed", 1), ("late", 1)]


# --- order --------------------------------------------------------------------------------------------------


@st.composite
def leagues(draw: st.DrawFn) -> list[MatchSummary]:
    pairings = st.sampled_from([("a", "b"), ("a", "c"), ("b", "c")])
    identities = st.tuples(st.integers(0, 1), pairings, st.integers(0, 1), st.integers(0, 2))
    league = []
    for epoch, pairing, leg, number in draw(st.sets(identities, max_size=20)):
        won, lost = draw(st.permutations(pairing))
        status = draw(st.sampled_from(Status))
        points = {won: 7, lost: draw(st.integers(0, 7))}
        league.append(
            match(
                pairing,
                leg,
                number,
                points,
                epoch=epoch,
                status=status,
                forfeited_by=lost if status in (Status.FORFEIT, Status.WALKOVER) else None,
                faults={lost: {draw(st.sampled_from(["late", "died"])): 1}},
                terminations={draw(st.sampled_from(["claim", "played-out", "late"])): 5},
                times_us={won: (draw(st.integers(1, 10**6)),)},
            )
        )
    return league


@given(leagues(), st.integers(0, 60))
def test_totals_that_were_put_away_go_on_as_if_they_never_were(league: list[MatchSummary], first: int) -> None:
    kept = json.dumps(Totals.of(league[:first]).to_json())
    totals = Totals.from_json(json.loads(kept))
    assert totals is not None
    for summary in league[first:]:
        totals.add(summary)
    whole = Totals.of(league)
    assert totals.to_json() == whole.to_json()
    assert (totals.pairs, totals.standings(), totals.crosstable()) == (
        whole.pairs,
        whole.standings(),
        whole.crosstable(),
    )
    assert (totals.mirror_luck(), totals.outcomes()) == (whole.mirror_luck(), whole.outcomes())


def test_totals_of_another_version_are_not_believed() -> None:
    assert Totals.from_json({**Totals.of(pair(A_WINS, B_WINS)).to_json(), "version": 0}) is None


@settings(deadline=None)
@given(leagues(), st.randoms())
def test_the_order_of_the_matches_changes_nothing(league: list[MatchSummary], shuffle: Random) -> None:
    other = league.copy()
    shuffle.shuffle(other)
    assert complete_pairs(other) == complete_pairs(league)
    for table in (standings, crosstable, lambda league: end_reasons(Totals.of(league))):
        assert repr(table(other)) == repr(table(league))  # the order of keys included
    assert standings(iter(other)) == standings(league)


@settings(deadline=None)
@given(leagues())
def test_what_one_side_wins_the_other_loses(league: list[MatchSummary]) -> None:
    table = standings(league)
    finished = sum(match.status is not Status.VOID for match in league)
    assert sum(standing.matches.total for standing in table.values()) == 2 * finished
    for tallies in ([s.matches for s in table.values()], [s.pairs for s in table.values()]):
        assert sum(tally.won for tally in tallies) == sum(tally.lost for tally in tallies)
        assert sum(tally.drawn for tally in tallies) % 2 == 0
    assert sum(s.points_for for s in table.values()) == sum(s.points_against for s in table.values())
    for name, standing in table.items():
        met = [encounter for (who, _), encounter in crosstable(league).items() if who == name]
        assert sum(encounter.matches.total for encounter in met) == standing.matches.total
        assert sum(encounter.pairs.won for encounter in met) == standing.pairs.won
        assert sum(encounter.points_for for encounter in met) == standing.points_for
