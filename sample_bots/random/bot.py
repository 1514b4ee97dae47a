"""Any legal card, marriage or exchange, and a claim when it is right: the least that a bot can do."""

from arena.bot import CLAIM, CLOSE, Action, View, serve


def choose(view: View) -> Action:
    if view.sure_of_claim and view.can(CLAIM):
        return CLAIM
    # A wrong claim loses the deal, and a talon closed without a plan most likely does.
    actions = [action for action in view.legal if action not in (CLAIM, CLOSE)]
    # Draw from `view.rng` only: it makes the same choices when a tournament is played again with the same seed.
    return view.rng.choice(actions)


if __name__ == "__main__":
    # It always goes on before the draw, so that it need not be asked there.
    serve(choose, name="random", waives_before_draw=True)
