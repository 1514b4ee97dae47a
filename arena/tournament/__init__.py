"""The tournament room: what is asked for, who meets whom on which decks, and what the results add up to.

Every function here is pure but the reading of a config; siblings (bots, ratings, store) are never imported.
"""
