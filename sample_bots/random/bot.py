"""Any legal card, marriage or exchange, and a claim when it is right: the least that a bot can do."""

from arena.bot import CLAIM, CLOSE, Action, View, serve


def choose(view: View) -> Action:
    if view.sure_of_claim and view.can(CLAIM):
        return CLAIM
    # A wrong claim loses the deal, and so, mostly, does a talon closed without a plan.
    actions = [action for action in view.legal if action not in (CLAIM, CLOSE)]
    # `view.rng` and no other randomness: with it a tournament can be repeated move by move.
    return view.rng.choice(actions)


if __name__ == "__main__":
    serve(choose, name="random", waives_before_draw=True)
