"""What bots give away in endgames, judged for a sample of each one's deals, and kept in the store beside the run.

The sample is a pure function of the run and the bot: each deal has a ticket, and the lowest ones are drawn.  So the
table comes out the same in whatever order and however often interrupted, and a larger sample holds the smaller one.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from heapq import nsmallest
from itertools import groupby

from arena.app.data import Archive
from arena.app.judging import Work, game_of, judges
from arena.app.show import turnout
from arena.errors import UsageError
from arena.game.rules import Rules
from arena.match.endgame import VERSION, can_be_judged
from arena.match.record import Status
from arena.match.summary import MatchSummary
from arena.store import DealOf, Store, Tournament, open_store
from arena.store.queries import in_words
from arena.tournament import decks
from arena.tournament.standings import withdrawn

_AT_ONCE = 64
"""How many deals a process judges between two commits."""

Watch = Callable[[int, int], object]
"""Is told after each commit how many deals are analysed by now, and how many will be."""


@dataclass(frozen=True, slots=True)
class AnalyseOptions:
    """What the command line says."""

    deals: int
    """How many of each bot; never fewer than are analysed already."""
    bots: Sequence[str]
    """Only these; none: all."""
    jobs: int


def analyse(run: str, archive: Archive, options: AnalyseOptions, watch: Watch) -> str:
    """Judge what is still to be judged of the samples; returns the name of the run.

    Whenever it is stopped, what was committed stays, and the next call goes on.  Raises `UsageError`: no such run or
    bot, more than two seats that play a deal, a record that does not follow the rules.
    """
    with open_store(archive.store) as store:
        tournament = store.tournament(run)
        rules = Rules().with_options(tournament.rules)
        if not can_be_judged(rules):
            raise UsageError(
                f"{rules.active_seats} play each deal of {tournament.name!r}; endgames can be judged between two only"
            )
        known = store.analysed(tournament)
        sample = _sample(store, tournament, options, Counter(deal.participant for deal in known))
        drawn = [deal for deals in sample.values() for deal in deals]
        spare: defaultdict[str, list[DealOf]] = defaultdict(list)
        for deal in sorted(known.keys() - set(drawn)):
            if deal.participant in sample:
                spare[deal.participant].append(deal)
        missing = sorted(deal for deal in drawn if known.get(deal) != VERSION)
        done = len(drawn) - len(missing)
        watch(done, len(drawn))
        jobs = max(1, min(options.jobs, len(missing) // _AT_ONCE))  # a process takes a while to start
        with judges(jobs) as judged:
            for some in _batches(missing, _AT_ONCE * jobs):
                found = dict(zip(some, judged(_work(store, tournament, rules, some)), strict=True))
                # One for one, so that a bot's sample is as large as before wherever this is stopped.
                replaced = [spare[deal.participant].pop() for deal in some if spare[deal.participant]]
                store.add_endgames(tournament, found, replaced)
                done += len(some)
                watch(done, len(drawn))
        store.forget_endgames(tournament, [deal for deals in spare.values() for deal in deals])
        return tournament.name


# -- the sample -------------------------------------------------------------------------------------------------------


def _sample(
    store: Store, tournament: Tournament, options: AnalyseOptions, known: Mapping[str, int]
) -> Mapping[str, Sequence[DealOf]]:
    """The deals to be analysed of each bot, among all that count: at least as many as are known of it."""
    names = [participant.name for participant in store.participants(tournament)]
    for name in options.bots:
        if name not in names:
            near = get_close_matches(name, names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(sorted(names))}"
            raise UsageError(f"no bot of {tournament.name!r} is called {name!r}; {hint}")
    wanted = {name: max(options.deals, known.get(name, 0)) for name in options.bots or names}
    gone = withdrawn(*turnout(store, tournament, store.absences(tournament)))
    commitments = {epoch.number: epoch.commitment for epoch in store.epochs(tournament)}
    lowest: defaultdict[str, list[tuple[bytes, DealOf]]] = defaultdict(list)
    for match in store.summaries(tournament):
        if match.status is Status.VOID or not gone.isdisjoint(match.key.pairing):
            continue
        for name in wanted.keys() & match.key.pairing:
            some = lowest[name]
            some += _tickets(commitments[match.key.epoch], name, match)
            if len(some) > 4 * wanted[name]:  # few are held, however many there are
                lowest[name] = nsmallest(wanted[name], some)
    return {name: [deal for _, deal in nsmallest(count, lowest[name])] for name, count in sorted(wanted.items())}


def _tickets(commitment: str, name: str, match: MatchSummary) -> Iterator[tuple[bytes, DealOf]]:
    """A bot's deals of a match, each with its ticket."""
    key = match.key
    run = hashlib.sha256("\0".join([commitment, name, *key.pairing, str(key.leg), str(key.number), ""]).encode())
    for number in range(1, match.deals + 1):
        ticket = run.copy()
        ticket.update(str(number).encode())
        yield ticket.digest(), DealOf(name, key, number)


# -- the work ---------------------------------------------------------------------------------------------------------


def _work(store: Store, tournament: Tournament, rules: Rules, deals: Iterable[DealOf]) -> Iterator[Work]:
    """What is to be judged of each of these deals, in their order."""
    cards = game_of(rules).cards
    for key, of_match in groupby(deals, key=lambda deal: deal.key):
        result = store.result(tournament, key)
        secret = store.secret_of(tournament, key.epoch)
        list_id = decks.list_id(key.pairing, key.leg, key.number, result.mirrored)
        for deal in of_match:
            yield Work(
                rules=rules,
                match=in_words(key),
                number=deal.deal,
                deck=decks.deck(secret, list_id, deal.deal, cards),
                deal=result.record.deals[deal.deal - 1],
                seat=result.seats.index(deal.participant),
            )


def _batches(deals: Sequence[DealOf], size: int) -> Iterator[Sequence[DealOf]]:
    for start in range(0, len(deals), size):
        yield deals[start : start + size]
