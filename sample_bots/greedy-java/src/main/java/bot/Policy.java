package bot;

import static arena.sixtysix.v1.Action.*;
import static java.util.Comparator.comparing;
import static java.util.Comparator.naturalOrder;

import arena.sixtysix.v1.Card;
import arena.sixtysix.v1.Decision;
import arena.sixtysix.v1.Suit;
import java.util.Comparator;
import java.util.List;

/**
 * What the bot does; {@link Main} is how it is asked. It takes what it can get now and never thinks of the next trick.
 * The rules are those of the sample bot {@code greedy}; actions, cards and suits are numbers of the proto.
 */
final class Policy {
    /** By rank: 7 8 9 J Q K T A. */
    private static final int[] POINTS = {0, 0, 0, 2, 3, 4, 10, 11};

    private Policy() {}

    /** One of the decision's legal actions. */
    static int choose(Match match, Decision decision) {
        List<Integer> legal = decision.getLegalValueList();
        int trump = decision.getTrumpValue();
        int side = match.sideOfSeat().get(decision.getSeat());
        if (legal.contains(ACTION_CLAIM_VALUE) && decision.getPoints(side) >= match.rules().getTarget()) {
            return ACTION_CLAIM_VALUE;
        }
        if (legal.contains(ACTION_EXCHANGE_VALUE)) {
            return ACTION_EXCHANGE_VALUE;
        }
        List<Integer> marriages = legal.stream()
                .filter(action -> action >= ACTION_DECLARE_SPADES_VALUE && action <= ACTION_DECLARE_CLUBS_VALUE)
                .toList();
        if (!marriages.isEmpty()) { // the royal marriage counts 40, any other 20
            int royal = ACTION_DECLARE_SPADES_VALUE + trump - Suit.SUIT_SPADES_VALUE;
            return marriages.contains(royal) ? royal : marriages.get(0);
        }
        if (legal.contains(ACTION_GO_ON_VALUE)) {
            return ACTION_GO_ON_VALUE;
        }
        List<Integer> plays = legal.stream().filter(action -> action <= ACTION_PLAY_AC_VALUE).toList();
        List<Integer> table = decision.getTableValueList();
        return table.isEmpty()
                ? lead(plays, trump, mustFollowStrictly(match, decision))
                : follow(plays, table, trump);
    }

    /** In open play anybody can ruff, so nothing of worth is led; in strict play the others have to follow suit. */
    private static int lead(List<Integer> plays, int trump, boolean strict) {
        return strict
                ? plays.stream().max(comparing(Policy::points).thenComparing(naturalOrder())).orElseThrow()
                : cheapest(plays, trump);
    }

    /** Take the trick high in its suit; ruff it low if an ace or a ten is in it; else throw away what costs least. */
    private static int follow(List<Integer> plays, List<Integer> table, int trump) {
        int best = table.get(0);
        for (int card : table) {
            best = beats(card, best, trump) ? card : best;
        }
        int toBeat = best;
        List<Integer> takers = plays.stream().filter(card -> beats(card, toBeat, trump)).toList();
        List<Integer> inSuit = takers.stream().filter(card -> suit(card) == suit(table.get(0))).toList();
        if (!inSuit.isEmpty()) {
            return inSuit.stream().max(naturalOrder()).orElseThrow();
        }
        if (!takers.isEmpty() && table.stream().mapToInt(Policy::points).sum() >= 10) {
            return takers.stream().min(naturalOrder()).orElseThrow();
        }
        return cheapest(plays, trump);
    }

    /** Plain cards before trumps, then fewer points, then the lower number: every choice has one answer. */
    private static int cheapest(List<Integer> plays, int trump) {
        Comparator<Integer> cost = comparing((Integer card) -> suit(card) == trump)
                .thenComparing(Policy::points)
                .thenComparing(naturalOrder());
        return plays.stream().min(cost).orElseThrow();
    }

    /** Strict play: the talon is closed, or holds fewer cards than seats play the deal. */
    private static boolean mustFollowStrictly(Match match, Decision decision) {
        int sittingOut = match.rules().getSeating().equals("dealer_out") ? 1 : 0;
        return decision.hasClosing() || decision.getTalon() < match.rules().getSeats() - sittingOut;
    }

    private static boolean beats(int card, int best, int trump) {
        return suit(card) == suit(best) ? card > best : suit(card) == trump;
    }

    private static int suit(int card) {
        return Suit.SUIT_SPADES_VALUE + (card - Card.CARD_7S_VALUE) / 8;
    }

    private static int points(int card) {
        return POINTS[(card - Card.CARD_7S_VALUE) % 8];
    }
}
