// Takes what it can get now and never thinks of the next trick.  The rules are those of the sample bot `greedy`.
#include "choose.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace {

using namespace sixtysix;
using Cards = std::vector<int>;  // by their numbers in the proto: within a suit a higher number is a higher rank

constexpr int kPoints[] = {0, 0, 0, 2, 3, 4, 10, 11};  // 7 8 9 J Q K T A

int suit(int card) { return SUIT_SPADES + (card - CARD_7S) / 8; }
int points(int card) { return kPoints[(card - CARD_7S) % 8]; }

bool beats(int card, int best, int trump) {
  return suit(card) == suit(best) ? card > best : suit(card) == trump;
}

// Plain cards before trumps, then fewer points, then the lower number: every choice has one answer.
int cheapest(const Cards& plays, int trump) {
  return std::ranges::min(plays, {}, [trump](int card) { return std::tuple(suit(card) == trump, points(card), card); });
}

// In open play anybody can ruff, so nothing of worth is led; in strict play the others have to follow suit.
int lead(const Cards& plays, int trump, bool strict) {
  if (!strict) return cheapest(plays, trump);
  return std::ranges::max(plays, {}, [](int card) { return std::pair(points(card), card); });
}

// Take the trick high in its suit; ruff it low if an ace or a ten is in it; else throw away what costs least.
int follow(const Cards& plays, const Cards& table, int trump) {
  int best = table.front();
  for (int card : table) {
    if (beats(card, best, trump)) best = card;
  }
  Cards takers, in_suit;
  for (int card : plays) {
    if (!beats(card, best, trump)) continue;
    takers.push_back(card);
    if (suit(card) == suit(table.front())) in_suit.push_back(card);
  }
  const int worth = std::accumulate(table.begin(), table.end(), 0, [](int sum, int card) { return sum + points(card); });
  if (!in_suit.empty()) return std::ranges::max(in_suit);
  if (!takers.empty() && worth >= 10) return std::ranges::min(takers);
  return cheapest(plays, trump);
}

}  // namespace

Action choose(const Match& match, const Decision& decision) {
  const Cards legal(decision.legal().begin(), decision.legal().end());
  const auto can = [&legal](int action) { return std::ranges::find(legal, action) != legal.end(); };

  const int side = match.side_of_seat.at(decision.seat());
  if (can(ACTION_CLAIM) && decision.points(side) >= match.rules.target()) return ACTION_CLAIM;
  if (can(ACTION_EXCHANGE)) return ACTION_EXCHANGE;

  // The royal marriage counts 40, any other 20.
  const int royal = ACTION_DECLARE_SPADES + (decision.trump() - SUIT_SPADES);
  if (decision.trump() != SUIT_UNSPECIFIED && can(royal)) return Action(royal);
  for (int action = ACTION_DECLARE_SPADES; action <= ACTION_DECLARE_CLUBS; ++action) {
    if (can(action)) return Action(action);
  }
  if (can(ACTION_GO_ON)) return ACTION_GO_ON;

  Cards plays;
  std::ranges::copy_if(legal, std::back_inserter(plays), [](int action) { return action <= ACTION_PLAY_AC; });
  if (!decision.table().empty()) {
    return Action(follow(plays, {decision.table().begin(), decision.table().end()}, decision.trump()));
  }
  const unsigned playing = match.rules.seats() - (match.rules.seating() == "dealer_out" ? 1 : 0);
  const bool strict = decision.has_closing() || decision.talon() < playing;
  return Action(lead(plays, decision.trump(), strict));
}
