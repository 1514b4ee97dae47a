package main

import (
	"cmp"
	"slices"

	pb "greedy-go/arena/sixtysix/v1"
)

// choose is the policy of the sample bot greedy (its README has it as numbered rules): take what can be had now.
func choose(m *match, d *pb.Decision) pb.Action {
	side := m.started.SideOfSeat[d.Seat]
	switch {
	case can(d, pb.Action_ACTION_CLAIM) && d.Points[side] >= m.rules.Target:
		return pb.Action_ACTION_CLAIM
	case can(d, pb.Action_ACTION_EXCHANGE):
		return pb.Action_ACTION_EXCHANGE
	}
	if royal := declare(d.Trump); d.Trump != pb.Suit_SUIT_UNSPECIFIED && can(d, royal) {
		return royal // it counts 40, any other 20
	}
	for suit := pb.Suit_SUIT_SPADES; suit <= pb.Suit_SUIT_CLUBS; suit++ {
		if can(d, declare(suit)) {
			return declare(suit)
		}
	}
	if can(d, pb.Action_ACTION_GO_ON) {
		return pb.Action_ACTION_GO_ON
	}
	var card pb.Card
	if len(d.Table) == 0 {
		card = lead(d, strict(m.rules, d))
	} else {
		card = follow(d)
	}
	return pb.Action(card) // an action to play a card has the card's number
}

// lead: in open play anybody can ruff, so nothing of worth is led; in strict play the others have to follow suit.
func lead(d *pb.Decision, strict bool) pb.Card {
	if !strict {
		return cheapest(d)
	}
	return slices.MaxFunc(plays(d), func(a, b pb.Card) int {
		return cmp.Or(points(a)-points(b), cmp.Compare(a, b))
	})
}

// follow takes the trick high in its suit, ruffs it low if an ace or a ten is in it, or throws away what costs least.
func follow(d *pb.Decision) pb.Card {
	best := d.Table[0]
	worth := 0
	for _, card := range d.Table {
		worth += points(card)
		if beats(card, best, d.Trump) {
			best = card
		}
	}
	var inSuit, ruffs []pb.Card
	for _, card := range plays(d) {
		switch {
		case !beats(card, best, d.Trump):
		case suit(card) == suit(d.Table[0]):
			inSuit = append(inSuit, card)
		default:
			ruffs = append(ruffs, card)
		}
	}
	switch {
	case len(inSuit) > 0:
		return slices.Max(inSuit)
	case len(ruffs) > 0 && worth >= 10:
		return slices.Min(ruffs)
	}
	return cheapest(d)
}

// cheapest: plain cards before trumps, then fewer points, then the lower number.
func cheapest(d *pb.Decision) pb.Card {
	cost := func(card pb.Card) int {
		cost := points(card)
		if suit(card) == d.Trump {
			cost += 100
		}
		return cost
	}
	return slices.MinFunc(plays(d), func(a, b pb.Card) int {
		return cmp.Or(cost(a)-cost(b), cmp.Compare(a, b))
	})
}

// strict play: somebody has closed, or fewer cards are left in the talon than seats play the deal.
func strict(rules *pb.Rules, d *pb.Decision) bool {
	seats := rules.Seats
	if rules.Seating == "dealer_out" {
		seats--
	}
	return d.Closing != nil || d.Talon < seats
}

// beats tells whether a card takes a trick that best holds so far.
func beats(card, best pb.Card, trump pb.Suit) bool {
	if suit(card) == suit(best) {
		return card > best
	}
	return suit(card) == trump
}

func can(d *pb.Decision, action pb.Action) bool {
	return slices.Contains(d.Legal, action)
}

// plays is the cards that may be played now.
func plays(d *pb.Decision) []pb.Card {
	var cards []pb.Card
	for _, action := range d.Legal {
		if action <= pb.Action_ACTION_PLAY_AC {
			cards = append(cards, pb.Card(action))
		}
	}
	return cards
}

func declare(suit pb.Suit) pb.Action {
	return pb.Action_ACTION_DECLARE_SPADES + pb.Action(suit-pb.Suit_SUIT_SPADES)
}

// Cards are numbered from 1, suit by suit, in each 7 8 9 J Q K T A.
func suit(card pb.Card) pb.Suit {
	return pb.Suit_SUIT_SPADES + pb.Suit((card-1)/8)
}

func points(card pb.Card) int {
	return [...]int{0, 0, 0, 2, 3, 4, 10, 11}[(card-1)%8]
}
