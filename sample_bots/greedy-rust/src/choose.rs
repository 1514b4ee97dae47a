//! The policy of the sample bot `greedy` (its README has it as numbered rules): take what can be had now.

use crate::Match;
use crate::proto::{Action, Decision, Rules, Suit};

/// A card's number in the proto: suit by suit, in each 7 8 9 J Q K T A.  An action to play it has the same number.
type Card = i32;

pub fn choose(game: &Match, decision: &Decision) -> Action {
    let side = game.started.side_of_seat[decision.seat as usize];
    if can(decision, Action::Claim) && decision.points[side as usize] >= game.rules.target {
        return Action::Claim;
    }
    if can(decision, Action::Exchange) {
        return Action::Exchange;
    }
    // The royal marriage counts 40, any other 20.
    let suits = [decision.trump(), Suit::Spades, Suit::Hearts, Suit::Diamonds, Suit::Clubs];
    if let Some(marriage) = suits.into_iter().filter_map(declare).find(|&action| can(decision, action)) {
        return marriage;
    }
    if can(decision, Action::GoOn) {
        return Action::GoOn;
    }
    let card = match decision.table.first() {
        Some(&led) => follow(decision, led),
        None => lead(decision, is_strict(&game.rules, decision)),
    };
    Action::try_from(card).expect("the card is one of those that may be played")
}

/// In open play anybody can ruff, so nothing of worth is led; in strict play the others have to follow suit.
fn lead(decision: &Decision, strict: bool) -> Card {
    if !strict {
        return cheapest(decision);
    }
    plays(decision).max_by_key(|&card| (points(card), card)).expect("a leader has a card")
}

/// Take the trick high in its suit; ruff it low if an ace or a ten is in it; else throw away what costs least.
fn follow(decision: &Decision, led: Card) -> Card {
    let trump = decision.trump;
    let best = decision.table.iter().fold(led, |best, &card| if beats(card, best, trump) { card } else { best });
    let worth: u32 = decision.table.iter().map(|&card| points(card)).sum();
    let takers = || plays(decision).filter(|&card| beats(card, best, trump));
    if let Some(highest) = takers().filter(|&card| suit(card) == suit(led)).max() {
        return highest;
    }
    match takers().min() {
        Some(lowest) if worth >= 10 => lowest,
        _ => cheapest(decision),
    }
}

/// Plain cards before trumps, then fewer points, then the lower number.
fn cheapest(decision: &Decision) -> Card {
    plays(decision)
        .min_by_key(|&card| (suit(card) == decision.trump, points(card), card))
        .expect("a card can be played, if nothing else can be done")
}

/// Strict play: somebody has closed, or fewer cards are left in the talon than seats play the deal.
fn is_strict(rules: &Rules, decision: &Decision) -> bool {
    let seats = if rules.seating == "dealer_out" { rules.seats - 1 } else { rules.seats };
    decision.closing.is_some() || decision.talon < seats
}

/// Whether a card takes a trick that `best` holds so far.
fn beats(card: Card, best: Card, trump: i32) -> bool {
    if suit(card) == suit(best) { card > best } else { suit(card) == trump }
}

fn can(decision: &Decision, action: Action) -> bool {
    decision.legal.contains(&action.into())
}

/// The cards that may be played now.
fn plays(decision: &Decision) -> impl Iterator<Item = Card> {
    decision.legal.iter().copied().filter(|&action| action <= Action::PlayAc.into())
}

fn declare(suit: Suit) -> Option<Action> {
    match suit {
        Suit::Unspecified => None, // while there is no trump
        Suit::Spades => Some(Action::DeclareSpades),
        Suit::Hearts => Some(Action::DeclareHearts),
        Suit::Diamonds => Some(Action::DeclareDiamonds),
        Suit::Clubs => Some(Action::DeclareClubs),
    }
}

/// The number of a card's suit, as in `Suit`.
fn suit(card: Card) -> i32 {
    1 + (card - 1) / 8
}

fn points(card: Card) -> u32 {
    [0, 0, 0, 2, 3, 4, 10, 11][(card - 1) as usize % 8]
}
