"""The ratings room: what the evidence says about the participants, as pure functions of all of it.

The order in which games came in, and the order in which a game names its sides, never matter.  Nothing here
reads, writes or keeps anything; siblings (bots, tournament, store) are never imported.
"""
