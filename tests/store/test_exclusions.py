"""The log of who is out: what it leaves out is in the store, and in no count, table, career or chain."""

from __future__ import annotations

from collections import Counter

from arena.match.absence import Change, Exclusion, Place
from arena.match.record import Status
from arena.match.summary import MatchKey
from arena.store import MatchResult, Store, Tournament
from tests.store.samples import created, played, result, schedule, void

FIRST = 10
"""The position from which on C is out."""
QUARANTINED = Exclusion("C", Change.QUARANTINED, "3 matches forfeited in a row", Place(1, FIRST))


def left_out(results: list[MatchResult]) -> list[MatchResult]:
    return [one for one in results if "C" in one.key.pairing and one.position >= FIRST]


def those_that_count(results: list[MatchResult]) -> list[MatchResult]:
    gone = left_out(results)
    return [one for one in results if one not in gone]


def answers(store: Store, cup: Tournament) -> tuple[object, ...]:
    """Whatever reports are made of, but for the chain."""
    (tally,) = [tally for tally in store.tournaments() if tally.tournament.id == cup.id]
    return (store.counts(cup), list(store.summaries(cup)), list(store.faults(cup)), tally.matches)


def test_what_is_left_out_is_stored_and_nowhere_else(store: Store) -> None:
    results = schedule(60)
    cup, same = created(store, "cup"), created(store, "same")
    store.record(cup, results, [QUARANTINED])
    store.record(same, those_that_count(results))
    assert answers(store, cup) == answers(store, same)
    assert 0 < len(left_out(results)) == len(store.stored(cup)) - len(store.stored(same))
    assert [one.key for one in store.results(cup)] == [one.key for one in results]


def test_news_of_news_are_all_that_counts(store: Store) -> None:
    results = schedule(60)
    cup = created(store, "cup")
    row, total = 0, Counter[Status]()
    for start in range(0, 60, 15):
        store.record(cup, results[start : start + 15], [QUARANTINED] if start == 0 else [])
        news = store.news(cup, row)
        assert news.row > row
        row = news.row
        total.update(news.counts)
    assert total == store.counts(cup) == store.news(cup).counts
    assert store.news(cup, row).counts == {} and store.news(cup, row).row == row


def test_what_is_left_out_counts_in_no_career(store: Store) -> None:
    results = schedule(60)
    store.record(created(store, "cup"), results, [QUARANTINED])
    once = store.lost_bummerls()
    store.record(created(store, "same"), those_that_count(results))
    assert store.lost_bummerls() == {career: 2 * lost for career, lost in once.items()}


def test_the_chain_passes_over_what_is_left_out_whether_it_is_there_or_not(store: Store) -> None:
    results = schedule(60)
    ahead, straight = created(store, "ahead"), created(store, "straight")
    store.record(ahead, results, [QUARANTINED])
    store.record(straight, those_that_count(results), [QUARANTINED])
    planned = [one.position for one in those_that_count(results)]
    head = store.chain_head(ahead, lambda epoch: planned)
    assert head == store.chain_head(straight, lambda epoch: planned)
    assert head.length == len(planned)
    assert store.chain_head(straight).length < len(planned) < store.chain_head(ahead).length
    assert store.chain_head(straight, lambda epoch: [*planned[:5], 10_000, *planned[5:]]).length == 5


def test_who_is_included_again_counts_again(store: Store) -> None:
    results = schedule(60)
    cup, same = created(store, "cup"), created(store, "same")
    store.record(cup, results, [QUARANTINED])
    store.log_exclusion(cup, Exclusion("C", Change.INCLUDED, "", QUARANTINED.place))
    store.record(same, results)
    assert answers(store, cup) == answers(store, same)
    assert [entry.change for entry in store.absences(cup).log] == [Change.QUARANTINED, Change.INCLUDED]
    assert all(entry.created for entry in store.absences(cup).log)


def test_a_commit_that_was_never_heard_of_quarantines_nobody_twice(store: Store) -> None:
    cup = created(store)
    for _ in range(2):
        store.record(cup, schedule(20), [QUARANTINED])
    assert len(store.absences(cup).log) == 1
    assert store.verify_seals(cup) is None


def test_what_one_tournament_leaves_out_another_keeps(store: Store) -> None:
    cup, other = created(store, "cup", "Cc"), created(store, "other", "ABC")
    store.record(other, schedule(20))
    results = [
        result(MatchKey(1, ("C", "c"), leg, number), 2 * number + leg, played(number))
        for number in (0, 1)
        for leg in (0, 1)
    ]
    store.record(cup, results, [Exclusion("c", Change.QUARANTINED, "", Place(1, 3))])
    assert sum(store.counts(cup).values()) == 3
    assert sum(store.counts(other).values()) == 20


def test_who_lost_by_a_fault_of_its_own_is_told_of_every_match(store: Store) -> None:
    cup = created(store)
    first, second, *others = schedule(60)
    store.record(cup, [first, result(second.key, second.position, void(second.record)), *others])
    told = dict(store.forfeiters(cup))
    assert list(told) == list(store.keys(cup))
    assert told[second.key] is None
    assert sum(each is None for each in told.values()) == store.counts(cup)[Status.VOID] == 1
    for one in (first, *others):
        forfeited = one.summary.forfeited_by
        losers = () if forfeited is None else one.summary.sides[forfeited].participants
        assert tuple(told[one.key] or ()) == losers
