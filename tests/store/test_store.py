"""What is recorded comes back, once, and what contradicts it is refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import UsageError
from arena.game.presets import PRESETS
from arena.match.lag import Lag
from arena.match.record import Status
from arena.match.summary import Histogram, MatchKey
from arena.store import (
    MatchResult,
    Participant,
    Queries,
    State,
    Store,
    StoredPlaces,
    StoreError,
    open_queries,
    open_store,
)
from tests.store.behind import Where, change
from tests.store.samples import (
    COMMITMENT,
    CONFIG,
    CREATED,
    NASTY,
    RULES,
    SECRET,
    SESSION,
    THREE,
    bots,
    created,
    played,
    result,
    schedule,
    void,
    whole,
)

# --- results --------------------------------------------------------------------------------------------------


def test_a_result_comes_back_whole_from_a_store_that_was_closed(path: Where) -> None:
    results = schedule(30)
    with open_store(path) as store:
        assert store.record(created(store), results) == 30
    with open_queries(path) as queries:
        cup = queries.tournament("cup")
        assert [whole(one) for one in queries.results(cup)] == [whole(one) for one in results]
        assert list(queries.summaries(cup)) == [one.summary for one in results]
        assert whole(queries.result(cup, results[7].key)) == whole(results[7])
        assert queries.match_record(cup, results[7].key).testimony == results[7].record.testimony


def test_a_match_of_three_seats_comes_back_whole(store: Store) -> None:
    cup = created(store, rules=THREE)
    results = [
        result(MatchKey(1, ("A", "B", "C"), leg, 0), leg, played(leg, THREE, 0.02), rules=THREE) for leg in range(3)
    ]
    store.record(cup, results)
    assert [whole(one) for one in store.results(cup)] == [whole(one) for one in results]
    assert results[1].seats == ("B", "C", "A")


def test_recording_again_adds_nothing_and_counts_only_what_is_new(store: Store) -> None:
    cup = created(store)
    results = schedule(20)
    assert store.record(cup, results[:12]) == 12
    assert store.record(cup, results[:12]) == 0
    assert store.record(cup, results[5:20]) == 8
    assert [whole(one) for one in store.results(cup)] == [whole(one) for one in results]
    assert store.verify_seals(cup) is None


def test_recording_nothing_is_nothing(store: Store) -> None:
    cup = created(store)
    assert store.record(cup, []) == 0
    assert list(store.results(cup)) == []


def test_the_same_play_with_other_times_is_the_same_match(store: Store) -> None:
    cup = created(store)
    first = schedule(1)[0]
    later = replace(first, record=replace(first.record, testimony=played(5).testimony))
    store.record(cup, [first])
    assert store.record(cup, [later]) == 0
    assert whole(store.result(cup, first.key)) == whole(first)


def test_another_play_of_a_stored_match_is_refused_and_nothing_of_its_group_is_kept(store: Store) -> None:
    cup = created(store)
    results = schedule(10)
    store.record(cup, results[:5])
    other = result(results[3].key, 3, played(39))
    with pytest.raises(StoreError, match=r"A - C \(epoch 1, leg 1, number 0\).*played twice"):
        store.record(cup, [*results[5:], other])
    assert [one.key for one in store.results(cup)] == [one.key for one in results[:5]]
    assert store.verify_seals(cup) is None
    assert store.chain_head(cup).length == 5


def test_a_group_may_hold_a_match_twice_but_not_two_plays_of_it(store: Store) -> None:
    cup = created(store)
    first = schedule(1)[0]
    with pytest.raises(StoreError, match="played twice"):
        store.record(cup, [first, result(first.key, 0, played(39))])
    assert store.record(cup, [first, first]) == 1


def test_the_seats_are_part_of_what_was_played(store: Store) -> None:
    cup = created(store)
    first = schedule(1)[0]
    store.record(cup, [first])
    with pytest.raises(StoreError, match="played twice"):
        store.record(cup, [result(first.key, 0, first.record, seats=first.seats[::-1])])


def _of_unknown_epoch() -> MatchResult:
    return schedule(1, epoch=2)[0]


def _of_unknown_bot() -> MatchResult:
    return result(MatchKey(1, ("A", "Z"), 0, 0), 1, played(1))


def _at_a_taken_place() -> MatchResult:
    return replace(schedule(2)[1], position=0)


def _with_the_summary_of_another() -> MatchResult:
    return replace(schedule(2)[1], summary=schedule(1)[0].summary)


@pytest.mark.parametrize(
    "broken", [_of_unknown_epoch, _of_unknown_bot, _at_a_taken_place, _with_the_summary_of_another]
)
def test_a_result_that_fits_nowhere_is_refused_with_its_group(store: Store, broken: Callable[[], MatchResult]) -> None:
    cup = created(store)
    first, _, third = schedule(3)
    store.record(cup, [first])
    with pytest.raises(StoreError):
        store.record(cup, [third, broken()])
    assert [one.key for one in store.results(cup)] == [first.key]
    assert store.verify_seals(cup) is None


def test_a_late_participant_has_no_match_in_an_epoch_opened_before(store: Store) -> None:
    cup = created(store, names="AB")
    store.add_participants(cup, bots("C"))
    late = result(MatchKey(1, ("A", "C"), 0, 0), 0, played(1))
    with pytest.raises(StoreError, match="'C' had not entered"):
        store.record(cup, [late])
    store.open_epoch(cup, 2, b"other", "c1", config={"pairs": 20})
    key = replace(late.key, epoch=2)
    assert store.record(cup, [result(key, 0, played(1))]) == 1
    assert [(epoch.number, epoch.participants, epoch.config) for epoch in store.epochs(cup)] == [
        (1, ("A", "B"), {"pairs": 10}),
        (2, ("A", "B", "C"), {"pairs": 20}),
    ]


def test_tournaments_of_one_store_do_not_touch_each_other(store: Store) -> None:
    cup, league = created(store), created(store, "league")
    store.record(cup, schedule(5))
    assert store.record(league, schedule(3, seed=9)) == 3
    assert [one.record for one in store.results(cup)] == [one.record for one in schedule(5)]
    assert [one.record for one in store.results(league)] == [one.record for one in schedule(3, seed=9)]


def test_matches_are_read_in_schedule_order_whoever_came_first(store: Store) -> None:
    cup = created(store)
    results = schedule(40)
    shuffled = random.Random(1).sample(results, 40)
    for start in range(0, 40, 7):
        store.record(cup, shuffled[start : start + 7])
    assert [one.key for one in store.summaries(cup)] == [one.key for one in results]


def test_a_match_that_is_not_stored_is_named(store: Store) -> None:
    cup = created(store)
    with pytest.raises(UsageError, match=r"'cup' holds no match A - B \(epoch 1, leg 0, number 99\)"):
        store.result(cup, MatchKey(1, ("A", "B"), 0, 99))


def test_a_stream_sees_the_store_as_it_was_and_does_not_hold_up_the_writer(store: Store) -> None:
    cup = created(store)
    results = schedule(20)
    store.record(cup, results[:10])
    stream = store.summaries(cup)
    seen = [next(stream).key]
    assert store.record(cup, results[10:]) == 10
    seen += [summary.key for summary in stream]
    assert seen == [one.key for one in results[:10]]


# --- keys ---------------------------------------------------------------------------------------------------


def test_the_keys_and_places_of_all_stored_matches_are_known(store: Store) -> None:
    cup = created(store)
    results = schedule(50)
    store.record(cup, results[::3])
    assert list(store.keys(cup)) == [one.key for one in results[::3]]
    assert store.stored(cup).missing(1, range(60)) == [place for place in range(60) if place % 3 or place >= 50]


PLACES = st.tuples(st.integers(0, 2), st.integers(0, 300))


@given(st.lists(PLACES), st.integers(0, 3), st.integers(0, 310), st.integers(0, 40))
def test_what_is_missing_is_what_is_not_stored(
    places: list[tuple[int, int]], epoch: int, start: int, length: int
) -> None:
    stored = StoredPlaces(places)
    positions = range(start, start + length)
    assert stored.missing(epoch, positions) == [each for each in positions if (epoch, each) not in places]
    assert len(stored) == len(set(places))


# --- faults and voids -----------------------------------------------------------------------------------------


def test_every_fault_is_kept_with_its_evidence(store: Store) -> None:
    cup = created(store)
    results = schedule(40)
    store.record(cup, results)
    expected = [
        (one.key, one.seats[fault.seat], fault.seat, fault.deal, fault.decision, fault.fault, fault.loss, text)
        for one in results
        for fault, text in zip(one.record.faults, one.record.testimony.evidence, strict=True)
    ]
    found = [
        (
            fault.key,
            fault.participant,
            fault.seat,
            fault.deal,
            fault.decision,
            fault.fault,
            fault.loss,
            fault.evidence,
        )
        for fault in store.faults(cup)
    ]
    assert found == expected
    assert len(found) > 10
    assert found[0][-1].endswith(NASTY)


def test_void_attempts_are_counted_on_over_restarts(path: Where) -> None:
    key, other = (one.key for one in schedule(2))
    with open_store(path) as store:
        cup = created(store)
        assert store.record_void(cup, key, f"Traceback: {NASTY}") == 1
        assert store.record_void(cup, other, "x") == 1
    with open_store(path) as store:
        assert store.record_void(cup, key, "again") == 2
        assert [(void.key, void.attempt, void.text) for void in store.voids(cup)] == [
            (key, 1, f"Traceback: {NASTY}"),
            (other, 1, "x"),
            (key, 2, "again"),
        ]
        assert len(store.stored(cup)) == 0
        assert store.verify_seals(cup) is None


def test_what_arenas_say_of_themselves_is_kept_and_added_up(path: Where) -> None:
    with open_store(path) as store:
        cup = created(store)
        store.add_session(cup, SESSION)
    with open_store(path) as store:
        store.add_session(cup, replace(SESSION, jobs=1, lag=Lag(Histogram({0: 1}), 7000, 10, 40, 20)))
        sessions = store.sessions(cup)
    assert [session.jobs for session in sessions] == [SESSION.jobs, 1]
    assert sessions[0] == SESSION
    assert sessions[0].lag.waiting is None
    both = sessions[0].lag + sessions[1].lag
    assert both == Lag(Histogram({0: 4, 60: 1}), max_us=7000, paused_us=15, busy_us=40, waited_us=20)
    assert (both.waiting, both.max_ms, both.median_ms) == (0.5, 7.0, 0.001)


def test_a_match_that_stays_void_is_shown_and_takes_its_place_but_costs_nobody(store: Store) -> None:
    cup = created(store)
    first, second, third = schedule(3)
    spoilt = result(second.key, 1, void(second.record))
    store.record(cup, [first, spoilt, third])
    assert store.counts(cup)[Status.VOID] == 1
    assert second.key in store.keys(cup)
    assert store.chain_head(cup).length == 3
    assert sum(store.lost_bummerls().values()) == 2
    assert store.match_record(cup, second.key).status is Status.VOID


# --- careers --------------------------------------------------------------------------------------------------


def test_lost_bummerls_count_rated_matches_over_all_versions(store: Store) -> None:
    expected: dict[tuple[str, str], int] = {}
    for name, version, rated in (("one", "1", True), ("two", "2", True), ("rehearsal", "3", False)):
        entered = [*bots("AB", version=version), *bots("C", version=version, author="bob")]
        cup = store.create_tournament(name, {}, RULES.options(), entered, rated, CREATED)
        store.open_epoch(cup, 1, SECRET, COMMITMENT)
        results = schedule(30, seed=int(version))
        store.record(cup, results)
        for one in results if rated else ():
            loser = one.seats[one.record.ranks.index(2)]
            career = ("bob" if loser == "C" else "ann", loser)
            expected[career] = expected.get(career, 0) + 1
    assert store.lost_bummerls() == expected
    assert sum(expected.values()) == 60


def test_bots_of_one_name_and_two_authors_have_two_careers(store: Store) -> None:
    for name, author in (("one", "ann"), ("two", "bob")):
        cup = store.create_tournament(name, {}, RULES.options(), bots("AB", author=author), True, CREATED)
        store.open_epoch(cup, 1, SECRET, COMMITMENT)
        store.record(cup, [result(MatchKey(1, ("A", "B"), 0, 0), 0, played(0))])
    loser = "AB"[played(0).ranks.index(2)]
    assert store.lost_bummerls() == {("ann", loser): 1, ("bob", loser): 1}


def test_everybody_behind_the_first_has_lost_and_nobody_where_the_first_rank_is_shared(store: Store) -> None:
    cup = created(store, rules=THREE)
    record = played(0, THREE)
    ranked = [replace(record, ranks=ranks) for ranks in ((2, 1, 3), (1, 1, 1), (1, 1, 3))]
    pairing = ("A", "B", "C")
    store.record(cup, [result(MatchKey(1, pairing, 0, n), n, one, rules=THREE) for n, one in enumerate(ranked)])
    assert store.lost_bummerls() == {("ann", "A"): 1, ("ann", "C"): 2}


def test_who_plays_both_seats_of_a_side_loses_one_bummerl(store: Store) -> None:
    rules = PRESETS["four-handed"]
    cup = created(store, rules=rules)
    record = replace(played(0, rules), ranks=(2, 1))
    seats = ("A", "B", "A", "B")
    store.record(cup, [result(MatchKey(1, ("A", "B"), 0, 0), 0, record, rules=rules, seats=seats)])
    assert store.lost_bummerls() == {("ann", "A"): 1}


# --- tournaments and epochs -------------------------------------------------------------------------------------


def test_a_tournament_comes_back_with_its_facts(store: Store) -> None:
    config = {"pairs": 10, "bots": ["A"], "täxt": None}
    cup = store.create_tournament(
        "cup", config, RULES.options(), bots("BA"), False, CREATED, about={"title": "Cup", "jobs": 2}
    )
    assert store.tournament("cup") == cup
    assert (cup.name, cup.config, cup.rules, cup.rated) == ("cup", config, RULES.options(), False)
    assert (cup.about, cup.created, cup.state) == (
        {"title": "Cup", "jobs": 2},
        "2026-05-01T12:00:00+00:00",
        State.CREATED,
    )
    assert store.participants(cup) == tuple(bots("BA"))
    assert store.epochs(cup) == ()


def test_last_is_the_tournament_created_last(store: Store) -> None:
    created(store, "zebra")
    created(store, "ape")
    assert store.tournament("last").name == "ape"


def test_a_play_is_the_newest_but_last_only_where_there_is_no_tournament(store: Store) -> None:
    def play(name: str) -> None:
        store.create_tournament(name, CONFIG, RULES.options(), bots("AB"), False, CREATED, about={"play": True})

    with pytest.raises(UsageError, match="no match yet"):
        store.newest()
    play("play-1")
    assert store.tournament("last").name == store.newest().name == "play-1"
    created(store, "cup")
    play("play-2")
    assert (store.tournament("last").name, store.newest().name) == ("cup", "play-2")


def test_the_list_of_tournaments_counts_their_matches(store: Store) -> None:
    cup = created(store)
    created(store, "empty", "AB")
    results = [*schedule(4), result(schedule(5)[4].key, 4, void(played(0)))]
    store.record(cup, results)
    (first, second) = store.tournaments()
    assert (first.tournament, first.participants) == (cup, 3)
    assert sum(first.matches.values()) == 5
    assert first.matches == store.counts(cup)
    assert first.matches[Status.VOID] == 1
    assert (second.tournament.name, second.participants, second.matches) == ("empty", 2, {})


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("cup", "'cup' exists since 2026-05-01.*resume it, or choose another name"),
        ("last", "cannot be named 'last'"),
        ("", "cannot be named ''"),
        ("a\nb", "cannot be named"),
    ],
)
def test_a_name_that_is_taken_or_impossible_is_refused(store: Store, name: str, sentence: str) -> None:
    created(store)
    with pytest.raises(UsageError, match=sentence):
        created(store, name)
    assert len(store.tournaments()) == 1


def test_an_unknown_tournament_gives_the_nearest_name(store: Store) -> None:
    with pytest.raises(UsageError, match="holds no tournament yet"):
        store.tournament("last")
    created(store, "spring-cup")
    with pytest.raises(UsageError, match="no tournament 'sprung-cup'; did you mean 'spring-cup'"):
        store.tournament("sprung-cup")
    with pytest.raises(UsageError, match="the last one is 'spring-cup'"):
        store.tournament("x")


def test_a_participant_needs_a_name_of_its_own(store: Store) -> None:
    with pytest.raises(UsageError, match="the name 'A' is taken"):
        created(store, names="ABA")
    assert store.tournaments() == ()
    cup = created(store)
    with pytest.raises(UsageError, match="the name 'B' is taken"):
        store.add_participants(cup, bots("DB"))
    assert [participant.name for participant in store.participants(cup)] == ["A", "B", "C"]


def test_a_participant_cannot_hold_what_disturbs_a_terminal(store: Store) -> None:
    with pytest.raises(UsageError, match=r"the version '1\\x1b' of a participant"):
        store.create_tournament("cup", {}, {}, [Participant("A", "1\x1b", "", "file", "")], True, CREATED)


def test_an_epoch_is_opened_once_and_a_secret_deals_once(store: Store) -> None:
    cup = created(store)
    with pytest.raises(StoreError, match="epoch 1 of 'cup' is open already"):
        store.open_epoch(cup, 1, b"other", "c1")
    with pytest.raises(UsageError, match="has the secret of epoch 1"):
        store.open_epoch(cup, 2, SECRET, "c1")
    with pytest.raises(UsageError, match="has the secret of epoch 1"):
        store.open_epoch(cup, 2, b"other", COMMITMENT)
    assert [epoch.number for epoch in store.epochs(cup)] == [1]


def everything_readable(queries: Queries) -> str:
    """All that the questions of a reader answer, as text."""
    cup = queries.tournament("cup")
    answers = [
        queries.tournaments(),
        queries.participants(cup),
        queries.epochs(cup),
        queries.counts(cup),
        list(queries.keys(cup)),
        list(queries.summaries(cup)),
        list(queries.results(cup)),
        list(queries.faults(cup)),
        queries.voids(cup),
        queries.sessions(cup),
        queries.lost_bummerls(),
        queries.chain_head(cup),
        queries.verify_plays(cup),
        queries.verify_seals(cup),
        repr(queries.__dict__),
    ]
    return repr(answers)


def test_no_reader_sees_a_secret_before_it_is_revealed(store: Store, path: Where) -> None:
    cup = created(store)
    store.record(cup, schedule(5))
    with open_queries(path) as queries:
        before = everything_readable(queries)
        assert not hasattr(queries, "secret_of")
        assert store.secret_of(cup, 1) == SECRET
        store.reveal(cup, 1)
        after = everything_readable(queries)
    assert repr(SECRET) not in before
    assert SECRET.hex() not in before
    assert repr(SECRET) in after
    assert store.epochs(cup)[0].revealed


def test_a_revealed_secret_deals_no_more(store: Store) -> None:
    cup = created(store)
    results = schedule(3)
    store.record(cup, results[:2])
    store.reveal(cup, 1)
    with pytest.raises(StoreError, match="after the secret of its epoch was revealed"):
        store.record(cup, results)
    assert store.record(cup, results[:2]) == 0
    store.reveal(cup, 1)


def test_an_epoch_that_was_never_opened_has_no_secret(store: Store) -> None:
    cup = created(store)
    for ask in (store.secret_of, store.reveal):
        with pytest.raises(StoreError, match="'cup' has no epoch 7"):
            ask(cup, 7)


def test_a_tournament_of_another_store_is_refused(store: Store, tmp_path: Where) -> None:
    cup = created(store)
    with open_store(tmp_path / "other.db") as other, pytest.raises(StoreError, match="no tournament number 1"):
        other.record(cup, schedule(1))


def test_a_running_tournament_that_nobody_holds_was_interrupted(store: Store) -> None:
    cup = created(store)
    with store.lock(cup):
        store.set_state(cup, State.RUNNING)
        assert store.tournament("cup").state is State.RUNNING
        assert store.tournaments()[0].tournament.state is State.RUNNING
    assert store.tournament("cup").state is State.INTERRUPTED
    store.set_state(cup, State.FINISHED)
    assert store.tournament("cup").state is State.FINISHED


def test_a_row_that_cannot_be_read_back_is_a_sentence(store: Store, path: Where) -> None:
    cup = created(store)
    store.record(cup, schedule(1))
    change(path, "UPDATE matches SET summary = '{', play = '[]', status = 'lost'")
    for ask in (
        lambda: list(store.summaries(cup)),
        lambda: list(store.results(cup)),
        lambda: store.counts(cup),
    ):
        with pytest.raises(UsageError, match="a match in the store is damaged"):
            ask()
