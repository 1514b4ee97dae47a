// The policy of the sample bot greedy (its README has it as numbered rules): take what can be had now.

import { Action } from '../build/types/arena/sixtysix/v1/Action.js';
import type { Action__Output } from '../build/types/arena/sixtysix/v1/Action.js';
import type { Decision__Output as Decision } from '../build/types/arena/sixtysix/v1/Decision.js';
import type { MatchStarted__Output as MatchStarted } from '../build/types/arena/sixtysix/v1/MatchStarted.js';
import type { Rules__Output as Rules } from '../build/types/arena/sixtysix/v1/Rules.js';
import { Suit } from '../build/types/arena/sixtysix/v1/Suit.js';

/** What the bot remembers of a match. */
export interface Match {
  rules: Rules;
  started: MatchStarted;
}

/** A card's number in the proto: suit by suit, in each 7 8 9 J Q K T A.  An action to play it has the same number. */
type Card = number;

const SUITS = [Suit.SUIT_SPADES, Suit.SUIT_HEARTS, Suit.SUIT_DIAMONDS, Suit.SUIT_CLUBS];
const POINTS = [0, 0, 0, 2, 3, 4, 10, 11];

export function choose(match: Match, decision: Decision): Action__Output {
  return choice(match, decision) as Action__Output;
}

function choice({ rules, started }: Match, decision: Decision): number {
  const can = (action: number) => decision.legal.includes(action as Action__Output);
  const mine = decision.points[started.sideOfSeat[decision.seat]];
  if (can(Action.ACTION_CLAIM) && mine >= rules.target) return Action.ACTION_CLAIM;
  if (can(Action.ACTION_EXCHANGE)) return Action.ACTION_EXCHANGE;
  // The royal marriage counts 40, any other 20.
  const marriage = [decision.trump, ...SUITS].find((suit) => suit !== Suit.SUIT_UNSPECIFIED && can(declare(suit)));
  if (marriage !== undefined) return declare(marriage);
  if (can(Action.ACTION_GO_ON)) return Action.ACTION_GO_ON;
  return decision.table.length > 0 ? follow(decision) : lead(decision, isStrict(rules, decision));
}

/** In open play anybody can ruff, so nothing of worth is led; in strict play the others have to follow suit. */
function lead(decision: Decision, strict: boolean): Card {
  return strict ? highest(plays(decision), (card) => points(card) * 100 + card) : cheapest(decision);
}

/** Take the trick high in its suit; ruff it low if an ace or a ten is in it; else throw away what costs least. */
function follow(decision: Decision): Card {
  const table: Card[] = decision.table;
  const trump = decision.trump;
  const best = table.reduce((best, card) => (beats(card, best, trump) ? card : best));
  const worth = table.reduce((sum, card) => sum + points(card), 0);
  const takers = plays(decision).filter((card) => beats(card, best, trump));
  const inSuit = takers.filter((card) => suit(card) === suit(table[0]));
  if (inSuit.length > 0) return Math.max(...inSuit);
  if (takers.length > 0 && worth >= 10) return Math.min(...takers);
  return cheapest(decision);
}

/** Plain cards before trumps, then fewer points, then the lower number. */
function cheapest(decision: Decision): Card {
  const cost = (card: Card) => Number(suit(card) === decision.trump) * 10_000 + points(card) * 100 + card;
  return highest(plays(decision), (card) => -cost(card));
}

/** Strict play: somebody has closed, or fewer cards are left in the talon than seats play the deal. */
function isStrict(rules: Rules, decision: Decision): boolean {
  const seats = rules.seating === 'dealer_out' ? rules.seats - 1 : rules.seats;
  return decision.closing !== null || decision.talon < seats;
}

/** Whether a card takes a trick that `best` holds so far. */
function beats(card: Card, best: Card, trump: number): boolean {
  return suit(card) === suit(best) ? card > best : suit(card) === trump;
}

/** The cards that may be played now. */
function plays(decision: Decision): Card[] {
  return decision.legal.filter((action) => action <= Action.ACTION_PLAY_AC);
}

function declare(suit: number): number {
  return Action.ACTION_DECLARE_SPADES + suit - Suit.SUIT_SPADES;
}

function suit(card: Card): number {
  return Suit.SUIT_SPADES + Math.floor((card - 1) / 8);
}

function points(card: Card): number {
  return POINTS[(card - 1) % 8];
}

/** The card of the highest value. */
function highest(cards: Card[], value: (card: Card) => number): Card {
  return cards.reduce((best, card) => (value(card) > value(best) ? card : best));
}
