"""Quitting, playing illegally or claiming wrongly never scores more than playing on: what the real referee rules, at
random moments, against exact values where the hands are open and against many ways to play on where they are not."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence

import pytest

from arena.cards import ACTIONS, CLAIM, Action
from arena.game.deal import Deal
from arena.game.game import Game
from arena.game.presets import PRESETS
from arena.game.rules import Claim, FalseClaim
from arena.game.scoring import Termination
from arena.game.solve import solve
from arena.match.clock import TimeControl
from arena.match.record import MatchRecord, replay
from arena.match.referee import Ask, DealEnded, FaultRuled, NoReply, Reply, referee
from arena.match.rulings import Fault
from arena.match.state import MAX_DEALS, MatchState
from tests.game.tables import GAMES, any_policy, choose, has_reached, mixed_rules, moments

TIME = TimeControl(limit_ms=1000, bank_ms=500)
BETWEEN_TWO = [name for name, rules in PRESETS.items() if rules.active_seats == 2]
CAN_CLAIM = [name for name, rules in PRESETS.items() if rules.claim in (Claim.OWN_TURN, Claim.AFTER_TRICK)]
ROLLOUTS = 200


def some_fault(legal: int, rng: random.Random) -> Reply | NoReply:
    """A wrong answer, a late one or none, or a bot that is gone for good."""
    illegal = rng.choice([0, 9999, -1, *(action for action in ACTIONS if action and not legal >> action & 1)])
    fault = rng.choice([fault for fault in Fault if fault is not Fault.ILLEGAL])
    answers: list[Reply | NoReply] = [
        Reply(illegal, 1.0),
        Reply(legal.bit_length() - 1, 2000.0),
        NoReply(fault, 1.0),
        NoReply(fault, 1.0, whole_match=True),
    ]
    return rng.choice(answers)


class Played:
    """A random match up to a fault at a random one of the wanted moments, and how the referee ruled on it."""

    def __init__(self, game: Game, rng: random.Random, wanted: Callable[[Deal], bool]) -> None:
        self.game = game
        self.rng = rng
        self.before: Deal | None = None
        """The deal in which the fault was committed, just before it; None if no moment was met."""
        self.ruled: FaultRuled | None = None
        self.points: tuple[int, ...] = ()
        """What the deal added to the score by side, the carry included."""
        self.decks = {number: rng.sample(game.cards, len(game.cards)) for number in range(1, MAX_DEALS + 1)}
        self._play(wanted)

    @property
    def offender(self) -> int:
        """The side of who failed."""
        assert self.ruled is not None
        return self.game.side_of[self.ruled.seat]

    def _play(self, wanted: Callable[[Deal], bool]) -> None:
        """Random play; at each wanted moment there is one chance in eight of the fault."""
        match = referee(self.game, self.decks.__getitem__, TIME)
        policy = any_policy(self.rng)
        request = next(match)
        try:
            while True:
                answer: Reply | NoReply | None = None
                if isinstance(request, Ask):
                    deal = self.deal_of(request)
                    if self.before is None and wanted(deal) and self.rng.random() < 1 / 8:
                        self.before = deal
                        answer = some_fault(request.view.legal, self.rng)
                    else:
                        answer = Reply(choose(deal, policy, self.rng), 1.0)
                elif isinstance(request, FaultRuled):
                    self.ruled = request
                elif isinstance(request, DealEnded) and self.before is not None and not self.points:
                    self.points = request.points
                request = match.send(answer)
        except StopIteration as end:
            self.record: MatchRecord = end.value

    def deal_of(self, ask: Ask) -> Deal:
        """The deal that the referee asks about."""
        view = ask.view
        deal = self.game.deal(self.decks[ask.deal], view.dealer, view.score, view.carry)
        for action in view.past_actions:
            deal.apply(action)
        return deal


def played(games: Iterable[Game], rng: random.Random, wanted: Callable[[Deal], bool], count: int) -> Iterator[Played]:
    """So many matches of each game in which a fault was committed."""
    for game in games:
        found = 0
        while found < count:
            match = Played(game, rng, wanted)
            if match.ruled is not None:
                found += 1
                yield match


def anywhere(deal: Deal) -> bool:
    return True


def with_open_hands(deal: Deal) -> bool:
    """Whether `solve` knows what the deal is worth."""
    return deal.strict and len(deal.order) == 2


def can_claim_wrongly(deal: Deal) -> bool:
    return bool(deal.legal_mask >> CLAIM & 1) and not has_reached(deal, deal.to_act)


def lead_over_the_best(points: Sequence[int], side: int) -> float:
    return points[side] - max(other for index, other in enumerate(points) if index != side)


def lead_over_the_mean(points: Sequence[int], side: int) -> float:
    return points[side] - (sum(points) - points[side]) / (len(points) - 1)


def exactly(match: Played) -> None:
    """The fault costs at least what best play loses; `solve` is exact, so this holds to the point."""
    deal = match.before
    assert deal is not None
    value = solve(deal).value
    best = value + (value > 0) * deal.carry - (value < 0) * deal.carry
    assert lead_over_the_best(match.points, match.offender) <= best, (deal.game.rules, deal.past_actions)


@pytest.mark.parametrize("name", BETWEEN_TWO)
def test_a_fault_costs_at_least_what_best_play_loses(name: str) -> None:
    for match in played([GAMES[name]], random.Random(name), with_open_hands, 80):
        exactly(match)


def test_a_fault_costs_at_least_what_best_play_loses_under_any_rules() -> None:
    rng = random.Random("mixed")
    mixed = [rules for rules in (mixed_rules(rng) for _ in range(80)) if rules.active_seats == 2]
    for match in played(map(Game, mixed), rng, with_open_hands, 4):
        exactly(match)


@pytest.mark.parametrize("name", PRESETS)
def test_a_fault_scores_no_more_than_playing_on_not_even_with_the_worst_luck(name: str) -> None:
    """Whatever the others do: who neither claims wrongly nor closes in vain loses no more by playing on."""
    for match in played([GAMES[name]], random.Random(name), anywhere, 8):
        assert match.before is not None
        ends = [played_on(match.before, match.rng) for _ in range(ROLLOUTS)]
        for lead in (lead_over_the_best, lead_over_the_mean):
            fault = lead(match.points, match.offender)
            assert fault <= max(lead(added(end), match.offender) for end in ends)
            for end in ends:
                assert fault <= lead(added(end), match.offender) or throws_away(end, match.before, match.offender)


@pytest.mark.parametrize("name", CAN_CLAIM)
def test_a_wrong_claim_scores_no_more_than_the_best_of_many_ways_to_play_on(name: str) -> None:
    for match in played([GAMES[name]], random.Random(name), can_claim_wrongly, 4):
        deal = match.before
        assert deal is not None
        claimed = deal.copy()
        claimed.apply(CLAIM)
        for lead in (lead_over_the_best, lead_over_the_mean):
            ends = [played_on(deal, match.rng) for _ in range(ROLLOUTS)]
            best = max(lead(added(end), match.offender) for end in ends)
            assert lead(added(claimed), match.offender) <= best


@pytest.mark.parametrize("name", [name for name in CAN_CLAIM if name in BETWEEN_TWO])
def test_a_wrong_claim_scores_no_more_than_best_play(name: str) -> None:
    """But for `flat2`, where the rule itself says 2: it may spare a point to one without a trick, and no more."""
    spared = int(PRESETS[name].false_claim is FalseClaim.FLAT_2)

    def wanted(deal: Deal) -> bool:
        return with_open_hands(deal) and can_claim_wrongly(deal)

    for match in played([GAMES[name]], random.Random(name), wanted, 30):
        assert match.before is not None
        values = dict(solve(match.before, all_actions=True).values)
        claim = values.pop(Action(CLAIM))
        assert claim <= max(values.values()) + spared


@pytest.mark.parametrize("name", PRESETS)
def test_who_loses_a_match_by_a_fault_is_last_alone_however_it_stood(name: str) -> None:
    lost = 0
    for match in played([GAMES[name]], random.Random(name), anywhere, 12):
        assert match.ruled is not None
        if match.ruled.match_lost:
            lost += 1
            last = match.game.table.sides
            assert match.record.forfeited_by == match.offender
            assert match.record.ranks[match.offender] == last
            assert match.record.ranks.count(last) == 1
        for _ in replay(match.game, match.decks.__getitem__, match.record):
            pass
    assert lost


def played_on(deal: Deal, rng: random.Random) -> Deal:
    """The deal played to its end, by a policy drawn at random."""
    end = deal.copy()
    for _ in moments(end, any_policy(rng), rng):
        pass
    return end


def added(deal: Deal) -> tuple[int, ...]:
    """What a finished deal adds to the score by side, as the match counts it."""
    assert deal.outcome is not None
    state = MatchState(deal.game.rules)
    state.carry = deal.carry
    return state.add(deal.outcome)


def throws_away(end: Deal, before: Deal, side: int) -> bool:
    """Whether the side has brought its loss on itself since: by a wrong claim, or by a close."""
    assert end.outcome is not None and end.outcome.seat is not None
    side_of = end.game.side_of
    closed = end.closer is not None and before.closer is None and side_of[end.closer] == side
    wrong = end.outcome.termination is Termination.FALSE_CLAIM and side_of[end.outcome.seat] == side
    return closed or wrong
